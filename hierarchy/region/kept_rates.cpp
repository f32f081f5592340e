#include "hierarchy/region/kept_rates.hpp"

#include <fmt/format.h>

#include "core/placement/history_file.hpp"
#include "core/runtime/machine.hpp"
#include "core/runtime/program_side.hpp"

namespace tessera::hierarchy {

kept_rates::kept_rates(runtime& of) : m_runtime(of) {
  const machine& on = program_side_of(of).machine;
  if (on.simulated != nullptr) return;
  m_machine = placement::machine_lines(on.plugins->devices());
  m_file = placement::history_path(on.settings.history, placement::signature_of(m_machine));
  if (m_file.empty()) return;
  for (placement::region_rate& r : placement::read_region_rates(m_file, m_machine, m_program))
    m_costs[{std::move(r.region), std::move(r.leaf)}] = {r.fixed_seconds, 1 / r.iterations_per_second};
}

leaf_cost kept_rates::cost(std::string_view region, std::string_view leaf) const {
  const auto found = m_costs.find({placement::kept_name(region), placement::kept_name(leaf)});
  return found != m_costs.end() ? found->second : leaf_cost{};
}

void kept_rates::keep(const std::vector<placement::region_rate>& rates) const noexcept {
  if (m_file.empty() || rates.empty()) return;
  try {
    if (const std::string why = placement::write_region_rates(m_file, m_machine, m_program, rates); !why.empty())
      say(program_side_of(m_runtime).machine.log, 1,
          fmt::format("what regions learnt cannot be written to {}: {}", m_file.string(), why));
  } catch (const std::exception& e) {  // out of memory, a log that throws: what was learnt is not worth more
    std::fprintf(stderr, "tessera: what regions learnt is lost: %s\n", e.what());
  }
}

}  // namespace tessera::hierarchy
