#pragma once
// What the body of a region gets for its uses: without types in the region's call, with them in its tasks.
#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "tessera/detail/region_code.hpp"
#include "tessera/detail/region_result.hpp"
#include "tessera/detail/region_use.hpp"

namespace tessera::detail {

template <class T>
inline constexpr bool is_region_use = false;
template <class T>
inline constexpr bool is_region_use<region_use<T>> = true;
template <class T>
inline constexpr bool is_region_reduction = false;
template <class T, class Join>
inline constexpr bool is_region_reduction<region_reduction<T, Join>> = true;

template <class T>
region_demand demand_of(const region_use<T>& u) {
  return {u.array.get(), nullptr, u.intent, u.pattern, reduction_kind::none};
}
template <class T, class Join>
region_demand demand_of(const region_reduction<T, Join>& r) {
  return {nullptr, r.result.get(), intent::write, {}, Join::kind};
}

/// Partial results that a loop fills in turn, so that its additions do not wait for each other.
inline constexpr std::int64_t reduction_ways = 8;

/// An array as one task sees it: rows that lie one after the other. Where they do not, in the memory of a host that is
/// not their home or in the copies of validation, they are gathered first, and what is written is spread again.
template <class T>
class piece_argument {
 public:
  piece_argument(task_blocks& blocks, const region_operand& operand, const row_extents& extents)
      : m_view(find(blocks, operand), operand.row, extents) {}
  region_view<T> get(std::int64_t) noexcept { return m_view; }
  void end() noexcept {
    if constexpr (!std::is_const_v<T>) {
      auto from = m_gathered.cbegin();
      for (const view<T, any_rank>& part : m_parts) {
        std::copy_n(from, part.size(), part.begin());
        from += part.size();
      }
    }
  }

 private:
  T* find(task_blocks& blocks, const region_operand& operand) {
    if (operand.count == 0) return nullptr;
    const view<T, any_rank> first = blocks.get<T>(operand.first);
    T* after = first.data() + first.size();
    bool together = true;
    std::int64_t elements = first.size();
    for (std::uint32_t k = 1; k < operand.count; ++k) {
      const view<T, any_rank> next = blocks.get<T>(operand.first + k);
      together = together && next.data() == after;
      after = next.data() + next.size();
      elements += next.size();
    }
    if (together) return first.data();
    m_gathered.reserve(static_cast<std::size_t>(elements));
    for (std::uint32_t k = 0; k < operand.count; ++k) {
      const view<T, any_rank> part = blocks.get<T>(operand.first + k);
      m_gathered.insert(m_gathered.end(), part.begin(), part.end());
      if constexpr (!std::is_const_v<T>) m_parts.push_back(part);
    }
    return m_gathered.data();
  }
  std::vector<std::remove_const_t<T>> m_gathered;
  std::vector<view<T, any_rank>> m_parts;  // of what is written, when it is gathered
  region_view<T> m_view;
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
    std::fill(m_result.begin(), m_result.end(), Join::template identity<T>());
    m_result[0] = m_parts[0];
  }

 private:
  view<T> m_result;  // of a part that a device may fill, more than one element
  std::array<T, static_cast<std::size_t>(reduction_ways)> m_parts;
};

template <class Use>
struct piece_argument_of;
template <class T>
struct piece_argument_of<region_use<T>> {
  using type = piece_argument<T>;
};
template <class T, class Join>
struct piece_argument_of<region_reduction<T, Join>> {
  using type = piece_reduction<T, Join>;
};

}  // namespace tessera::detail
