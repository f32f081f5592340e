// Molecular dynamics of apps/comd: time per atom and step. The peer is comd_openmp.cpp.
#include "apps/comd/reference.hpp"
#include "apps/comd/simulation.hpp"
#include "apps/comd/units.hpp"
#include "bench/common/measure.hpp"
#include "tessera/region.hpp"
#include "tessera/tessera.hpp"

using namespace bench;
using namespace tessera;
using namespace tessera::apps::comd;

namespace {

constexpr double mass = copper_mass * atomic_mass_unit;

struct measurement_of_comd {
  int workers, reps;
  long steps;
  runtime rt{{.workers = static_cast<std::uint32_t>(workers)}};
  location_model model{rt};
  region_options how{.policy = "static"};

  template <class Regions, class Potential>
  void time(const char* kase, std::int64_t cells, double lattice_constant, const Potential& by, double known) {
    crystal start = make_crystal({cells, cells, cells}, lattice_constant);
    set_temperature(start, mass, 600);
    const cell_grid grid = make_cell_grid(start, by.cutoff);
    const auto atoms = static_cast<double>(start.atoms());
    simulation<double> of(model, how, grid, start, mass, std::make_unique<Regions>(model, how, grid, by));
    of.compute_forces();
    const double first = of.measure().energy();
    std::vector<double> microseconds;
    for (int rep = 0; rep <= reps; ++rep) {
      const double began = now();
      for (long k = 0; k < steps; ++k) of.step(1);
      const double energy = of.measure().energy();
      if (rep > 0) microseconds.push_back((now() - began) * 1e6 / (atoms * double(steps)));
      if (std::abs(energy / first - 1) > 5e-5) fail("comd: the energy is not kept");
      if (rep == 0 && known != 0 && steps == 10 && std::abs(energy / atoms - known) > 1e-9) fail("comd: wrong energy");
    }
    row("comd", "Tessera", kase, workers, "microseconds", median(microseconds));
  }
};

}  // namespace

int main(int argc, char** argv) {
  const arguments args(argc, argv, {"workers", "reps", "case", "steps"});
  const std::string kase = args.text("case", "all");
  measurement_of_comd m{static_cast<int>(args.number("workers", 2)), static_cast<int>(args.number("reps", 7)),
                        static_cast<long>(args.number("steps", 10))};
  const auto wants = [&](const char* name) { return kase == "all" || kase == name; };
  if (wants("lj_32000")) m.time<lennard_jones_regions<double>>("lj_32000", 20, 3.615, lennard_jones(), -1.166059622057);
  if (wants("lj_256000")) m.time<lennard_jones_regions<double>>("lj_256000", 40, 3.615, lennard_jones(), 0);
  if (wants("eam_32000")) {
    const embedded_atom copper = sutton_chen_copper();
    m.time<embedded_atom_regions<double>>("eam_32000", 20, copper.lattice_constant, copper, 0);
  }
}
