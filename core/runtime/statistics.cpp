#include "core/runtime/statistics.hpp"

#include <fmt/format.h>

#include <type_traits>

#include "core/base/units.hpp"
#include "core/runtime/learnt_times.hpp"

namespace tessera {

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
  if (s.trouble.failed_copies > 0)
    line("trouble      {} copies failed, {} tried again\n", s.trouble.failed_copies, s.trouble.retried_copies);
  if (s.losses.devices > 0) line("losses       {} devices, {} blocks with them\n", s.losses.devices, s.losses.blocks);
  if (s.registration_hits + s.registration_misses > 0)
    line("registration {} hits, {} misses, {} kept\n", s.registration_hits, s.registration_misses,
         format_bytes(static_cast<double>(s.registered_bytes)));
  return text;
}

}  // namespace tessera
