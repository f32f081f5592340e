#include "hierarchy/machine/peers.hpp"

#include <map>

#include "hierarchy/discovery/devices.hpp"

namespace tessera::hierarchy {

std::vector<peer_link> peer_links(const machine& m) {
  std::map<std::uint32_t, location::node_id> places;  // of devices, by their own memory
  for (const location::node_id id : m.tree.subtree(m.tree.root()))
    if (const location::properties& is = m.tree.at(id).properties; is.kind == location::kind::worker && is.space)
      places.emplace(is.space->device, id);
  std::vector<peer_link> links;
  const std::vector<found_device> devices = devices_of(*m.plugins);
  for (const found_device& from : devices)
    for (const found_device& to : devices) {
      if (&from == &to || from.plugin != to.plugin || !places.contains(from.index) || !places.contains(to.index))
        continue;
      if (from.own_space() == nullptr || to.own_space() == nullptr) continue;
      const plugin::device& source = *m.plugins->devices()[from.index];
      const plugin::device& asked = *m.plugins->devices()[to.index];
      tsr_link_desc link{};
      link.struct_size = sizeof link;
      const tsr_status status = plugin::contained("link", [&] {
        return asked.table().link(asked.handle(), {source.handle(), from.own_space()->index},
                                  {asked.handle(), to.own_space()->index}, &link);
      });
      if (status != TSR_OK)
        plugin::take_error_details();  // no way past the host: a fact, not a failure
      else if (link.link_class == TSR_LINK_PEER)
        links.push_back({places.at(from.index), places.at(to.index), link.bandwidth, link.latency});
    }
  return links;
}

}  // namespace tessera::hierarchy
