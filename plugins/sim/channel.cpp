#include "plugins/sim/channel.hpp"

#include <algorithm>

namespace tessera::sim {

std::uint64_t channel::lane::first_gap(std::uint64_t earliest, std::uint64_t duration) const {
  auto time = std::max(earliest, floor);
  auto next = taken.upper_bound(time);
  if (next != taken.begin()) time = std::max(time, std::prev(next)->second);
  for (; next != taken.end() && next->first < time + duration; ++next) time = next->second;
  return time;
}

void channel::lane::take(std::uint64_t begin, std::uint64_t duration) {
  constexpr std::size_t kept = 4096;  // spans; the oldest are forgotten, with the gaps between them
  auto end = begin + duration;
  if (const auto next = taken.find(end); next != taken.end()) {
    end = next->second;
    taken.erase(next);
  }
  const auto after = taken.upper_bound(begin);
  if (after != taken.begin() && std::prev(after)->second == begin)
    std::prev(after)->second = end;
  else
    taken.emplace_hint(after, begin, end);
  if (taken.size() > kept) {
    floor = taken.begin()->second;
    taken.erase(taken.begin());
  }
}

std::uint64_t channel::reserve(std::uint64_t earliest, std::uint64_t duration) {
  if (duration == 0) return earliest;
  const std::lock_guard lock(m_mutex);
  lane* best = nullptr;
  std::uint64_t begin = 0;
  for (auto& one : m_lanes) {
    const auto candidate = one.first_gap(earliest, duration);
    if (best == nullptr || candidate < begin) {
      best = &one;
      begin = candidate;
    }
  }
  best->take(begin, duration);
  return begin;
}

}  // namespace tessera::sim
