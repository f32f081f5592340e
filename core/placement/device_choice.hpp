#pragma once
// What a front end that runs operations in place asks before it does: had a device better do this one?
#include <cstdint>
#include <span>

#include "core/block/record.hpp"
#include "core/location/tree.hpp"
#include "core/memory/space.hpp"
#include "core/operation/definition.hpp"

namespace tessera::placement {

/// Stands in a question for a block that does not exist yet.
class stand_in_block {
 public:
  /// A block of these extents, which must live until the question is answered, with its contents in `spaces`.
  block::record& describe(element_type type, const shape& extents, const block::space_set& spaces) {
    m_record.type = type;
    m_record.extents = &extents;
    m_record.bytes = static_cast<std::uint64_t>(extents.count()) * size_of(type);
    m_record.valid_spaces = spaces;
    return m_record;
  }

 private:
  block::record m_record;
};

/// One application of an operation that could be a task.
struct device_question {
  const operation::definition* operation = nullptr;
  const operation::definition* also = nullptr;  ///< if set: an operation that the device must have too
  const void* arguments = nullptr;
  std::span<const block::access> accesses;
  /// By access: where its contents are, or will be when the tasks before are done, empty: as the block itself knows. A
  /// front end that holds views and submits ahead knows more than the block.
  std::span<const block::space_set> spaces;
  bool only_devices = false;  ///< the calling thread is no candidate
  bool fixed =
      false;  ///< by descriptions and `spaces` alone, neither queues nor measurements: the same answer in every run
  std::uint32_t turn = 0;  ///< with `fixed`: which of several equal devices
};

/// Where it would go.
struct device_choice {
  std::uint32_t place = 0;  ///< its number in the scheduler
  location::node_id location = location::no_node;
  memory::space_number space = memory::no_space;
  double seconds = 0;  ///< that it is expected to take there, by itself
  bool trial = false;  ///< not the best place: to learn how fast it is
};

}  // namespace tessera::placement
