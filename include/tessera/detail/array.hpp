#pragma once
// Blocked dense arrays and host views of their blocks.
#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/lifetime.hpp"
#include "core/block/element_type.hpp"
#include "core/block/shape.hpp"
#include "tessera/detail/runtime.hpp"

namespace tessera::schedule {
struct host_access;
}
namespace tessera::hierarchy {
class array_storage;
}

namespace tessera {

namespace detail {

/// An index with the place of the call that it stands in. A number converts to it there.
struct placed_index {
  template <class Number>
  requires(std::is_integral_v<Number> || std::is_enum_v<Number>)
      placed_index(Number index, std::source_location where = std::source_location::current())  // NOLINT: converts
      : value(static_cast<std::int64_t>(index)), site(where) {}
  std::int64_t value;
  std::source_location site;
};

/// A block in the hands of the program, whatever its type.
class held_block {
 public:
  /// Waits for it. Throws as block_of::read.
  held_block(runtime& of, block::record& block, intent how, std::source_location site);
  /// Only takes its place among the tasks; `wait` comes next, before anything else.
  static held_block request(runtime& of, block::record& block, intent how, std::source_location site);
  void wait();  ///< what the constructor does then; when it throws, nothing is held
  held_block(held_block&& other) noexcept
      : m_scheduler(other.m_scheduler), m_held(std::exchange(other.m_held, nullptr)) {}
  held_block& operator=(held_block&&) = delete;
  ~held_block();                // not inline: GCC 12 then takes an empty optional of one for uninitialized
  void* data() const noexcept;  ///< its elements
  bool ended() const noexcept;  ///< given back by the end of the runtime: the elements may be gone

 private:
  held_block(schedule::scheduler& of, schedule::host_access* held) noexcept : m_scheduler(&of), m_held(held) {}
  void give_back() noexcept;
  schedule::scheduler* m_scheduler;
  schedule::host_access* m_held;
};

/// Throws usage: so many elements are to be adopted, and there is no memory.
[[noreturn]] void refuse_null_memory(const std::string& name, std::size_t elements, std::source_location site);

/// What arrays of all element types have in common: the blocks, which it owns.
class array_blocks {
 public:
  /// @param adopted  memory of the program for all of them, one behind the other; null: none
  /// @param per_element  how many of `type` an element is
  array_blocks(runtime& of, std::string name, element_type type, std::int64_t per_element, bool last_is_fastest,
               std::span<const std::int64_t> extents, std::span<const std::int64_t> block_extents, void* adopted,
               std::source_location site);
  array_blocks(array_blocks&& other) noexcept;
  array_blocks& operator=(array_blocks&& other) noexcept;
  ~array_blocks() { clear(); }

  runtime& owner() const noexcept { return *m_runtime; }
  element_type type() const noexcept { return m_type; }
  std::int64_t per_element() const noexcept { return m_per_element; }
  const std::string& name() const noexcept { return m_name; }
  const shape& extents() const noexcept { return m_extents; }
  const shape& block_extents() const noexcept { return m_block_extents; }
  const shape& counts() const noexcept { return m_counts; }
  std::size_t size() const noexcept { return m_blocks.size(); }
  block::record& at(std::size_t ordinal, std::source_location site) const {
    if (ordinal >= m_blocks.size() || m_alive->ended()) refuse_ordinal(ordinal, site);
    return *m_blocks[ordinal];
  }
  block::record& at(std::span<const std::int64_t> indices, std::source_location site) const {
    if (indices.size() != m_extents.rank() || m_blocks.empty() || m_alive->ended()) refuse_indices(indices, site);
    std::int64_t ordinal = 0;
    const std::size_t rank = indices.size();
    for (std::size_t k = 0; k < rank; ++k) {  // the slowest first
      const std::size_t d = m_last_is_fastest ? k : rank - 1 - k;
      if (indices[d] < 0 || indices[d] >= m_counts[d]) refuse_indices(indices, site);
      ordinal = ordinal * m_counts[d] + indices[d];
    }
    return *m_blocks[static_cast<std::size_t>(ordinal)];
  }
  void keep_to_this_thread(std::source_location site);
  /// Throws usage where it was moved from, and when the runtime has ended.
  void require_usable(std::source_location site) const;
  /// The array as regions see it, null before the first one. For rows_of, which guards it.
  std::shared_ptr<hierarchy::array_storage>& rows() const noexcept { return m_rows; }

 private:
  [[noreturn]] void refuse_ordinal(std::size_t ordinal, std::source_location site) const;
  [[noreturn]] void refuse_indices(std::span<const std::int64_t> indices, std::source_location site) const;
  void make_blocks(element_type type);
  void clear() noexcept;

  runtime* m_runtime;
  std::shared_ptr<lifetime> m_alive;  // of the scheduler
  std::string m_name;
  element_type m_type;
  std::int64_t m_per_element;
  bool m_last_is_fastest;
  shape m_extents, m_block_extents, m_counts;
  std::vector<block::record*> m_blocks;
  mutable std::shared_ptr<hierarchy::array_storage> m_rows;
};

}  // namespace detail

/// A block in the hands of the program, on the host. Later tasks that conflict with it wait until it is gone: what was
/// written becomes the block's current version then. A view that outlives its runtime was given back when that ended,
/// and must not be read or written any more.
/// @tparam T  const for read views. Move-only; release it on the thread that made it.
template <class T, std::size_t Rank = 1, index_order Order = row_major>
class host_view : public view<T, Rank, Order> {
 public:
  /// Made by block_of::read, write and update. @param stored  extents, the fastest one first
  host_view(detail::held_block held, const shape& stored)
      : view<T, Rank, Order>(static_cast<T*>(held.data()), stored), m_held(std::move(held)) {}
  /// The new view holds the block; the old one must not be used any more.
  host_view(host_view&&) noexcept = default;
  host_view& operator=(host_view&&) = delete;
  ~host_view() = default;

 private:
  detail::held_block m_held;
};

/// A dense array in blocks; owns its blocks (not the data: the runtime decides where they are). Move-only. Destroying
/// it frees each block when the tasks submitted before are done with it, and returns at once. When the runtime is gone,
/// using it is an error (usage), and destroying it does nothing; handles to its blocks are then not valid.
/// @tparam T  any trivially copyable type; operations know float, double, std::complex of them, std::int32_t,
/// std::int64_t and std::uint8_t
/// @tparam Rank  dimensions, 0 to 8; any_rank: known at run time only
/// @tparam Order  which index is fastest, in the array and in each block
template <class T, std::size_t Rank = 1, index_order Order = row_major>
class array {
 public:
  /// The new array owns the blocks; the old one may only be destroyed or assigned to.
  array(array&&) noexcept = default;
  /// Lets go of the blocks owned so far, as the destructor does, and takes over the others.
  array& operator=(array&&) noexcept = default;
  /// Each block is freed when the tasks submitted before are done with it; returns at once.
  ~array() = default;

  const std::string& name() const noexcept { return m_all.name(); }     ///< as given when it was made; for messages
  std::size_t rank() const noexcept { return m_all.extents().rank(); }  ///< number of dimensions, 0 to 8
  const shape& extents() const noexcept { return m_all.extents(); }     ///< elements per dimension
  const shape& block_extents() const noexcept { return m_all.block_extents(); }  ///< the same of a full block
  const shape& counts() const noexcept { return m_all.counts(); }                ///< blocks per dimension
  std::size_t size() const noexcept { return m_all.size(); }                     ///< blocks

  /// Block by ordinal, in the order of the array: the fastest index first. Throws tessera::error (usage) beyond the
  /// end, and when the runtime has ended. @param site  for messages
  block_of<T, Rank, Order> block(std::size_t ordinal,
                                 std::source_location site = std::source_location::current()) const {
    block::record& found = m_all.at(ordinal, site);
    return {m_all.owner(), found};
  }
  /// Block by block indices, 0-based, as many as the rank. Throws tessera::error (usage) for an index that does not
  /// exist, and when the runtime has ended.
  template <class... Rest>
  requires(std::is_convertible_v<Rest, detail::placed_index>&&...) block_of<T, Rank, Order>
  operator()(detail::placed_index first, Rest... rest) const {
    static_assert(Rank == any_rank || Rank == 1 + sizeof...(Rest),
                  "a block is named by as many indices as the array has dimensions; block(k) is the k-th block of any");
    const std::int64_t at[] = {first.value, detail::placed_index(rest).value...};
    block::record& found = m_all.at(at, first.site);
    return {m_all.owner(), found};
  }
  /// The block of an array without dimensions.
  block_of<T, Rank, Order> operator()(std::source_location site = std::source_location::current()) const {
    static_assert(Rank == any_rank || Rank == 0,
                  "a block is named by as many indices as the array has dimensions; block(k) is the k-th block of any");
    block::record& found = m_all.at(std::span<const std::int64_t>(), site);
    return {m_all.owner(), found};
  }

  /// Declares that from now on only the calling thread submits tasks and takes views that use this array: linking then
  /// takes no lock. Submitting from another thread nevertheless is a data race. For the temporaries of a front end with
  /// several submitting threads. Of an adopted array the program's memory has the last versions after flush, and after
  /// the array's end and a fence: fences alone leave it as it is.
  void keep_to_this_thread(std::source_location site = std::source_location::current()) {
    m_all.keep_to_this_thread(site);
  }
  const detail::array_blocks& blocks() const noexcept { return m_all; }  ///< for the runtime

  /// Brings the current version of every block to the host (into adopted memory). Waits for the tasks that make it, and
  /// for no others: a fence does the same for all adopted arrays. Throws as block_of::read does.
  void flush(std::source_location site = std::source_location::current()) {
    for (std::size_t k = 0; k < size(); ++k) (void)block(k, site).read(site);
  }

 private:
  friend class runtime;
  explicit array(detail::array_blocks all) noexcept : m_all(std::move(all)) {}
  detail::array_blocks m_all;
};

/// An array of two dimensions for linear algebra: column-major, in tiles.
template <class T>
using tiled_matrix = array<T, 2, column_major>;

template <class T, std::size_t Rank, index_order Order>
host_view<const T, Rank, Order> block_of<T, Rank, Order>::read(std::source_location site) const {
  return {detail::held_block(*m_runtime, *m_record, intent::read, site), detail::stored_extents_of(*m_record)};
}
template <class T, std::size_t Rank, index_order Order>
host_view<T, Rank, Order> block_of<T, Rank, Order>::write(std::source_location site) const {
  return {detail::held_block(*m_runtime, *m_record, intent::write, site), detail::stored_extents_of(*m_record)};
}
template <class T, std::size_t Rank, index_order Order>
host_view<T, Rank, Order> block_of<T, Rank, Order>::update(std::source_location site) const {
  return {detail::held_block(*m_runtime, *m_record, intent::update, site), detail::stored_extents_of(*m_record)};
}

template <class T, index_order Order, std::size_t Rank>
array<T, Rank, Order> runtime::make_array(std::string name, const std::int64_t (&extents)[Rank],
                                          const std::int64_t (&block_extents)[Rank], std::source_location site) {
  return array<T, Rank, Order>({*this, std::move(name), stored_type_of<T>(), stored_per_element<T>,
                                std::is_same_v<Order, row_major>, extents, block_extents, nullptr, site});
}

template <class T, index_order Order>
array<T, any_rank, Order> runtime::make_array(std::string name, std::span<const std::int64_t> extents,
                                              std::span<const std::int64_t> block_extents, std::source_location site) {
  return array<T, any_rank, Order>({*this, std::move(name), stored_type_of<T>(), stored_per_element<T>,
                                    std::is_same_v<Order, row_major>, extents, block_extents, nullptr, site});
}

template <class T>
array<T, 2, column_major> runtime::make_matrix(std::string name, const std::int64_t (&extents)[2],
                                               const std::int64_t (&tile_extents)[2], std::source_location site) {
  return make_array<T, column_major>(std::move(name), extents, tile_extents, site);
}

template <class T>
array<T, 1, row_major> runtime::adopt(std::string name, std::span<T> memory, std::int64_t block_elements,
                                      std::source_location site) {
  if (memory.data() == nullptr && !memory.empty()) detail::refuse_null_memory(name, memory.size(), site);
  const std::int64_t elements[] = {static_cast<std::int64_t>(memory.size())}, per_block[] = {block_elements};
  return array<T>({*this, std::move(name), stored_type_of<T>(), stored_per_element<T>, true, elements, per_block,
                   memory.data(), site});
}

}  // namespace tessera
