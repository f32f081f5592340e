#pragma once
// A location tree to look at.
#include <functional>
#include <string>
#include <vector>

#include "core/location/tree.hpp"

namespace tessera::hierarchy {

/// A way between two devices that passes the host by, in one direction. A tree has no place for it.
struct peer_link {
  location::node_id from = location::no_node, to = location::no_node;
  double bandwidth = 0;   ///< bytes per second; 0: unknown
  double latency_ns = 0;  ///< of one small copy; 0: unknown
};

/// What to draw.
struct drawing {
  location::node_id from = 0;  ///< the subtree; branches that are detached are listed when it is the root
  /// A line of text for a location, for example what is allocated there; "" for none. May be empty.
  std::function<std::string(location::node_id)> note = {};
  std::vector<peer_link> peers = {};  ///< listed behind the tree; in a picture with the devices they start from
};

/// Indented, one line per location, then one per peer link (one for both directions where they are alike); more than
/// four like cores side by side share a line.
std::string to_text(const location::tree& tree, const drawing& what = {});

/// An object per location: name, kind, type, and where known memory_bytes, space {device, space}, device, cpus,
/// bandwidth (bytes per second to the parent), latency_ns, numa_node, pci_address, note; children; at the top also
/// detached, a list of branches, and peer_links, a list of objects with from, to, bandwidth, latency_ns. Ends with a
/// newline.
std::string to_json(const location::tree& tree, const drawing& what = {});

/// For Graphviz.
std::string to_dot(const location::tree& tree, const drawing& what = {});

/// Nested boxes with name, type, memory, CPUs and links, and a legend. Boxes carry the path as a tooltip.
std::string to_svg(const location::tree& tree, const drawing& what = {});

}  // namespace tessera::hierarchy
