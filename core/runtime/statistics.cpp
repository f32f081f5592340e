#include "tessera/detail/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "core/base/units.hpp"
#include "core/runtime/device_role.hpp"
#include "core/runtime/inside.hpp"
#include "core/runtime/learnt_times.hpp"
#include "core/schedule/operation_table.hpp"

namespace tessera {

namespace {

std::vector<idle_device> idle_devices(const plugin::registry& plugins,
                                      const std::vector<schedule::operation_statistics>& operations) {
  std::vector<idle_device> idle;
  for (const auto& device : plugins.devices()) {
    const tsr_device_class is = device->description().device_class;
    const bool busy = std::ranges::any_of(operations, [&](const auto& row) { return row.place == device->name(); });
    if (busy || is == TSR_DEVICE_STORAGE || (is == TSR_DEVICE_CPU && device->has(TSR_DEVICE_INLINE))) continue;
    idle.push_back({device->name(), to_text(role_of(*device))});
  }
  return idle;
}

}  // namespace

tessera::statistics runtime::statistics() const {
  m_inside->scheduler->require_this_process();
  tessera::statistics s;
  s.tasks_retired = m_inside->scheduler->facts().threads.retired();
  s.tasks_submitted = m_inside->scheduler->facts().threads.submitted();
  s.steals = m_inside->scheduler->facts().threads.steals();
  s.operations = schedule::operation_table(m_inside->operations, m_inside->scheduler->facts().places,
                                           m_inside->scheduler->facts().threads);
  s.graphs = m_inside->scheduler->replays().graphs();
  for (const auto& e : m_inside->scheduler->facts().places)
    if (!e->is_host)
      for (const auto& row : s.operations)
        if (row.place == e->name && row.operation != "graph") s.device_launches += row.tasks;
  s.batches = m_inside->scheduler->facts().drivers.batches();
  s.device_launches += s.graphs.launched - s.graphs.tasks;
  s.device_launches += s.batches.launched - s.batches.tasks;
  s.coherence = m_inside->coherence->statistics();
  s.coherence.versions += m_inside->scheduler->facts().threads.fast_versions();
  transfer::link_map& links = m_inside->coherence->links();
  for (const auto& from : m_inside->spaces) {
    s.spaces.push_back({from->name(), from->statistics()});
    for (const auto& to : m_inside->spaces) {
      const auto& c = links.counters(from->number(), to->number());
      if (c.transfers.load() > 0) s.links.push_back({from->name(), to->name(), c.transfers.load(), c.bytes.load()});
    }
  }
  if (const placement::history* model = m_inside->scheduler->facts().placement.model();
      model != nullptr && m_inside->scheduler->facts().placement.policy() == placement::placement_policy::cost &&
      m_inside->scheduler->facts().places.size() > 1) {
    const std::vector<placement::history_cell> cells = model->cells();
    s.placement = {.trials = model->trials(),
                   .trial_seconds = model->trial_seconds(),
                   .revisions = m_inside->scheduler->facts().placement.estimate_changes(),
                   .moved = m_inside->scheduler->facts().placement.moved(),
                   .sizes = cells.size(),
                   .crossovers = placement::crossovers_of(cells, model->kinds())};
  }
  for (const auto& e : m_inside->scheduler->facts().places)
    if (e->state.load() == placement::place_state::detached) s.devices.detached.push_back(e->name);
  s.devices.placed_elsewhere = m_inside->scheduler->devices().placed_elsewhere();
  s.devices.idle = idle_devices(*m_inside->machine.plugins, s.operations);
  s.trouble = m_inside->coherence->failed_copies().statistics();
  s.losses = m_inside->coherence->losses().statistics();
  const memory::registration_statistics r = m_inside->registrations->statistics();
  s.registered_bytes = r.bytes;
  s.registration_hits = r.hits;
  s.registration_misses = r.misses;
  return s;
}

std::string to_text(const statistics& s) {
  std::string text;
  const auto line = [&]<class... Values>(fmt::format_string<const std::type_identity_t<Values>&...> format,
                                         const Values&... values) {
    fmt::format_to(std::back_inserter(text), format, values...);
  };
  line("tasks        {} submitted, {} retired, {} stolen\n", s.tasks_submitted, s.tasks_retired, s.steals);
  line("{:<16} {:<16} {:>12} {:>12} {:>12}\n", "operation", "location", "tasks", "total", "mean");
  for (const auto& o : s.operations) {
    const double seconds = static_cast<double>(o.nanoseconds) * 1e-9;
    line("{:<16} {:<16} {:>12} {:>12} {:>12}\n", o.operation, o.place, o.tasks,
         o.nanoseconds == 0 ? "-" : format_seconds(seconds),
         o.nanoseconds == 0 ? "-" : format_seconds(seconds / static_cast<double>(o.tasks)));
  }
  if (!s.links.empty()) line("{:<34} {:>11} {:>12}\n", "link", "transfers", "bytes");
  for (const auto& l : s.links)
    line("{:<34} {:>11} {:>12}\n", l.from + " -> " + l.to, l.transfers, format_bytes(static_cast<double>(l.bytes)));
  line("{:<20} {:>10} {:>10} {:>10} {:>10} {:>7} {:>12} {:>9} {:>10}\n", "space", "used", "peak", "reserved", "limit",
       "slabs", "allocations", "pool hits", "evictions");
  for (const auto& [name, is] : s.spaces)
    line("{:<20} {:>10} {:>10} {:>10} {:>10} {:>7} {:>12} {:>8.0f}% {:>10}\n", name,
         format_bytes(static_cast<double>(is.used_bytes)), format_bytes(static_cast<double>(is.peak_bytes)),
         format_bytes(static_cast<double>(is.reserved_bytes)),
         is.limit_bytes == ~std::uint64_t{0} ? "-" : format_bytes(static_cast<double>(is.limit_bytes)), is.slabs,
         is.allocations,
         is.allocations == 0 ? 0.0 : 100.0 * static_cast<double>(is.reuses) / static_cast<double>(is.allocations),
         is.evictions);
  line("versions     {} committed\n", s.coherence.versions);
  line("fetches      {} saved by write intents ({}), {} joined a transfer under way\n", s.coherence.saved_fetches,
       format_bytes(static_cast<double>(s.coherence.saved_bytes)), s.coherence.joined);
  line("evictions    {} dropped, {} written back, {} copied ahead\n", s.coherence.dropped, s.coherence.written_back,
       s.coherence.written_ahead);
  if (s.graphs.captured + s.graphs.one_by_one > 0)
    line("graphs       {} captured ({} again), {} launches for {} tasks, {} times one by one; {} launches in all\n",
         s.graphs.captured, s.graphs.recaptured, s.graphs.launched, s.graphs.tasks, s.graphs.one_by_one,
         s.device_launches);
  if (s.batches.launched > 0)
    line("batches      {} launches for {} tasks; {} launches in all\n", s.batches.launched, s.batches.tasks,
         s.device_launches);
  if (s.placement) {
    line("placement    {} trials ({}), {} revisions, {} moved, {} sizes known\n", s.placement->trials,
         format_seconds(s.placement->trial_seconds), s.placement->revisions, s.placement->moved, s.placement->sizes);
    text += to_text(s.placement->crossovers);
  }
  if (!s.devices.detached.empty() || s.devices.placed_elsewhere > 0)
    line("devices      {} detached{}{}, {} tasks placed elsewhere\n", s.devices.detached.size(),
         s.devices.detached.empty() ? "" : ": ", fmt::to_string(fmt::join(s.devices.detached, " ")),
         s.devices.placed_elsewhere);
  for (const idle_device& one : s.devices.idle) line("no tasks     {}: {}\n", one.name, one.reason);
  if (s.trouble.failed_copies > 0)
    line("trouble      {} copies failed, {} tried again\n", s.trouble.failed_copies, s.trouble.retried_copies);
  if (s.losses.devices > 0) line("losses       {} devices, {} blocks with them\n", s.losses.devices, s.losses.blocks);
  if (s.registration_hits + s.registration_misses > 0)
    line("registration {} hits, {} misses, {} kept\n", s.registration_hits, s.registration_misses,
         format_bytes(static_cast<double>(s.registered_bytes)));
  return text;
}

}  // namespace tessera
