#pragma once
// What an operation's implementation sees when it runs.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <typeinfo>

#include "core/block/element_type.hpp"
#include "core/block/intent.hpp"
#include "core/block/shape.hpp"

namespace tessera::plugin {
class device;
}

namespace tessera::operation {

/// One block as the implementation finds it: acquired, in the space of the device that runs it.
struct operand {
  tsr_address address{};                   ///< for plugins
  void* host = nullptr;                    ///< for host code; null where the space is not visible to the host
  element_type type = element_type::none;  ///< of the block
  tessera::intent intent =
      tessera::intent::read;       ///< as declared; an accumulate appears as write or update of a private copy
  const shape* extents = nullptr;  ///< elements per dimension
  std::uint64_t bytes = 0;         ///< of the whole block
  /// Elements along a dimension; 1 beyond the rank.
  std::int64_t extent(std::size_t dimension) const noexcept {
    return dimension < extents->rank() ? (*extents)[dimension] : 1;
  }
};

class kernel_loader;

/// What the first of several calls in place has found out. Whoever runs an operation again with the same arguments on
/// blocks of the same types, intents and extents hands it in again; for anything else it must be empty. One thread.
struct in_place_facts {
  bool known = false;           ///< the first call has been
  std::uint64_t workspace = 0;  ///< bytes that it wanted
};

/// What context::worker is where no worker of the host runs the task.
inline constexpr std::uint32_t no_worker = ~std::uint32_t{0};

/// A small value given to a replay, which all host functions of that replay see.
struct replay_value {
  static constexpr std::size_t capacity = 16;           ///< bytes
  alignas(16) std::array<std::byte, capacity> bytes{};  ///< the value
  const std::type_info* type = nullptr;                 ///< of the value; null: none was given
};

/// Everything else. Valid during the call only.
struct context {
  std::span<const operand> operands;       ///< in the order of the submission
  const void* arguments = nullptr;         ///< the bytes given at submission
  std::uint64_t argument_bytes = 0;        ///< how many
  const void* data = nullptr;              ///< definition::data
  const plugin::device* device = nullptr;  ///< whose tables to use
  tsr_stream* stream = nullptr;            ///< where to enqueue; on the host an inline stream of the calling thread
  tsr_workspace workspace{};               ///< for definition::workspace: as many bytes as it asked for; else none
  std::uint64_t memory_epoch = 0;          ///< on a device: memory::space::epoch of the space that the operands are in
  std::string_view task_name;              ///< of the operation; for messages
  kernel_loader* kernels = nullptr;        ///< definition::kernels; for the runtime
  /// Number of the worker that runs it, below runtime::workers(): no two tasks have the same at the same time. On a
  /// device, whose driver enqueues it: no_worker.
  std::uint32_t worker = no_worker;
  bool caller_names_task = false;               ///< what the call throws is told behind task_name
  bool checked = false;                         ///< all but the addresses has been found to fit by an earlier call
  std::uint16_t cores = 1;                      ///< of the host that are reserved for it
  const replay_value* replayed_with = nullptr;  ///< host functions of a replay: what it was given; else null

  /// The arguments as the type that was submitted; not checked.
  template <class T>
  const T& arguments_as() const noexcept {
    return *static_cast<const T*>(arguments);
  }
};

// Each task has one: what is larger is cleared by an instruction that takes as long as the rest of a small task's
// start.
static_assert(sizeof(context) <= 128);

}  // namespace tessera::operation
