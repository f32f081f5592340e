#include "core/runtime/learnt_rates.hpp"

#include <ranges>
#include <utility>

#include "core/placement/history_file.hpp"
#include "core/placement/region_rates.hpp"

namespace tessera {

std::vector<learnt_rate> read_learnt_rates(const machine& m) {
  const std::vector<std::string> lines = placement::machine_lines(m.plugins->devices());
  const auto file = placement::history_path(m.settings.history, placement::signature_of(lines));
  std::vector<learnt_rate> rates;
  if (file.empty()) return rates;
  for (placement::program_rates& of : placement::read_region_rates(file, lines))
    for (placement::region_rate& r : std::views::reverse(of.rates))
      rates.push_back({of.program, std::move(r.region), std::move(r.leaf), r.iterations_per_second, r.fixed_seconds});
  return rates;
}

}  // namespace tessera
