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

struct setting {
  int workers, reps;
  long steps;
  runtime rt{{.workers = static_cast<std::uint32_t>(workers)}};
  location_model model{rt};
  region_options how{.policy = tessera::policy::static_split};
};

/// Atoms of one potential, whose steps are timed.
class timed_atoms {
 public:
  /// @param known  total energy per atom after 10 steps; 0: not known
  template <class Potential>
  timed_atoms(setting& s, std::int64_t cells, double lattice_constant, const Potential& by, double known,
              data_choice data = data_choice::shared)
      : m_setting(s), m_known(known) {
    crystal start = make_crystal({cells, cells, cells}, lattice_constant);
    set_temperature(start, mass, 600);
    m_atoms = static_cast<double>(start.atoms());
    const cell_grid grid = make_cell_grid(start, by.cutoff);
    using regions = std::conditional_t<std::is_same_v<Potential, lennard_jones>, lennard_jones_regions<double>,
                                       embedded_atom_regions<double>>;
    m_of = std::make_unique<simulation<double>>(s.model, s.how, grid, start, mass,
                                                std::make_unique<regions>(s.model, s.how, grid, by), data);
    m_of->compute_forces();
    m_first = m_of->measure().energy();
  }
  /// One repetition: some steps, then the energies. The first one is not counted.
  void run() {
    const double began = now();
    for (long k = 0; k < m_setting.steps; ++k) m_of->step(1);
    const double energy = m_of->measure().energy(), took = now() - began;
    if (std::abs(energy / m_first - 1) > 5e-5) fail("comd: the energy is not kept");
    if (m_runs++ > 0) return m_microseconds.push_back(took * 1e6 / (m_atoms * double(m_setting.steps)));
    if (m_known != 0 && m_setting.steps == 10 && std::abs(energy / m_atoms - m_known) > 1e-9)
      fail("comd: wrong energy");
  }
  double microseconds() const { return median(m_microseconds); }

 private:
  setting& m_setting;
  double m_known, m_atoms = 0, m_first = 0;
  std::unique_ptr<simulation<double>> m_of;
  int m_runs = 0;
  std::vector<double> m_microseconds;
};

void time_case(setting& s, const char* kase, timed_atoms of) {
  for (int rep = 0; rep <= s.reps; ++rep) of.run();
  row("comd", "Tessera", kase, s.workers, "microseconds", of.microseconds());
}

/// The ways to get at the data, in turns.
void time_ways(setting& s) {
  constexpr std::pair<const char*, data_choice> ways[] = {{"lj_32000_shared", data_choice::shared},
                                                          {"lj_32000_chain", data_choice::chain},
                                                          {"lj_32000_deepcopy", data_choice::deepcopy}};
  std::vector<timed_atoms> of;
  for (const auto& [kase, way] : ways) of.emplace_back(s, 20, 3.615, lennard_jones(), -1.166059622057, way);
  for (int rep = 0; rep <= s.reps; ++rep)
    for (timed_atoms& one : of) one.run();
  for (std::size_t k = 0; k < of.size(); ++k) {
    row("comd", "Tessera", ways[k].first, s.workers, "microseconds", of[k].microseconds());
    row("comd", "Tessera", ways[k].first, s.workers, "times_shared", of[k].microseconds() / of[0].microseconds());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const arguments args(argc, argv, {"workers", "reps", "case", "steps"});
  const std::string kase = args.text("case", "all");
  setting s{static_cast<int>(args.number("workers", 2)), static_cast<int>(args.number("reps", 7)),
            static_cast<long>(args.number("steps", 10))};
  const auto wants = [&](const char* name) { return kase == "all" || kase == name; };
  if (wants("lj_32000")) time_case(s, "lj_32000", {s, 20, 3.615, lennard_jones(), -1.166059622057});
  if (wants("lj_256000")) time_case(s, "lj_256000", {s, 40, 3.615, lennard_jones(), 0});
  if (wants("lj_32000_ways")) time_ways(s);
  if (wants("eam_32000")) {
    const embedded_atom copper = sutton_chen_copper();
    time_case(s, "eam_32000", {s, 20, copper.lattice_constant, copper, -3.353368500193});
  }
}
