#pragma once
// What the body of a region gets for its uses: without types in the region's call, with them in its tasks.
#include <array>
#include <cstdint>
#include <type_traits>

#include "tessera/detail/region_code.hpp"
#include "tessera/detail/region_result.hpp"
#include "tessera/detail/region_use.hpp"
#include "tessera/detail/rows_task.hpp"

namespace tessera::detail {

template <class T>
inline constexpr bool is_region_use = false;
template <class T, std::size_t Rank>
inline constexpr bool is_region_use<region_use<T, Rank>> = true;
template <class T>
inline constexpr bool is_region_reduction = false;
template <class T, class Join>
inline constexpr bool is_region_reduction<region_reduction<T, Join>> = true;

template <class T, std::size_t Rank>
region_demand demand_of(const region_use<T, Rank>& u) {
  return {u.array.get(), nullptr, u.intent, u.pattern, reduction_kind::none};
}
template <class T, class Join>
region_demand demand_of(const region_reduction<T, Join>& r) {
  return {nullptr, r.result.get(), intent::write, {}, Join::kind};
}

/// Partial results that a loop fills in turn, so that its additions do not wait for each other.
inline constexpr std::int64_t reduction_ways = 8;

/// An array as one task sees it.
template <class T, std::size_t Rank>
class piece_argument {
 public:
  piece_argument(task_blocks& blocks, const region_operand& operand, const row_extents& extents)
      : m_rows(blocks, operand), m_view(m_rows.data(), operand.row, extents) {}
  rows_view<T, Rank> get(std::int64_t) noexcept { return m_view; }
  void end() noexcept { m_rows.end(); }

 private:
  gathered_rows<T> m_rows;
  rows_view<T, Rank> m_view;
};

/// A reduction as one task sees it.
template <class T, class Join>
class piece_reduction {
 public:
  piece_reduction(task_blocks& blocks, const region_operand& operand, const row_extents&)
      : m_result(blocks.get<T, 1>(operand.first)) {
    m_parts.fill(Join::template identity<T>());
  }
  T& get(std::int64_t way) noexcept { return m_parts[static_cast<std::size_t>(way)]; }
  void end() noexcept {
    for (std::size_t k = 1; k < m_parts.size(); ++k) Join::join(m_parts[0], m_parts[k]);
    for (T& element : m_result) element = Join::template identity<T>();
    m_result[0] = m_parts[0];
  }

 private:
  view<T> m_result;  // of a part that a device may fill, more than one element
  std::array<T, static_cast<std::size_t>(reduction_ways)> m_parts;
};

template <class Use>
struct piece_argument_of;
template <class T, std::size_t Rank>
struct piece_argument_of<region_use<T, Rank>> {
  using type = piece_argument<T, Rank>;
};
template <class T, class Join>
struct piece_argument_of<region_reduction<T, Join>> {
  using type = piece_reduction<T, Join>;
};

}  // namespace tessera::detail
