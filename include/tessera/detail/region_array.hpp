#pragma once
// Arrays at locations: what regions (tessera/region.hpp) loop over.
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/block/element_type.hpp"
#include "tessera/detail/array.hpp"

namespace tessera {

/// The extents of a region_array: rows, and elements per row in up to two more dimensions; the last index is fastest.
struct row_extents {
  std::int64_t rows = 0;    ///< what regions split
  std::int64_t second = 1;  ///< of each row
  std::int64_t third = 1;   ///< of each of those
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

/// What an array is made with beside its extents.
struct array_options {
  std::string_view at = {};                     ///< the location that it is at; "": the root of the tree
  std::optional<array_distance> distance = {};  ///< instead; `realloc` only of arrays that make_array makes
};

namespace hierarchy {
class array_storage;
}

namespace detail {
/// Extents in elements of T, and in what the runtime has for them.
template <class T>
row_extents stored_rows(const row_extents& of) noexcept {
  return {of.rows, of.second, of.third * stored_per_element<T>};
}
template <class T>
row_extents rows_in_elements(const row_extents& stored) noexcept {
  return {stored.rows, stored.second, stored.third / stored_per_element<T>};
}
}  // namespace detail

/// The elements of an array as the body of a region, or the program, sees them. Indices are those of the whole array;
/// what may be touched is what the region named. Not checked, but for runs that validate: those find what is written
/// elsewhere. Plain data.
/// @tparam T  element type; const where it is only read
template <class T>
class region_view {
 public:
  /// Made by the runtime. @param first_row  of the elements at `data`  @param extents  as the runtime has them
  region_view(T* data, std::int64_t first_row, const row_extents& extents) noexcept
      : m_data(data),
        m_first(first_row * extents.row_elements() / stored_per_element<T>),
        m_second(extents.second),
        m_third(extents.third / stored_per_element<T>),
        m_rows(extents.rows) {}

  /// By position among all elements of the array, rows one after the other.
  T& operator[](std::int64_t position) const noexcept { return m_data[position - m_first]; }
  /// By indices, 0-based; those that are left out are 0.
  T& operator()(std::int64_t i) const noexcept { return m_data[i * m_second * m_third - m_first]; }
  /// The same with two.
  T& operator()(std::int64_t i, std::int64_t j) const noexcept {
    return m_data[(i * m_second + j) * m_third - m_first];
  }
  /// The same with three.
  T& operator()(std::int64_t i, std::int64_t j, std::int64_t k) const noexcept {
    return m_data[(i * m_second + j) * m_third + k - m_first];
  }
  /// Extents of the whole array.
  row_extents extents() const noexcept { return {m_rows, m_second, m_third}; }

 private:
  T* m_data;
  std::int64_t m_first, m_second, m_third, m_rows;
};

namespace detail {

/// The tiles of an array in the hands of the program, seen as one piece of memory: where they are not, since validation
/// shows copies, they are gathered in one more, and what was written is put back at the end. Move-only.
class held_rows {
 public:
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
  intent m_how;
  std::uint64_t m_before;
  std::unique_ptr<std::byte[]> m_copy;  // null: they lie one behind the other
  std::byte* m_data = nullptr;
};

}  // namespace detail

/// All elements of a region_array, or some of its rows, in the hands of the program. Regions that conflict with it,
/// submitted later, wait until it is gone. Move-only; release it on the thread that made it, before
/// location_model::fence, which refuses to wait meanwhile.
/// @tparam T  const for reading
template <class T>
class region_host_view : public region_view<T> {
 public:
  /// Made by region_array, of rows [first, last).
  region_host_view(detail::held_rows held, std::int64_t first, std::int64_t last, const row_extents& extents)
      : region_view<T>(static_cast<T*>(held.data()), first, extents),
        m_elements(static_cast<T*>(held.data()),
                   static_cast<std::size_t>((last - first) * extents.row_elements() / stored_per_element<T>)),
        m_held(std::move(held)) {}
  std::span<T> elements() const noexcept { return m_elements; }              ///< those shown, in the order of memory
  T* begin() const noexcept { return m_elements.data(); }                    ///< the first
  T* end() const noexcept { return m_elements.data() + m_elements.size(); }  ///< behind the last

 private:
  std::span<T> m_elements;
  detail::held_rows m_held;
};

namespace detail {

/// What region arrays of all element types have in common. Copies share the storage. One that was moved from has no
/// name and no rows; what would need more throws tessera::error (usage).
class region_array_handle {
 public:
  explicit region_array_handle(std::shared_ptr<hierarchy::array_storage> storage) noexcept
      : m_storage(std::move(storage)) {}
  const std::string& name() const noexcept;
  const row_extents& extents() const noexcept;
  std::string location(std::source_location site = std::source_location::current()) const;
  void move(std::string_view to, std::source_location site);
  held_rows hold(intent how, std::int64_t first, std::int64_t last, std::source_location site) const;
  /// Null: it was moved from.
  const std::shared_ptr<hierarchy::array_storage>& storage() const noexcept { return m_storage; }

 private:
  hierarchy::array_storage& there(std::source_location site) const;
  std::shared_ptr<hierarchy::array_storage> m_storage;
};

}  // namespace detail

template <class T>
class region_part;

/// A dense array of one to three dimensions at a location of the tree: accessible to that location and everything below
/// it. Its elements lie one after the other in memory of the host; leaves with a memory of their own get the rows that
/// their part of a region uses. Regions split it by rows, each as it likes. A handle: copies are the same array, which
/// ends with the last of them when the regions submitted before are done; it must not be used when its runtime is gone,
/// but may be destroyed then. Made by location_model; all functions from any thread.
/// @tparam T  as of tessera::array
template <class T>
class region_array {
 public:
  /// Made by location_model.
  explicit region_array(detail::region_array_handle handle) noexcept : m_handle(std::move(handle)) {}

  const std::string& name() const noexcept { return m_handle.name(); }  ///< for messages
  /// As it was made.
  row_extents extents() const noexcept { return detail::rows_in_elements<T>(m_handle.extents()); }
  /// Name of the location that it is at. Throws tessera::error (usage) where it was moved from, and when the runtime
  /// has ended, as all functions do that need it. @param site for messages
  std::string location(std::source_location site = std::source_location::current()) const {
    return m_handle.location(site);
  }
  /// From now on the array is at another location; regions submitted before are not affected, and nothing is copied
  /// before a region needs it. Throws tessera::error: usage for an unknown one, with the nearest name, and for a
  /// storage location; memory where the location, or one above it, declares less than its arrays would have.
  void move(std::string_view to, std::source_location site = std::source_location::current()) {
    m_handle.move(to, site);
  }

  /// Waits for the regions that write it and shows all of it on the host. Throws the failure of the region that should
  /// have made it; usage inside a task, and where the thread holds a view of the array for which it would wait.
  /// @param site  for messages
  region_host_view<const T> read(std::source_location site = std::source_location::current()) const {
    return part(0, extents().rows).read(site);
  }
  /// The same for overwriting all elements. Waits for the regions that use it.
  region_host_view<T> write(std::source_location site = std::source_location::current()) {
    return part(0, extents().rows).write(site);
  }
  /// The same for changing some. Waits for the regions that use it.
  region_host_view<T> update(std::source_location site = std::source_location::current()) {
    return part(0, extents().rows).update(site);
  }

  /// Rows [first, last), for copies and views. Not checked before it is used.
  region_part<T> part(std::int64_t first, std::int64_t last) const { return {*this, first, last}; }

  const detail::region_array_handle& handle() const noexcept { return m_handle; }  ///< for the runtime

 private:
  detail::region_array_handle m_handle;
};

/// Some rows of an array: what copies name, and what the program looks at without waiting for the others. A handle.
/// @tparam T  as of region_array
template <class T>
class region_part {
 public:
  /// Made by region_array::part; rows [first, last).
  region_part(region_array<T> of, std::int64_t first, std::int64_t last) noexcept
      : m_array(std::move(of)), m_first(first), m_last(last) {}

  const region_array<T>& array() const noexcept { return m_array; }  ///< whose rows they are
  std::int64_t first() const noexcept { return m_first; }            ///< the first row
  std::int64_t last() const noexcept { return m_last; }              ///< the row after the last

  /// As region_array::read, of these rows: waits for the regions that write them, and the view's indices are those
  /// of the whole array. Throws usage also for rows that the array does not have.
  region_host_view<const T> read(std::source_location site = std::source_location::current()) const {
    return {hold(intent::read, site), m_first, m_last, m_array.handle().extents()};
  }
  /// The same for overwriting all of their elements.
  region_host_view<T> write(std::source_location site = std::source_location::current()) {
    return {hold(intent::write, site), m_first, m_last, m_array.handle().extents()};
  }
  /// The same for changing some.
  region_host_view<T> update(std::source_location site = std::source_location::current()) {
    return {hold(intent::update, site), m_first, m_last, m_array.handle().extents()};
  }

 private:
  detail::held_rows hold(intent how, std::source_location site) const {
    return m_array.handle().hold(how, m_first, m_last, site);
  }
  region_array<T> m_array;
  std::int64_t m_first, m_last;
};

}  // namespace tessera
