#include "apps/sparse/moved_bytes.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/units.hpp"

namespace tessera::apps {

void describe_moved(report& to, const sparse::loop_outcome& loop) {
  if (loop.iterations == 0 || loop.moved.empty()) return;
  auto rows = nlohmann::ordered_json::array();
  for (const sparse::link_bytes& link : loop.moved) {
    const double each = static_cast<double>(link.bytes) / loop.iterations;
    to.add("", "moved", fmt::format("{} per iteration from {} to {}", format_bytes(each), link.from, link.to), nullptr);
    rows.push_back({{"from", link.from}, {"to", link.to}, {"bytes_per_iteration", each}});
  }
  to.note("moved", rows);
}

}  // namespace tessera::apps
