#include <nlohmann/json.hpp>

#include "hierarchy/draw/draw.hpp"
#include "hierarchy/draw/facts.hpp"

namespace tessera::hierarchy {
namespace {

nlohmann::ordered_json object_of(const location::tree& tree, location::node_id id, const drawing& what) {
  const location::node& n = tree.at(id);
  const location::properties& is = n.properties;
  nlohmann::ordered_json o;
  o["name"] = is.name;
  o["kind"] = std::string(location::name_of(is.kind));
  o["type"] = is.type;
  if (is.memory_bytes != 0) o["memory_bytes"] = is.memory_bytes;
  if (is.space) o["space"] = {{"device", is.space->device}, {"space", is.space->space}};
  if (is.device) o["device"] = *is.device;
  if (!is.cpus.empty()) o["cpus"] = is.cpus;
  if (is.bandwidth > 0) o["bandwidth"] = is.bandwidth;
  if (is.latency_ns > 0) o["latency_ns"] = is.latency_ns;
  if (is.numa_node >= 0) o["numa_node"] = is.numa_node;
  if (!is.pci_address.empty()) o["pci_address"] = is.pci_address;
  if (what.note)
    if (std::string note = what.note(id); !note.empty()) o["note"] = std::move(note);
  o["children"] = nlohmann::ordered_json::array();
  for (const location::node_id child : n.children) o["children"].push_back(object_of(tree, child, what));
  return o;
}

}  // namespace

std::string to_json(const location::tree& tree, const drawing& what) {
  nlohmann::ordered_json top = object_of(tree, what.from, what);
  if (what.from == tree.root()) {
    top["detached"] = nlohmann::ordered_json::array();
    for (const location::node_id head : detached_heads(tree)) top["detached"].push_back(object_of(tree, head, what));
  }
  top["peer_links"] = nlohmann::ordered_json::array();
  for (const peer_link& link : what.peers)
    top["peer_links"].push_back({{"from", tree.at(link.from).properties.name},
                                 {"to", tree.at(link.to).properties.name},
                                 {"bandwidth", link.bandwidth},
                                 {"latency_ns", link.latency_ns}});
  // Names come from drivers and files: text that is not UTF-8 is replaced, not thrown at the user.
  return top.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace tessera::hierarchy
