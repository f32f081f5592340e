#pragma once
// Dense arrays: in blocks, or in rows that are cut as their uses need; and host views of them.
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
#include "tessera/detail/array_rows.hpp"
#include "tessera/detail/runtime.hpp"

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

/// Throws usage: so many elements are to be adopted, and there is no memory.
[[noreturn]] void refuse_null_memory(const std::string& name, std::size_t elements, std::source_location site);

/// What arrays of all element types have in common: blocks, which it owns, or rows.
class array_state {
 public:
  /// In blocks. @param adopted  memory of the program for all of them, one behind the other; null: none
  /// @param per_element  how many of `type` an element is
  array_state(runtime& of, std::string name, element_type type, std::int64_t per_element, bool last_is_fastest,
              std::span<const std::int64_t> extents, std::span<const std::int64_t> block_extents, void* adopted,
              std::source_location site);
  /// In rows. @param extents  in elements, at least one
  array_state(runtime& of, std::string name, element_type type, std::int64_t per_element, const shape& extents,
              std::shared_ptr<hierarchy::array_storage> rows);
  array_state(const array_state&) = delete;
  array_state& operator=(const array_state&) = delete;
  ~array_state();

  runtime& owner() const noexcept { return *m_runtime; }
  element_type type() const noexcept { return m_type; }
  std::int64_t per_element() const noexcept { return m_per_element; }
  const std::string& name() const noexcept { return m_name; }
  const shape& extents() const noexcept { return m_extents; }
  const shape& block_extents() const noexcept { return m_block_extents; }
  const shape& counts() const noexcept { return m_counts; }
  std::size_t size() const noexcept { return m_blocks.size(); }
  bool has_blocks() const noexcept { return m_has_blocks; }
  /// The block of an ordinal, or of indices in the program's order. Throw as array::block and array::operator().
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
  void keep_to_this_thread(std::source_location site);  ///< as array::keep_to_this_thread
  /// Throws usage when the runtime has ended.
  void require_alive(std::source_location site) const;
  /// The array in rows; of one that has blocks null before rows_of has made it, which guards it.
  std::shared_ptr<hierarchy::array_storage>& rows() noexcept { return m_rows; }

 private:
  [[noreturn]] void refuse_ordinal(std::size_t ordinal, std::source_location site) const;
  [[noreturn]] void refuse_indices(std::span<const std::int64_t> indices, std::source_location site) const;
  void require_blocks(std::source_location site) const;
  void make_blocks(element_type type, std::source_location site);
  void clear() noexcept;

  runtime* m_runtime;
  std::shared_ptr<lifetime> m_alive;  // of the scheduler
  std::string m_name;
  element_type m_type;
  std::int64_t m_per_element;
  bool m_last_is_fastest, m_has_blocks;
  shape m_extents, m_block_extents, m_counts;
  std::vector<block::record*> m_blocks;
  std::shared_ptr<hierarchy::array_storage> m_rows;
};

/// A handle to what an array is, which copies share. One that was moved from has no name and no extents; what would
/// need more throws tessera::error (usage).
class array_handle {
 public:
  explicit array_handle(std::shared_ptr<array_state> state) noexcept : m_state(std::move(state)) {}
  /// Throws usage where it was moved from.
  array_state& state(std::source_location site) const {
    if (m_state == nullptr) refuse_moved(site);
    return *m_state;
  }
  const std::string& name() const noexcept;
  const shape& extents() const noexcept;
  const shape& block_extents() const noexcept;
  const shape& counts() const noexcept;
  std::size_t size() const noexcept { return m_state != nullptr ? m_state->size() : 0; }
  /// The rows, for regions; null where it was moved from. Of an array in blocks they are made the first time. Throws
  /// usage for one that has no whole rows in its blocks, and when its runtime has ended.
  std::shared_ptr<hierarchy::array_storage> rows(std::source_location site) const {
    if (m_state == nullptr) return nullptr;
    return m_state->has_blocks() ? rows_in_blocks(site) : m_state->rows();
  }
  std::string location(std::source_location site) const;            ///< as array::location
  void move(std::string_view to, std::source_location site) const;  ///< as array::move
  void flush(std::source_location site) const;                      ///< as array::flush
  /// Waits for rows [first, last) and holds them for the program. Throws as array_rows::read.
  held_rows hold(intent how, std::int64_t first, std::int64_t last, std::source_location site) const;
  /// As the runtime has them. Throws as `rows`.
  row_extents stored_rows(std::source_location site) const;

 private:
  [[noreturn]] static void refuse_moved(std::source_location site);
  std::shared_ptr<hierarchy::array_storage> rows_in_blocks(std::source_location site) const;
  std::shared_ptr<array_state> m_state;
};

/// An array without blocks at the root of the tree. Throws as runtime::make_array.
array_handle make_rows(runtime& of, std::string name, element_type type, std::int64_t per_element,
                       std::span<const std::int64_t> extents, std::source_location site);

/// The rows of an array in C++'s order; of another one it does not compile.
template <std::size_t Rank, index_order Order>
constexpr void require_rows() {
  static_assert(std::is_same_v<Order, row_major> || Rank <= 1,
                "regions, and rows, are of arrays whose last index is fastest: make_array<T>(...)");
  static_assert(Rank == any_rank || (Rank >= 1 && Rank <= 3),
                "regions, and rows, are of arrays of one to three dimensions");
}

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

template <class T, std::size_t Rank>
class array_rows;

/// A dense array, for tasks, regions and built-in operations: in blocks, where it was made with their extents, or in
/// rows that regions and tasks cut as they need them. A handle: copies are the same array, which ends with the last of
/// them. Then the memory is given back when what was submitted before is done with it; the end returns at once. When
/// the runtime is gone, using the array is an error (usage), and destroying it does nothing. All functions from any
/// thread.
/// @tparam T  any trivially copyable type; operations know float, double, std::complex of them, std::int32_t,
/// std::int64_t and std::uint8_t
/// @tparam Rank  dimensions, 0 to 8; any_rank: known at run time only
/// @tparam Order  which index is fastest, in the array and in each block
template <class T, std::size_t Rank = 1, index_order Order = row_major>
class array {
 public:
  /// Made by make_array and its like.
  explicit array(detail::array_handle handle) noexcept : m_handle(std::move(handle)) {}

  const std::string& name() const noexcept { return m_handle.name(); }     ///< as given when it was made; for messages
  std::size_t rank() const noexcept { return m_handle.extents().rank(); }  ///< number of dimensions, 0 to 8
  const shape& extents() const noexcept { return m_handle.extents(); }     ///< elements per dimension
  const shape& block_extents() const noexcept { return m_handle.block_extents(); }  ///< the same of a full block
  const shape& counts() const noexcept { return m_handle.counts(); }                ///< blocks per dimension
  std::size_t size() const noexcept { return m_handle.size(); }                     ///< blocks; 0: it was made without

  // ---- blocks: of arrays that were made with their extents

  /// Block by ordinal, in the order of the array: the fastest index first. Throws tessera::error (usage) beyond the
  /// end, for an array that was made without blocks, and when the runtime has ended. @param site  for messages
  block_of<T, Rank, Order> block(std::size_t ordinal,
                                 std::source_location site = std::source_location::current()) const {
    const detail::array_state& all = m_handle.state(site);
    block::record& found = all.at(ordinal, site);
    return {all.owner(), found};
  }
  /// Block by block indices, 0-based, as many as the rank. Throws tessera::error (usage) for an index that does not
  /// exist, for an array that was made without blocks, and when the runtime has ended.
  template <class... Rest>
  requires(std::is_convertible_v<Rest, detail::placed_index>&&...) block_of<T, Rank, Order>
  operator()(detail::placed_index first, Rest... rest) const {
    static_assert(Rank == any_rank || Rank == 1 + sizeof...(Rest),
                  "a block is named by as many indices as the array has dimensions; block(k) is the k-th block of any");
    const std::int64_t at[] = {first.value, detail::placed_index(rest).value...};
    const detail::array_state& all = m_handle.state(first.site);
    block::record& found = all.at(at, first.site);
    return {all.owner(), found};
  }
  /// The block of an array without dimensions.
  block_of<T, Rank, Order> operator()(std::source_location site = std::source_location::current()) const {
    static_assert(Rank == any_rank || Rank == 0,
                  "a block is named by as many indices as the array has dimensions; block(k) is the k-th block of any");
    const detail::array_state& all = m_handle.state(site);
    block::record& found = all.at(std::span<const std::int64_t>(), site);
    return {all.owner(), found};
  }
  /// Declares that from now on only the calling thread submits tasks and takes views that use this array: linking then
  /// takes no lock. Submitting from another thread nevertheless is a data race. For the temporaries of a front end with
  /// several submitting threads. Of an adopted array the program's memory has the last versions after flush, and after
  /// the array's end and a fence: fences alone leave it as it is. Throws tessera::error (usage) for an array that was
  /// made without blocks.
  void keep_to_this_thread(std::source_location site = std::source_location::current()) {
    m_handle.state(site).keep_to_this_thread(site);
  }

  // ---- rows: of arrays of one to three dimensions whose last index is fastest, with blocks of whole rows or without

  /// Rows [first, last): what a task names, `read(x.rows(0, 100))`, what copies name, and what the program looks at
  /// without waiting for the others. A row is what has one first index. Not checked before it is used.
  array_rows<T, Rank> rows(std::int64_t first, std::int64_t last) const {
    detail::require_rows<Rank, Order>();
    return {array<T, Rank>(m_handle), first, last};
  }
  /// Waits for the regions and tasks that write it and shows all of it on the host. Throws the failure of what should
  /// have made it; usage inside a task, where the thread holds a view of the array for which it would wait, and for
  /// blocks that are no whole rows.
  host_rows_view<const T, Rank> read(std::source_location site = std::source_location::current()) const {
    return all_rows(site).read(site);
  }
  /// The same for overwriting all elements. Waits for the regions and tasks that use it.
  host_rows_view<T, Rank> write(std::source_location site = std::source_location::current()) const {
    return all_rows(site).write(site);
  }
  /// The same for changing some. Waits for the regions and tasks that use it.
  host_rows_view<T, Rank> update(std::source_location site = std::source_location::current()) const {
    return all_rows(site).update(site);
  }
  /// Name of the location that it is at. Throws tessera::error (usage) where it was moved from, and when the runtime
  /// has ended, as all functions do that need it.
  std::string location(std::source_location site = std::source_location::current()) const {
    return m_handle.location(site);
  }
  /// From now on the array is at another location; regions submitted before are not affected, and nothing is copied
  /// before a region needs it. Throws tessera::error: usage for an unknown one, with the nearest name, and for a
  /// storage location; memory where the location, or one above it, declares less than its arrays would have.
  void move(std::string_view to, std::source_location site = std::source_location::current()) {
    m_handle.move(to, site);
  }

  /// Brings the current version of all elements to the host (into adopted memory). Waits for the tasks that make them,
  /// and for no others: a fence does the same for all adopted arrays. Throws as block_of::read does.
  void flush(std::source_location site = std::source_location::current()) { m_handle.flush(site); }

  const detail::array_handle& handle() const noexcept { return m_handle; }  ///< for the runtime

 private:
  array_rows<T, Rank> all_rows(std::source_location site) const {
    detail::require_rows<Rank, Order>();
    return rows(0, m_handle.stored_rows(site).rows);
  }
  detail::array_handle m_handle;
};

/// Some rows of an array. A handle, which keeps the array.
/// @tparam T  as of array
template <class T, std::size_t Rank = 1>
class array_rows {
 public:
  /// Made by array::rows; rows [first, last).
  array_rows(tessera::array<T, Rank> of, std::int64_t first, std::int64_t last) noexcept
      : m_array(std::move(of)), m_first(first), m_last(last) {}

  const tessera::array<T, Rank>& array() const noexcept { return m_array; }  ///< whose rows they are
  std::int64_t first() const noexcept { return m_first; }                    ///< the first row
  std::int64_t last() const noexcept { return m_last; }                      ///< the row after the last

  /// As array::read, of these rows: waits for what writes them, and the view's indices are those of the whole array.
  /// Throws usage also for rows that the array does not have.
  host_rows_view<const T, Rank> read(std::source_location site = std::source_location::current()) const {
    return {hold(intent::read, site), m_first, m_last, m_array.handle().stored_rows(site)};
  }
  /// The same for overwriting all of their elements.
  host_rows_view<T, Rank> write(std::source_location site = std::source_location::current()) const {
    return {hold(intent::write, site), m_first, m_last, m_array.handle().stored_rows(site)};
  }
  /// The same for changing some.
  host_rows_view<T, Rank> update(std::source_location site = std::source_location::current()) const {
    return {hold(intent::update, site), m_first, m_last, m_array.handle().stored_rows(site)};
  }

 private:
  detail::held_rows hold(intent how, std::source_location site) const {
    return m_array.handle().hold(how, m_first, m_last, site);
  }
  tessera::array<T, Rank> m_array;
  std::int64_t m_first, m_last;
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
  return array<T, Rank, Order>(detail::array_handle(
      std::make_shared<detail::array_state>(*this, std::move(name), stored_type_of<T>(), stored_per_element<T>,
                                            std::is_same_v<Order, row_major>, extents, block_extents, nullptr, site)));
}

template <class T, index_order Order>
array<T, any_rank, Order> runtime::make_array(std::string name, std::span<const std::int64_t> extents,
                                              std::span<const std::int64_t> block_extents, std::source_location site) {
  return array<T, any_rank, Order>(detail::array_handle(
      std::make_shared<detail::array_state>(*this, std::move(name), stored_type_of<T>(), stored_per_element<T>,
                                            std::is_same_v<Order, row_major>, extents, block_extents, nullptr, site)));
}

template <class T, std::size_t Rank>
array<T, Rank, row_major> runtime::make_array(std::string name, const std::int64_t (&extents)[Rank],
                                              std::source_location site) {
  detail::require_rows<Rank, row_major>();
  return array<T, Rank>(
      detail::make_rows(*this, std::move(name), stored_type_of<T>(), stored_per_element<T>, extents, site));
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
  return array<T>(detail::array_handle(
      std::make_shared<detail::array_state>(*this, std::move(name), stored_type_of<T>(), stored_per_element<T>, true,
                                            elements, per_block, memory.data(), site)));
}

}  // namespace tessera
