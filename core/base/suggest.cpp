#include "core/base/suggest.hpp"

#include <algorithm>
#include <vector>

namespace tessera {
namespace {

// Optimal string alignment distance (Damerau-Levenshtein without repeated edits of a substring).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

}  // namespace

std::string suggest(std::string_view name, std::span<const std::string> candidates) {
  std::string best;
  std::size_t best_distance = static_cast<std::size_t>(-1);
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    const std::size_t longest = std::max(name.size(), candidate.size());
    if (distance < best_distance && distance * 3 <= std::max<std::size_t>(longest, 3))
      best = candidate, best_distance = distance;
  }
  return best;
}

std::vector<std::string> nearest_first(std::string_view name, std::vector<std::string> candidates) {
  std::ranges::stable_sort(candidates, {}, [&](const std::string& one) { return edit_distance(name, one); });
  return candidates;
}

}  // namespace tessera
