#pragma once
// Sets of intervals of time, one set for each place.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/trace/timeline.hpp"

namespace tessera::trace {

/// Unions of intervals that answer how much of a span they cover. Added first, settled once, asked then.
class interval_sets {
 public:
  void add(std::uint32_t set, nanoseconds begin, nanoseconds end) {
    if (end <= begin) return;
    if (m_sets.size() <= set) m_sets.resize(set + 1);
    m_sets[set].push_back({begin, end, 0});
  }
  /// Joins what overlaps, so that the intervals of a set are in order and apart.
  void settle() {
    for (auto& all : m_sets) {
      std::ranges::sort(all, {}, &interval::begin);
      std::size_t kept = 0;
      for (const interval& one : all)
        if (kept != 0 && one.begin <= all[kept - 1].end)
          all[kept - 1].end = std::max(all[kept - 1].end, one.end);
        else
          all[kept++] = one;
      all.resize(kept);
      nanoseconds sum = 0;
      for (interval& one : all) one.before = std::exchange(sum, sum + one.end - one.begin);
    }
  }
  /// Length of the part of [begin, end) that a set covers.
  nanoseconds overlap(std::uint32_t set, nanoseconds begin, nanoseconds end) const {
    return set < m_sets.size() && begin < end ? covered_until(m_sets[set], end) - covered_until(m_sets[set], begin) : 0;
  }

 private:
  struct interval {
    nanoseconds begin, end, before;  ///< `before`: length of those in front
  };
  static nanoseconds covered_until(const std::vector<interval>& all, nanoseconds time) {
    const auto next = std::ranges::upper_bound(all, time, {}, &interval::begin);
    if (next == all.begin()) return 0;
    const interval& last = *(next - 1);
    return last.before + std::min(time, last.end) - last.begin;
  }
  std::vector<std::vector<interval>> m_sets;
};

}  // namespace tessera::trace
