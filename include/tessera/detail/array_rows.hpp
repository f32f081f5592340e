#pragma once
// Rows of arrays as regions, tasks and the program see them: views, and what an array is placed by.
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/block/access.hpp"
#include "core/block/element_type.hpp"
#include "core/block/intent.hpp"
#include "core/block/shape.hpp"
#include "tessera/detail/view.hpp"

namespace tessera {

namespace hierarchy {
class array_storage;
}
namespace schedule {
class scheduler;
struct host_access;
}  // namespace schedule
class runtime;

/// Extents as regions split them: rows, and elements per row in up to two more dimensions; the last index is fastest.
/// For the runtime.
struct row_extents {
  std::int64_t rows = 0;         ///< what regions split
  std::int64_t second = 1;       ///< of each row
  std::int64_t third = 1;        ///< of each of those
  std::int64_t per_element = 1;  ///< how many of those one of the program's elements is
  /// Elements of one row.
  std::int64_t row_elements() const noexcept { return second * third; }
  /// Elements of all rows.
  std::int64_t count() const noexcept { return rows * second * third; }
  /// Same extents.
  friend bool operator==(const row_extents&, const row_extents&) = default;
};

/// Where an array is placed that has no location of its own: at the location that executes the region which uses it, or
/// so many ancestors above, the root at most. It is resolved for each region when that is submitted. Plain data.
struct array_distance {
  /// What becomes of the elements.
  enum class form : std::uint8_t {
    automatic,  ///< they are kept, and move between regions as these need them
    realloc     ///< memory is given back after each region, which must write it before it reads
  };
  std::uint32_t ancestors = 0;   ///< 0: where the region executes
  form keeps = form::automatic;  ///< one of them

  /// At the location that executes.
  static constexpr array_distance near(form keeps = form::automatic) noexcept { return {0, keeps}; }
  /// At its n-th ancestor.
  static constexpr array_distance far(std::uint32_t n, form keeps = form::automatic) noexcept { return {n, keeps}; }
};

/// What an array without blocks is made with beside its extents.
struct array_options {
  std::string_view at = {};                     ///< the location that it is at; "": the root of the tree
  std::optional<array_distance> distance = {};  ///< instead; `realloc` only of arrays that make_array makes
};

/// Rows of an array as the body of a region, a task that names rows, or the program sees them. Indices are those of the
/// whole array; what may be touched is what the region, the task or the view named. Not checked, but for runs that
/// validate: those find what a region touches elsewhere. Plain data.
/// @tparam T  element type; const where it is only read
/// @tparam Rank  dimensions of the array; any_rank: known at run time only, and then there are no indices but positions
template <class T, std::size_t Rank = 1>
class rows_view {
 public:
  /// Made by the runtime. @param first_row  of the elements at `data`  @param extents  as the runtime has them
  rows_view(T* data, std::int64_t first_row, const row_extents& extents) noexcept
      : m_data(data),
        m_first(first_row * extents.row_elements() / stored_per_element<T>),
        m_second(extents.second),
        m_third(extents.third / stored_per_element<T>),
        m_rows(extents.rows) {}

  /// By position among all elements of the array, rows one after the other.
  T& operator[](std::int64_t position) const noexcept { return m_data[position - m_first]; }
  /// By indices, 0-based, as many as the rank.
  template <std::convertible_to<std::int64_t>... Index>
  T& operator()(Index... index) const noexcept {
    static_assert(Rank != any_rank, "rows of an array of any rank have no indices: x[position]");
    static_assert(Rank == any_rank || sizeof...(Index) == Rank,
                  "an element is named by as many indices as its array has dimensions: x(i, j) of one of {rows, "
                  "columns}, and &x(i, 0) is the begin of row i");
    const std::int64_t at[] = {static_cast<std::int64_t>(index)...};
    if constexpr (sizeof...(Index) == 1)
      return m_data[at[0] - m_first];
    else if constexpr (sizeof...(Index) == 2)
      return m_data[at[0] * m_second + at[1] - m_first];
    else
      return m_data[(at[0] * m_second + at[1]) * m_third + at[2] - m_first];
  }
  /// Extent of a dimension of the whole array; 1 beyond the rank.
  std::int64_t extent(std::size_t dimension) const noexcept {
    return dimension == 0 ? m_rows : dimension == 1 ? m_second : dimension == 2 ? m_third : 1;
  }

 private:
  T* m_data;
  std::int64_t m_first, m_second, m_third, m_rows;
};

namespace detail {

/// Extents in what the runtime has for elements of T, the slowest first.
template <class T>
row_extents stored_rows(const row_extents& of) noexcept {
  return {of.rows, of.second, of.third * stored_per_element<T>};
}

/// A block in the hands of the program, whatever its type.
class held_block {
 public:
  /// Waits for it. Throws as block_of::read.
  held_block(runtime& of, block::record& block, intent how, std::source_location site);
  /// Only takes its place among the tasks; `wait` comes next, before anything else. @param of_part  it is an update
  /// that names some elements: where the block has no contents yet, a write
  static held_block request(runtime& of, block::record& block, intent how, std::source_location site,
                            bool of_part = false);
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

/// The tiles of an array in the hands of the program, seen as one piece of memory: where they are not, since validation
/// shows copies, they are gathered in one more, and what was written is put back at the end. Move-only.
class held_rows {
 public:
  held_rows() = default;  ///< no rows
  /// @param bytes  of each tile  @param bytes_before  those that are looked at  @param noted  let go of at the end
  held_rows(std::vector<held_block> tiles, std::vector<std::uint64_t> bytes, intent how, std::uint64_t bytes_before,
            std::shared_ptr<const void> noted);
  held_rows(held_rows&&) noexcept = default;
  held_rows& operator=(held_rows&&) = delete;
  ~held_rows();
  void* data() const noexcept { return m_data + m_before; }  ///< the first element

 private:
  std::shared_ptr<const void> m_noted;
  std::vector<held_block> m_tiles;
  std::vector<std::uint64_t> m_bytes;
  intent m_how = intent::read;
  std::uint64_t m_before = 0;
  std::unique_ptr<std::byte[]> m_copy;  // null: they lie one behind the other
  std::byte* m_data = nullptr;
};

}  // namespace detail

/// The rows that a task or a view has named, which may be gone through from the first element to the last: what a
/// task's function gets for `read(x.rows(first, last))`.
/// @tparam T  const for reading
template <class T, std::size_t Rank = 1>
class named_rows_view : public rows_view<T, Rank> {
 public:
  /// Made by the runtime. @param data  of row `first_row`  @param extents  as the runtime has them
  named_rows_view(T* data, std::int64_t first_row, std::int64_t first, std::int64_t last,
                  const row_extents& extents) noexcept
      : rows_view<T, Rank>(data, first_row, extents),
        m_elements(data + (first - first_row) * extents.row_elements() / stored_per_element<T>,
                   static_cast<std::size_t>((last - first) * extents.row_elements() / stored_per_element<T>)),
        m_first(first),
        m_last(last) {}
  std::int64_t first() const noexcept { return m_first; }        ///< the first row
  std::int64_t last() const noexcept { return m_last; }          ///< the row after the last
  std::span<T> elements() const noexcept { return m_elements; }  ///< those named, in the order of memory
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(m_elements.size()); }  ///< of those
  T* data() const noexcept { return m_elements.data(); }                                       ///< the first
  T* begin() const noexcept { return data(); }                                                 ///< the first
  T* end() const noexcept { return data() + m_elements.size(); }                               ///< behind the last

 private:
  std::span<T> m_elements;
  std::int64_t m_first, m_last;
};

/// All elements of an array, or some of its rows, in the hands of the program. Regions and tasks that conflict with it,
/// submitted later, wait until it is gone. Move-only; release it on the thread that made it, before a fence, which
/// refuses to wait meanwhile.
/// @tparam T  const for reading
template <class T, std::size_t Rank = 1>
class host_rows_view : public named_rows_view<T, Rank> {
 public:
  /// Made by array and array_rows, of rows [first, last).
  host_rows_view(detail::held_rows held, std::int64_t first, std::int64_t last, const row_extents& extents)
      : named_rows_view<T, Rank>(static_cast<T*>(held.data()), first, first, last, extents), m_held(std::move(held)) {}

 private:
  detail::held_rows m_held;
};

}  // namespace tessera
