#include "hierarchy/region/place.hpp"

#include <fmt/format.h>

#include <vector>

#include "core/base/error.hpp"

namespace tessera::hierarchy {
namespace {

using location::node_id;

const std::string& name_of(const location::tree& tree, node_id id) { return tree.at(id).properties.name; }

[[noreturn]] void refuse_unreachable(const location::tree& tree, const placed_array& array, node_id at,
                                     const std::string& region) {
  throw error(
      error_kind::usage,
      fmt::format("array '{}' is at '{}', and cannot be used at '{}'", array.name, name_of(tree, array.at),
                  name_of(tree, at)),
      "region " + region,
      fmt::format("an array is accessible at its location and below: move it to '{}', or run the region at '{}' "
                  "or below",
                  name_of(tree, tree.common_ancestor(array.at, at)), name_of(tree, array.at)));
}

[[noreturn]] void refuse_siblings(const location::tree& tree, std::span<const placed_array> arrays,
                                  const std::string& region) {
  node_id common = arrays.front().at;
  std::string places;
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    common = tree.common_ancestor(common, arrays[k].at);
    places += fmt::format("{}'{}' at '{}'",
                          k == 0                   ? ""
                          : k + 1 == arrays.size() ? " and "
                                                   : ", ",
                          arrays[k].name, name_of(tree, arrays[k].at));
  }
  throw error(error_kind::usage, fmt::format("no location can use its arrays together: {}", places), "region " + region,
              fmt::format("place one of them higher (at '{}'), or move them to one location", name_of(tree, common)));
}

}  // namespace

node_id place_of_region(const location::tree& tree, std::span<const placed_array> arrays, std::optional<node_id> at,
                        const std::string& region) {
  if (at) {
    for (const placed_array& a : arrays)
      if (!tree.is_ancestor(a.at, *at)) refuse_unreachable(tree, a, *at, region);
    return *at;
  }
  if (arrays.empty()) return tree.root();
  std::vector<node_id> locations;
  for (const placed_array& a : arrays) locations.push_back(a.at);
  const std::optional<node_id> found = tree.most_common_descendant(locations);
  if (!found) refuse_siblings(tree, arrays, region);
  return *found;
}

node_id location_around(const location::tree& tree, std::span<const node_id> leaves, node_id otherwise) {
  if (leaves.empty()) return otherwise;
  node_id around = leaves.front();
  for (const node_id leaf : leaves.subspan(1)) around = tree.common_ancestor(around, leaf);
  return around;
}

node_id ancestor_of(const location::tree& tree, node_id at, std::uint32_t n) {
  for (; n > 0 && at != tree.root(); --n) at = tree.at(at).parent;
  return at;
}

node_id memory_above(const location::tree& tree, node_id at) {
  while (tree.at(at).properties.kind == location::kind::storage) at = tree.at(at).parent;  // the root never is
  return at;
}

}  // namespace tessera::hierarchy
