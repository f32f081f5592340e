#include "apps/comd/verification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/comd/units.hpp"

namespace tessera::apps::comd {
namespace {

/// The largest of the numbers; infinity where one is none.
class largest {
 public:
  void add(double v) {
    m_value = std::isnan(v) ? std::numeric_limits<double>::infinity() : std::max(m_value, std::abs(v));
  }
  double value() const { return m_value; }

 private:
  double m_value = 0;
};

double largest_component(std::span<const vector3> of) {
  largest found;
  for (const vector3& v : of)
    for (const double component : v) found.add(component);
  return found.value();
}

bool is_cube(const crystal& c) { return c.size[0] == c.size[1] && c.size[1] == c.size[2]; }

/// Whether this is the run whose energies are known.
bool is_known(const experiment& e) {
  const lennard_jones standard;
  const auto* const by = std::get_if<lennard_jones>(&e.of.acts);
  return by != nullptr && by->epsilon == standard.epsilon && !e.single && e.seed == 1 && e.kelvin == 600 && e.dt == 1 &&
         is_cube(e.start);
}

}  // namespace

void check_start(application_run& to, const experiment& e, const totals& seen, std::span<const vector3> forces) {
  const auto atoms = static_cast<double>(e.start.atoms());
  to.check("potential energy of the lattice, against the sum over its sites",
           relative_error(seen.potential / atoms, lattice_energy(e.of.acts, e.of.lattice_constant)),
           e.single ? 2e-5 : 1e-10);
  to.check("kinetic energy at the start, against the temperature",
           relative_error(seen.kinetic / atoms, thermal_energy(e.kelvin)), e.single ? 1e-5 : 1e-12);
  // Coordinates are as exact as the box is large.
  const vector3 edges = e.start.box();
  const double box = *std::ranges::max_element(edges);
  to.check("largest force in the perfect lattice", largest_component(forces),
           (e.single ? 1e-3 : 1e-12) * std::max(1.0, box / 100));
}

void check_run(application_run& to, const experiment& e, std::span<const measurement> rows) {
  largest change, momentum;
  const auto atoms = static_cast<double>(e.start.atoms());
  const double first = rows.front().all.energy();
  bool complete = true;
  for (const measurement& row : rows) {
    change.add((row.all.energy() - first) / first);
    for (const double p : row.all.momentum) momentum.add(p / atoms);
    complete = complete && row.all.atoms == e.start.atoms();
  }
  // The error of the method grows with the square of the step, and with how far the atoms swing.
  const double scale = std::max(0.01, e.kelvin / 600) * e.dt * e.dt, rounding = e.single ? 2e-5 : 1e-12;
  to.check("largest change of the total energy, relative", change.value(), 5e-5 * scale + rounding);
  if (rows.back().step >= 100)  // before, half of the kinetic energy is on its way to the potential one
    to.check("change of the total energy from the start to the end, relative",
             relative_error(rows.back().all.energy(), first), 2e-5 * scale + rounding);
  to.check("momentum of all atoms, per atom", momentum.value(), e.single ? 1e-3 : 1e-10);
  to.check("all atoms are there", complete);
  if (!is_known(e)) return;
  for (const measurement& row : rows) {
    const auto known = known_lennard_jones(e.start.size[0], row.step);
    if (!known) continue;
    to.check(fmt::format("total energy per atom after {} steps, against the known one", row.step),
             std::abs(row.all.energy() / atoms - known->total), 1e-9);
    to.check(fmt::format("potential energy per atom after {} steps, against the known one", row.step),
             std::abs(row.all.potential / atoms - known->potential), 1e-9);
  }
}

void check_end(application_run& to, const experiment& e, const totals& seen, std::span<const vector3> positions,
               std::span<const vector3> forces) {
  constexpr std::int64_t few = 8000;
  if (e.start.atoms() > few) return;
  const all_pairs expected = sum_over_all_pairs(e.of.acts, e.start.box(), positions);
  to.check("potential energy at the end, against the sum over all pairs",
           relative_error(seen.potential, expected.energy), e.single ? 2e-5 : 1e-10);
  largest difference;
  for (std::size_t k = 0; k < forces.size(); ++k)
    for (std::size_t a = 0; a < 3; ++a) difference.add(forces[k][a] - expected.forces[k][a]);
  to.check("forces at the end, against the sums over all pairs", difference.value(),
           (e.single ? 1e-3 : 1e-10) * std::max(1.0, largest_component(expected.forces)));
}

}  // namespace tessera::apps::comd
