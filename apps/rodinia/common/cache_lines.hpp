#pragma once
// Where a loop over a row begins a line of the cache.
#include <algorithm>
#include <cstdint>

namespace tessera::apps::rodinia {

/// The first index of [from, to) at which a line of the cache begins, else `to`, or `from` where that is behind it. A
/// loop that vectors do element by element from there on touches one line per access of this row, and of those that lie
/// alike; begun elsewhere, each access of a vector as long as a line touches two.
template <class T>
std::int64_t first_of_line(const T* row, std::int64_t from, std::int64_t to) {
  constexpr std::int64_t line = 64, size = sizeof(T);
  if (from >= to) return from;
  const auto behind = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(row + from) % line);
  return std::min(from + (line - behind) % line / size, to);
}

}  // namespace tessera::apps::rodinia
