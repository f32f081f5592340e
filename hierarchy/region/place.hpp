#pragma once
// (locations of a region's arrays) -> the location where it runs. Pure.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/location/tree.hpp"

namespace tessera::hierarchy {

/// An array of a region, and where it is.
struct placed_array {
  std::string_view name;
  location::node_id at = location::no_node;
};

/// The deepest of the arrays' locations, provided all lie on one path to the root; the root when there is none; or `at`
/// where it is given. Throws tessera::error (usage) when they do not lie on one path, and when `at` is not at or below
/// each array's location: an array is accessible there alone. @param region  for messages
location::node_id place_of_region(const location::tree& tree, std::span<const placed_array> arrays,
                                  std::optional<location::node_id> at, const std::string& region);

/// The deepest location that has all of these below it, or is the one of them; `otherwise` when there is none.
location::node_id location_around(const location::tree& tree, std::span<const location::node_id> leaves,
                                  location::node_id otherwise);

/// The n-th ancestor of a location; the root where there are fewer.
location::node_id ancestor_of(const location::tree& tree, location::node_id at, std::uint32_t n);

/// The location, or the nearest one above it that is no storage location: where an array is that is no file of one.
location::node_id memory_above(const location::tree& tree, location::node_id at);

}  // namespace tessera::hierarchy
