#pragma once
// A block's elements as a task or the program sees them on the host.
#include <cstdint>

#include "core/block/shape.hpp"

namespace tessera {

/// Dense elements, first index fastest. Does not own; valid while the task runs or the host_view lives.
/// @tparam T  element type; const for blocks that are only read
template <class T>
class view {
 public:
  /// Over the elements at `data`; both arguments must outlive the view.
  view(T* data, const shape& extents) noexcept : m_data(data), m_extents(&extents) {}

  T* data() const noexcept { return m_data; }  ///< the first element; aligned to 256 bytes unless adopted
  std::int64_t size() const noexcept { return m_extents->count(); }  ///< elements
  std::size_t rank() const noexcept { return m_extents->rank(); }    ///< dimensions
  /// Extent of a dimension; 1 beyond the rank.
  std::int64_t extent(std::size_t dimension) const noexcept {
    return dimension < m_extents->rank() ? (*m_extents)[dimension] : 1;
  }
  T* begin() const noexcept { return m_data; }         ///< all elements in the order of memory
  T* end() const noexcept { return m_data + size(); }  ///< behind the last element
  /// By position in memory. Not checked.
  T& operator[](std::int64_t position) const noexcept { return m_data[position]; }
  /// By indices, 0-based, as many as the rank. Not checked.
  template <class... Index>
  T& operator()(Index... index) const noexcept {
    const std::int64_t at[] = {static_cast<std::int64_t>(index)...};
    std::int64_t position = 0;
    for (std::size_t d = sizeof...(Index); d-- > 0;) position = position * extent(d) + at[d];
    return m_data[position];
  }

 private:
  T* m_data;
  const shape* m_extents;
};

}  // namespace tessera
