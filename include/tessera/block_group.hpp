#pragma once
// Blocks of any sizes that come and go one by one.
#include <cstdint>
#include <mutex>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "core/block/space_set.hpp"
#include "tessera/array.hpp"

namespace tessera {

namespace block {
struct origin;
}

namespace detail {

/// What groups of all element types have in common. All functions from any thread.
class loose_blocks {
 public:
  loose_blocks(runtime& of, std::string name, std::vector<std::int64_t> counts)
      : m_runtime(&of), m_name(std::move(name)), m_counts(std::move(counts)) {}
  block::record& make(element_type type, const shape& extents, std::uint32_t ordinal, std::source_location site);
  void destroy(block::record& block);
  void keep_to_this_thread(block::record& block, std::source_location site);
  static block::space_set spaces_of(block::record& block);
  runtime& owner() const noexcept { return *m_runtime; }

 private:
  runtime* m_runtime;
  std::string m_name;
  std::vector<std::int64_t> m_counts;
  std::mutex m_mutex;
  std::uint64_t m_live = 0;
  const block::origin* m_origin = nullptr;  // valid while blocks live
};

}  // namespace detail

/// Makes blocks under one name, each when it is asked for, and of its own extents: for arrays with tiles of different
/// sizes of which few are ever used, and for temporaries. All functions from any thread. Must not outlive the runtime,
/// nor its blocks the group.
/// @tparam T  element type, as of array
template <class T>
class block_group {
 public:
  /// @param name for messages  @param counts blocks per dimension, for messages: "A(3,1)"
  block_group(runtime& rt, std::string name, std::vector<std::int64_t> counts)
      : m_blocks(rt, std::move(name), std::move(counts)) {}
  block_group(const block_group&) = delete;
  block_group& operator=(const block_group&) = delete;

  /// A new block that was never written. Nothing is allocated before. @param ordinal for messages: its place among the
  /// counts
  block_of<T> make(const shape& extents, std::uint32_t ordinal,
                   std::source_location site = std::source_location::current()) {
    return block_of<T>(m_blocks.make(element_type_of<T>(), extents, ordinal, site));
  }
  /// Frees a block when the tasks submitted before are done with it; returns at once.
  void destroy(block_of<T> b) { m_blocks.destroy(b.record()); }
  /// Declares that only the calling thread submits tasks and takes views that use this block, as
  /// array::keep_to_this_thread. Call it before the first use.
  void keep_to_this_thread(block_of<T> b, std::source_location site = std::source_location::current()) {
    m_blocks.keep_to_this_thread(b.record(), site);
  }

  /// Where the current version is at this moment: numbers in statistics::spaces. Empty: nowhere yet.
  block::space_set spaces_of(block_of<T> b) const { return m_blocks.spaces_of(b.record()); }

  /// As array::read_host.
  host_view<const T> read_host(block_of<T> b, std::source_location site = std::source_location::current()) const {
    return {{m_blocks.owner(), b.record(), intent::read, site}, b.extents()};
  }
  /// As array::write_host.
  host_view<T> write_host(block_of<T> b, std::source_location site = std::source_location::current()) {
    return {{m_blocks.owner(), b.record(), intent::write, site}, b.extents()};
  }
  /// As array::update_host.
  host_view<T> update_host(block_of<T> b, std::source_location site = std::source_location::current()) {
    return {{m_blocks.owner(), b.record(), intent::update, site}, b.extents()};
  }

 private:
  detail::loose_blocks m_blocks;
};

}  // namespace tessera
