#include "apps/comd/workload.hpp"

#include <numbers>

namespace tessera::apps::comd {

double partners_of(std::int64_t atoms, const cell_grid& grid, double cutoff) {
  const double density = static_cast<double>(atoms) / (grid.box[0] * grid.box[1] * grid.box[2]);
  return 4.0 / 3 * std::numbers::pi * cutoff * cutoff * cutoff * density;
}

workload comd_workload(const run_size& of) {
  constexpr double number = sizeof(std::int32_t);
  const auto steps = static_cast<double>(of.steps), real = static_cast<double>(of.element),
             atoms = static_cast<double>(of.atoms), all = steps * atoms, vector = 3 * real;
  workload did{atoms * (2 * (number + 2 * vector) + vector + real + number),
               {{"kick", 2 * 3 * vector * all, 2 * 6 * all, 0},
                {"drift", (3 * vector + number) * all, 6 * all, 0},
                {"sort", 2 * (number + 2 * vector) * all, 0, 0},
                {"totals", (vector + real) * atoms * static_cast<double>(of.lines),
                 6 * atoms * static_cast<double>(of.lines), 0}}};
  const double pairs = of.partners * all;
  if (!of.embedded) {
    did.regions.push_back({"forces", (2 * vector + real) * all, 26 * pairs, 0});
    return did;
  }
  did.data += 2 * real * atoms;
  did.regions.push_back({"densities", (vector + real) * all, 19 * pairs, 0});
  did.regions.push_back({"embedding", 3 * real * all, 15 * all, 0});
  did.regions.push_back({"forces", (2 * vector + 3 * real) * all, 42 * pairs, 0});
  return did;
}

}  // namespace tessera::apps::comd
