#pragma once
// Links between devices, from the plugins' own answers.
#include <vector>

#include "core/runtime/machine.hpp"
#include "hierarchy/draw/draw.hpp"

namespace tessera::hierarchy {

/// Every ordered pair of devices of one plugin that copy between each other past the host (link class PEER), as far as
/// both have a place in the tree.
std::vector<peer_link> peer_links(const machine& m);

}  // namespace tessera::hierarchy
