#include "core/transfer/link_map.hpp"

#include <algorithm>

namespace tessera::transfer {
namespace {

bool ask(const plugin::device& device, tsr_space_ref from, tsr_space_ref to, route& answer) {
  tsr_link_desc link{};
  link.struct_size = sizeof link;
  if (plugin::contained("link", [&] { return device.table().link(device.handle(), from, to, &link); }) != TSR_OK) {
    plugin::take_error_details();
    return false;
  }
  answer = {route_kind::direct, device.index(), link.bandwidth, link.latency * 1e-9};
  return true;
}

/// How a plugin names a space that may belong to another one: foreign host memory is plain host memory.
bool named_for(const plugin::device& device, const memory::space& space, tsr_space_ref& out) {
  if (space.device().plugin_name() == device.plugin_name())
    out = space.reference();
  else if (space.host_visible())
    out = {nullptr, 0};
  else
    return false;
  return true;
}

}  // namespace

link_map::link_map(std::span<const std::unique_ptr<memory::space>> spaces)
    : m_count(spaces.size()),
      m_routes(spaces.size() * spaces.size()),
      m_counters(std::make_unique<link_counters[]>(spaces.size() * spaces.size())) {
  for (const auto& from : spaces) {
    for (const auto& to : spaces) {
      if (from == to) continue;
      route& best = m_routes[from->number() * m_count + to->number()];
      // The destination's device first, then the source's; a host device copies only between host spaces.
      for (const memory::space* side : {to.get(), from.get()}) {
        if (side->host_visible() && !(from->host_visible() && to->host_visible())) continue;
        tsr_space_ref source{}, destination{};
        if (named_for(side->device(), *from, source) && named_for(side->device(), *to, destination) &&
            ask(side->device(), source, destination, best))
          break;
      }
    }
  }
  // Two devices of one plugin without a link: through the ring, if the plugin orders its streams by itself.
  for (const auto& from : spaces) {
    for (const auto& to : spaces) {
      route& here = m_routes[from->number() * m_count + to->number()];
      if (from == to || here.kind != route_kind::none || from->host_visible() || to->host_visible()) continue;
      const plugin::device& a = from->device();
      if (a.plugin_name() != to->device().plugin_name() || !a.has(TSR_DEVICE_DEVICE_WAIT)) continue;
      const memory::space_number stop = stop_between(from->number(), to->number());
      if (stop == memory::no_space) continue;
      const route &up = between(from->number(), stop), &down = between(stop, to->number());
      here = {route_kind::staged, to->device().index(), std::min(up.bandwidth, down.bandwidth),
              up.latency + down.latency};
    }
  }
}

memory::space_number link_map::stop_between(memory::space_number from, memory::space_number to) const noexcept {
  memory::space_number best = memory::no_space;
  double best_seconds = 0;
  for (memory::space_number stop = 0; stop < m_count; ++stop) {
    const route &up = between(from, stop), &down = between(stop, to);
    if (m_closed.has(stop)) continue;
    if (stop == from || stop == to || up.kind != route_kind::direct || down.kind != route_kind::direct) continue;
    const double seconds = up.seconds(1 << 20) + down.seconds(1 << 20);
    if (best == memory::no_space || seconds < best_seconds) best = stop, best_seconds = seconds;
  }
  return best;
}

}  // namespace tessera::transfer
