#pragma once
// "Did you mean ...?"
#include <span>
#include <string>
#include <string_view>

namespace tessera {

/// The candidate with the smallest edit distance to `name` (adjacent transpositions count one), or "" when none is
/// near (more than a third of the longer name differs). Ties: the first.
std::string suggest(std::string_view name, std::span<const std::string> candidates);

}  // namespace tessera
