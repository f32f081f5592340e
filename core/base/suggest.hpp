#pragma once
// "Did you mean ...?"
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// The candidate with the smallest edit distance to `name` (adjacent transpositions count one), or "" when none is
/// near (more than a third of the longer name differs). Ties: the first.
std::string suggest(std::string_view name, std::span<const std::string> candidates);

/// The candidates by their edit distance to `name`, the nearest first; those of one distance in their order.
std::vector<std::string> nearest_first(std::string_view name, std::vector<std::string> candidates);

}  // namespace tessera
