#pragma once
// Blocks of any sizes that come and go one by one.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/block/space_set.hpp"
#include "tessera/detail/array.hpp"

namespace tessera {

namespace block {
struct origin;
}

namespace detail {

/// Throws usage: a block of these extents is no block of a group of this rank.
[[noreturn]] void refuse_rank(std::size_t rank, const shape& extents, std::source_location site);

/// What groups of all element types have in common. All functions from any thread.
class loose_blocks {
 public:
  /// Throws usage for more counts than a block has dimensions. @param per_element  how many stored elements one is
  loose_blocks(runtime& of, std::string name, std::vector<std::int64_t> counts, bool last_is_fastest,
               std::int64_t per_element = 1);
  block::record& make(element_type type, const shape& extents, std::uint32_t ordinal, std::source_location site);
  void destroy(block::record& block, std::source_location site);
  void keep_to_this_thread(block::record& block, std::source_location site);
  block::space_set spaces_of(block::record& block, std::source_location site) const;
  runtime& owner() const noexcept { return *m_runtime; }

 private:
  void require_alive(std::source_location site) const;
  void require_of_this_runtime(const block::record& block, std::source_location site) const;
  runtime* m_runtime;
  std::shared_ptr<lifetime> m_alive;  // of the scheduler
  std::string m_name;
  std::vector<std::int64_t> m_counts;
  bool m_last_is_fastest;
  std::int64_t m_per_element;
  std::mutex m_mutex;
  std::uint64_t m_live = 0;
  const block::origin* m_origin = nullptr;  // valid while blocks live
};

}  // namespace detail

/// Makes blocks under one name, each when it is asked for, and of its own extents: for arrays with tiles of different
/// sizes of which few are ever used, and for temporaries. All functions from any thread. When the runtime is gone,
/// using it is an error (usage). Its blocks must not outlive it.
/// @tparam T, Rank, Order  as of array
template <class T, std::size_t Rank = 1, index_order Order = row_major>
class block_group {
 public:
  using block_type = block_of<T, Rank, Order>;  ///< what make returns
  /// @param name for messages  @param counts blocks per dimension, for messages: "A(3,1)"
  block_group(runtime& rt, std::string name, std::vector<std::int64_t> counts)
      : m_blocks(rt, std::move(name), std::move(counts), std::is_same_v<Order, row_major>, stored_per_element<T>) {}
  block_group(const block_group&) = delete;
  block_group& operator=(const block_group&) = delete;

  /// A new block that was never written. Nothing is allocated before. Throws tessera::error (usage) for extents of
  /// another rank. @param ordinal  for messages: its place among the counts, the fastest index first
  block_type make(const shape& extents, std::uint32_t ordinal,
                  std::source_location site = std::source_location::current()) {
    if (Rank != any_rank && extents.rank() != Rank) detail::refuse_rank(Rank, extents, site);
    return {m_blocks.owner(),
            m_blocks.make(stored_type_of<T>(), detail::stored_shape<T, Order>(extents), ordinal, site)};
  }
  /// Frees a block when the tasks submitted before are done with it; returns at once. Nothing is left to be freed when
  /// the runtime has ended. Throws tessera::error (usage) for a block of another runtime.
  void destroy(block_type b, std::source_location site = std::source_location::current()) {
    m_blocks.destroy(b.record(), site);
  }
  /// Declares that only the calling thread submits tasks and takes views that use this block, as
  /// array::keep_to_this_thread. Call it before the first use.
  void keep_to_this_thread(block_type b, std::source_location site = std::source_location::current()) {
    m_blocks.keep_to_this_thread(b.record(), site);
  }

  /// Where the current version is at this moment: numbers in statistics::spaces. Empty: nowhere yet.
  block::space_set spaces_of(block_type b, std::source_location site = std::source_location::current()) const {
    return m_blocks.spaces_of(b.record(), site);
  }

 private:
  detail::loose_blocks m_blocks;
};

}  // namespace tessera
