#include "core/runtime/learnt_rates.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/placement/history_file.hpp"

namespace tessera {

std::vector<learnt_rate> read_learnt_rates(const machine& m) {
  const std::vector<std::string> lines = placement::machine_lines(m.plugins->devices());
  const auto file = placement::history_path(m.settings.history, placement::signature_of(lines));
  std::vector<learnt_rate> rates;
  if (file.empty()) return rates;
  for (placement::region_rate& r : placement::read_region_rates(file, lines))
    rates.push_back({std::move(r.region), std::move(r.leaf), r.iterations_per_second, r.fixed_seconds});
  std::ranges::sort(rates, {}, [](const learnt_rate& r) { return std::tie(r.region, r.location); });
  return rates;
}

}  // namespace tessera
