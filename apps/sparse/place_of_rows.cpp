#include "apps/sparse/place_of_rows.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "core/base/error.hpp"
#include "tessera/machine.hpp"

namespace tessera::apps {
namespace {

/// Whether a place of the statistics belongs to the location. Those of hosts are no locations that one can ask for.
bool belongs(const runtime& rt, const std::string& place, const std::string& at) {
  try {
    return rt.tree().is_ancestor(rt.at(at), rt.at(place));
  } catch (const error&) {
    return false;
  }
}

}  // namespace

void describe_place(report& to, const runtime& rt, const std::string& at) {
  if (at.empty()) return;
  const statistics s = rt.statistics();
  std::uint64_t there = s.graphs.tasks, elsewhere = 0;  // a device's graphs have names of their own
  for (const auto& o : s.operations) {
    if (!std::string_view(o.operation).starts_with("sparse_panel")) continue;
    (belongs(rt, o.place, at) ? there : elsewhere) += o.tasks;
  }
  to.note("tasks_elsewhere", elsewhere);
  if (elsewhere == 0) return;
  to.add("", "elsewhere",
         fmt::format("{} of {} tasks over the rows did not run at {}: their blocks do not fit there, or it was lost; "
                     "--panel with fewer rows or a smaller --block may help",
                     there == 0 ? "all" : std::to_string(elsewhere), there + elsewhere, at),
         nullptr);
}

}  // namespace tessera::apps
