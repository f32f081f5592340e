#pragma once
// What is to say of a location while a program runs: the arrays that are placed there, and its shares of regions.
#include <span>
#include <string>

#include "core/location/tree.hpp"
#include "hierarchy/region/live_tree.hpp"
#include "tessera/region.hpp"

namespace tessera::hierarchy {

/// The tree in one of its forms: each location with the arrays that are placed there ("x 80 MB") and, where it got
/// iterations of the regions' last launches, its shares ("triad 50 %"). Arrays and regions of more than four are
/// counted.
std::string picture(const location::tree& tree, std::span<const located_array> arrays,
                    std::span<const region_row> regions, tree_form form);

}  // namespace tessera::hierarchy
