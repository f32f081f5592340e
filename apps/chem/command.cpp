// tessera chem.
#include "apps/chem/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/chem/molecule_file.hpp"
#include "apps/common/plot.hpp"
#include "apps/common/session.hpp"
#include "core/base/suggest.hpp"
#include "core/base/units.hpp"
#include "languages/sial/chemistry/correlation.hpp"
#include "languages/sial/chemistry/programs.hpp"
#include "languages/sial/estimate/text.hpp"
#include "libraries/chemistry/basis/basis.hpp"
#include "libraries/chemistry/scf/scf.hpp"

namespace tessera::apps {
namespace {

struct chem_options : command_options {
  std::string file, basis = "cc-pvdz", method = "ccsd(t)", reference = "auto", guess = "sad", unit = "auto", memory;
  std::optional<int> charge, multiplicity;
  bool frozen_core = false, deterministic = false, estimate = false;
  std::optional<int> frozen_orbitals;
  int frozen_virtual = 0, scf_iterations = 100, cc_iterations = 50;
  double convergence = 1e-9, level_shift = 0, damping = 0;
  std::vector<std::size_t> segments;
  std::string write_programs;
};

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) { return std::chrono::duration<double>(clock::now() - start).count(); }

/// Names as users write them: "CCSD(T)", "hf".
std::optional<sial::correlation_method> correlation_of(std::string name) {
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (name == "scf" || name == "hf") return std::nullopt;
  const std::map<std::string, sial::correlation_method> known{{"mp2", sial::correlation_method::mp2},
                                                              {"ccsd", sial::correlation_method::ccsd},
                                                              {"ccsd(t)", sial::correlation_method::ccsd_t},
                                                              {"ccsd-t", sial::correlation_method::ccsd_t}};
  const auto found = known.find(name);
  if (found == known.end())
    throw error(error_kind::usage, fmt::format("there is no method '{}'", name), "--method",
                "one of scf, mp2, ccsd, ccsd(t)");
  return found->second;
}

chemistry::reference reference_of(const chem_options& o, const chemistry::molecule& m) {
  if (o.reference == "auto") return m.multiplicity == 1 ? chemistry::reference::rhf : chemistry::reference::uhf;
  return o.reference == "rhf"   ? chemistry::reference::rhf
         : o.reference == "uhf" ? chemistry::reference::uhf
                                : chemistry::reference::rohf;
}

std::string name_of(chemistry::reference r) {
  return r == chemistry::reference::rhf ? "RHF" : r == chemistry::reference::uhf ? "UHF" : "ROHF";
}

/// Lines while it runs, where standard output is not for JSON.
class journal {
 public:
  explicit journal(const chem_options& o) : m_on(!o.quiet && o.json != "-") {}
  template <class... Values>
  void line(fmt::format_string<Values...> form, Values&&... values) const {
    if (!m_on) return;
    fmt::print("{}\n", fmt::format(form, std::forward<Values>(values)...));
    std::fflush(stdout);
  }

 private:
  bool m_on;
};

/// One run of the command.
class calculation {
 public:
  explicit calculation(const chem_options& o) : m_options(o), m_journal(o) {}
  int run();

 private:
  void read();
  chemistry::scf_result self_consistent_field(session& s);
  sial::correlation_settings correlation_settings() const;
  bool print_plan(const session& s, const sial::correlation_job& job);
  void correlate(session& s, const chemistry::scf_result& scf);
  void tell_scf(const chemistry::scf_result& scf);
  void tell_correlation(const sial::correlation_result& c, double reference_energy);
  void draw(session& s) const;

  const chem_options& m_options;
  const journal m_journal;
  std::optional<sial::correlation_method> m_method;
  chemistry::molecule m_molecule;
  chemistry::reference m_reference = chemistry::reference::rhf;
  std::unique_ptr<chemistry::integrals> m_over;
  int m_frozen = 0;
  unsigned m_workers = 1;
  report m_report;
  plot_line m_scf_line, m_cc_line;
  bool m_estimated_to_fit = true;
  std::string m_failure;  // what has not converged
};

void calculation::read() {
  m_method = correlation_of(m_options.method);
  for (const auto& [name, value] : {std::pair("--convergence", m_options.convergence),
                                    {"--level-shift", m_options.level_shift},
                                    {"--damping", m_options.damping}})
    if (!std::isfinite(value)) throw error(error_kind::usage, "a number is expected", name);
  chemistry::require_orbital_set(m_options.basis);
  const std::optional<chemistry::length_unit> unit = m_options.unit == "auto" ? std::nullopt
                                                     : m_options.unit == "bohr"
                                                         ? std::optional(chemistry::length_unit::bohr)
                                                         : std::optional(chemistry::length_unit::angstrom);
  m_molecule = read_molecule(m_options.file, unit, m_options.charge, m_options.multiplicity);
  m_reference = reference_of(m_options, m_molecule);
  if (m_reference == chemistry::reference::rhf && m_molecule.multiplicity != 1)
    throw error(error_kind::usage,
                fmt::format("rhf is for closed shells, and the multiplicity is {}", m_molecule.multiplicity),
                "--reference", "uhf or rohf");
  m_frozen = m_options.frozen_orbitals ? *m_options.frozen_orbitals
             : m_options.frozen_core   ? chemistry::frozen_core_orbitals(m_molecule)
                                       : 0;
  if (const int occupied = (chemistry::electrons(m_molecule) + m_molecule.multiplicity - 1) / 2;
      m_method && m_frozen >= occupied)
    throw error(error_kind::usage, fmt::format("{} orbitals are frozen, and {} are occupied", m_frozen, occupied),
                "--frozen-orbitals", "correlation needs at least one that is not");
  m_over = chemistry::make_integrals(chemistry::basis_for(m_molecule, m_options.basis), m_molecule);
}

chemistry::scf_result calculation::self_consistent_field(session& s) {
  chemistry::scf_settings how;
  how.kind = m_reference;
  how.guess = m_options.guess == "core" ? chemistry::scf_guess::core : chemistry::scf_guess::sad;
  how.most_iterations = m_options.scf_iterations;
  how.energy_change = 0.1 * m_options.convergence;
  how.gradient = std::min(1e-6, 10 * m_options.convergence);
  how.level_shift = m_options.level_shift;
  how.damping = m_options.damping;
  how.threads = m_options.deterministic ? 1 : m_workers;  // sums of several are in no certain order
  auto iterations = nlohmann::ordered_json::array();
  m_journal.line("");
  m_journal.line("{}  iteration            energy       change     gradient", name_of(m_reference));
  const auto start = clock::now();
  how.tell = [&](const chemistry::scf_iteration& now) {
    m_journal.line("      {:>8}  {:>16.10f}  {:>11.2e}  {:>11.2e}", now.number, now.energy, now.change, now.gradient);
    iterations.push_back({{"energy", now.energy}, {"gradient", now.gradient}});
    m_scf_line.points.emplace_back(now.number, std::log10(std::max(now.gradient, 1e-16)));
    s.check_interrupt();
    return true;
  };
  chemistry::scf_result scf = chemistry::run_scf(m_molecule, *m_over, how);
  m_report.note("scf_history", iterations);
  m_report.add("scf_seconds", "SCF",
               fmt::format("{} iterations, {}", scf.iterations, format_seconds(seconds_since(start))),
               seconds_since(start));
  return scf;
}

sial::correlation_settings calculation::correlation_settings() const {
  sial::correlation_settings how;
  how.method = *m_method;
  how.orbitals.frozen_core = m_frozen;
  how.orbitals.frozen_virtual = m_options.frozen_virtual;
  if (!m_options.segments.empty()) {
    how.orbitals.basis_segment = m_options.segments[0];
    how.orbitals.occupied_segment = m_options.segments[1];
    how.orbitals.virtual_segment = m_options.segments[2];
  }
  how.most_iterations = m_options.cc_iterations;
  how.energy_threshold = m_options.convergence;
  how.residual_threshold = 100 * m_options.convergence;
  how.programs.workers = m_workers;
  how.programs.deterministic = m_options.deterministic;
  return how;
}

/// What the programs will need. False: it does not fit.
bool calculation::print_plan(const session& s, const sial::correlation_job& job) {
  const sial::memory_offer there = sial::offer_of(s.rt().statistics().spaces);
  auto rows = nlohmann::ordered_json::array();
  bool fits = true;
  const std::vector<sial::program_estimate> all = job.estimate();
  for (std::size_t k = 0; k < all.size(); ++k) {
    const sial::verdict v = sial::judge(all[k], there);
    fits = fits && v.outcome != sial::fit::does_not_fit;
    m_report.add(
        "", "plan of " + all[k].program,
        fmt::format("{} of blocks, {} at least in memory; {}", format_bytes(v.all), format_bytes(v.least), v.text),
        nullptr);
    m_journal.line("plan of {:<8} {} of blocks, {} at least in memory", all[k].program, format_bytes(v.all),
                   format_bytes(v.least));
    m_journal.line("                 {}", v.text);
    for (const std::string& remedy : v.remedies) m_journal.line("                 {}", remedy);
    rows.push_back({{"program", all[k].program},
                    {"bytes", v.all},
                    {"least_bytes", v.least},
                    {"spilled_bytes", v.spilled},
                    {"contraction_flops", all[k].flops()},
                    {"verdict", v.text},
                    {"remedies", v.remedies}});
  }
  m_report.note("memory_plan", rows);
  return fits;
}

void calculation::tell_scf(const chemistry::scf_result& scf) {
  m_report.note("scf_converged", scf.converged);
  m_report.note("scf_iterations", scf.iterations);
  if (!scf.converged) {
    m_report.note("scf_last_energy", scf.energy);
    m_failure = fmt::format("{} has not converged after {} iterations", name_of(m_reference), scf.iterations);
    return;
  }
  m_report.add("scf_energy", name_of(m_reference), fmt::format("{:.10f} hartree", scf.energy), scf.energy);
  m_report.note("scf_converged", scf.converged);
  m_report.note("scf_iterations", scf.iterations);
  if (m_reference == chemistry::reference::uhf)
    m_report.add("spin_squared", "<S^2>",
                 fmt::format("{:.6f}; a pure state has {:.6f}", scf.spin_squared,
                             0.25 * (m_molecule.multiplicity - 1) * (m_molecule.multiplicity + 1)),
                 scf.spin_squared);
  const auto homo = static_cast<std::size_t>(scf.occupied[0]);
  const std::vector<double>& e = scf.energies[0];
  m_report.add("", "orbitals",
               homo < e.size() ? fmt::format("{} of {} occupied, highest at {:.6f}, lowest empty at {:.6f} hartree",
                                             homo, e.size(), e[homo - 1], e[homo])
                               : fmt::format("{}, all occupied", e.size()),
               nullptr);
  m_report.note("orbital_energies", e);
  if (!scf.energies[1].empty()) m_report.note("orbital_energies_beta", scf.energies[1]);
  m_report.add("dipole", "dipole",
               fmt::format("{:.6f} {:.6f} {:.6f} e bohr", scf.dipole[0], scf.dipole[1], scf.dipole[2]), scf.dipole);
}

void calculation::tell_correlation(const sial::correlation_result& c, double reference_energy) {
  const auto line = [&](const std::string& key, const std::string& label, double correlation) {
    m_report.add(key, label,
                 fmt::format("{:.10f} hartree, of it correlation {:.10f}", reference_energy + correlation, correlation),
                 reference_energy + correlation);
    m_report.note(key + "_correlation", correlation);
  };
  line("mp2_energy", "MP2", c.mp2());
  line("scs_mp2_energy", "SCS-MP2", c.scs_mp2());
  m_report.note("mp2_same_spin", c.mp2_same_spin);
  m_report.note("mp2_opposite_spin", c.mp2_opposite_spin);
  if (!c.ccsd) return;
  m_report.note("ccsd_converged", c.converged);
  m_report.note("ccsd_iterations", c.iterations);
  m_report.note("ccsd_residual", c.residual);
  if (!c.converged) {
    m_report.note("ccsd_last_correlation", *c.ccsd);
    m_failure =
        fmt::format("CCSD has not converged after {} iterations: its residual is {:.1e}", c.iterations, c.residual);
    return;
  }
  line("ccsd_energy", "CCSD", *c.ccsd);
  if (c.triples) {
    m_report.add("triples", "(T)", fmt::format("{:.10f} hartree", *c.triples), *c.triples);
    line("ccsd_t_energy", "CCSD(T)", *c.ccsd + *c.triples);
  }
  if (m_reference != chemistry::reference::rhf) return;
  m_report.add("t1_diagnostic", "T1, D1",
               fmt::format("{:.5f}, {:.5f}{}", c.t1_diagnostic, c.d1_diagnostic,
                           c.t1_diagnostic > 0.02 ? ": one determinant may not be enough (T1 above 0.02)" : ""),
               c.t1_diagnostic);
  m_report.note("d1_diagnostic", c.d1_diagnostic);
}

void calculation::correlate(session& s, const chemistry::scf_result& scf) {
  auto iterations = nlohmann::ordered_json::array();
  auto last = clock::now();
  sial::correlation_job job(s.rt(), *m_over, scf, correlation_settings(), [&](const sial::iteration_report& now) {
    if (now.number == 1) m_journal.line("CCSD iteration       correlation     residual         time");
    const double seconds = seconds_since(last);
    m_journal.line("      {:>8}  {:>16.10f}  {:>11.2e}  {:>11}", now.number, now.energy, now.residual,
                   format_seconds(seconds));
    last = clock::now();
    iterations.push_back({{"correlation_energy", now.energy}, {"residual", now.residual}, {"seconds", seconds}});
    m_cc_line.points.emplace_back(now.number, std::log10(std::max(now.residual, 1e-16)));
  });
  m_report.note("occupied", job.data().ints.at("occupied"));
  m_report.note("virtual", job.data().ints.at("virtual"));
  m_report.note("segments", nlohmann::ordered_json{{"ao", job.data().segments_of(sial::index_kind::ao)},
                                                   {"mo", job.data().segments_of(sial::index_kind::mo)}});
  m_report.add(
      "", "correlated",
      fmt::format("{} occupied and {} virtual orbitals; {} frozen below, {} above", job.data().ints.at("occupied"),
                  job.data().ints.at("virtual"), m_frozen, m_options.frozen_virtual),
      nullptr);
  m_journal.line("");
  m_estimated_to_fit = print_plan(s, job);
  if (m_options.estimate) return;
  if (!m_estimated_to_fit)
    throw error(error_kind::memory, "the calculation does not fit into memory; see the plan above", m_options.file,
                "a disk takes what does not fit (--config host_and_disk), or smaller segments (--segments)");
  m_journal.line("");
  s.on_interrupt([&job] { job.programs_job().interrupt(); });
  const struct unwatch {
    session& watched;
    ~unwatch() { watched.on_interrupt({}); }
  } before_the_job_goes{s};
  progress_rhythm rhythm;
  rhythm.where = m_options.quiet ? progress_where::nowhere : progress_where::terminals;
  const progress shown(
      [&job](double elapsed) {
        const auto at = job.programs_job().progress();
        return at ? to_text(*at, elapsed) : std::string();
      },
      rhythm);
  last = clock::now();
  const sial::correlation_result c = job.run();
  s.check_interrupt();
  m_report.note("ccsd_history", iterations);
  tell_correlation(c, scf.energy);
  for (const sial::program_report& p : c.programs)
    m_report.add(p.name + "_seconds", p.name,
                 fmt::format("{}, {:.3g} GFLOP in contractions, {} at barriers", format_seconds(p.seconds),
                             p.counters.flops * 1e-9, format_seconds(p.counters.barrier_seconds)),
                 p.seconds);
}

/// For the page of --report.
void calculation::draw(session& s) const {
  if (m_options.report.empty()) return;
  line_plot p{"Convergence", "iteration", "log10 of the gradient of SCF, of the residual of CCSD"};
  plot_line scf = m_scf_line, cc = m_cc_line;
  scf.label = "SCF";
  cc.label = "CCSD";
  cc.colour = 1;
  p.lines.push_back(scf);
  if (!cc.points.empty()) p.lines.push_back(cc);
  s.add_to_page("<section><h2>Convergence</h2>" + to_svg(p) + "</section>");
}

int calculation::run() {
  read();
  command_options machine = m_options;
  if (!m_options.memory.empty()) {
    if (!parse_bytes(m_options.memory))
      throw error(error_kind::usage, fmt::format("'{}' is no size", m_options.memory), "--memory",
                  "such as 2GiB, 500MB");
    machine.set.push_back("memory.host_limit=" + m_options.memory);
  }
  const unsigned wanted = m_options.workers ? *m_options.workers : machine.load().runtime().workers;
  m_workers = wanted > 0 ? wanted : std::max(1u, std::thread::hardware_concurrency());
  machine.workers = machine.load().runtime().host_limit == 0 ? 1 : 2;
  machine = machine.placed_by_cost();
  if (m_options.deterministic && m_options.has_devices()) machine.set.push_back("runtime.deterministic=true");
  session s(machine);
  s.works_on(formula_of(m_molecule) + " " + m_options.method);
  s.describe(m_report);
  m_report.add_integer("sial_workers", "SIAL workers", m_workers);
  m_report.add("integrals", "integrals", std::string(chemistry::integrals_library()));
  m_report.add("molecule", "molecule",
               fmt::format("{}: {} atoms, {} electrons, multiplicity {}, repulsion of nuclei {:.10f} hartree",
                           formula_of(m_molecule), m_molecule.atoms.size(), chemistry::electrons(m_molecule),
                           m_molecule.multiplicity, chemistry::nuclear_repulsion(m_molecule)),
               formula_of(m_molecule));
  m_report.note("nuclear_repulsion", chemistry::nuclear_repulsion(m_molecule));
  m_report.add("basis", "basis",
               fmt::format("{}: {} functions in {} shells", m_options.basis, m_over->functions(), m_over->shells()),
               m_options.basis);
  m_report.note("functions", m_over->functions());
  m_report.note("method", m_options.method);
  m_report.note("reference", name_of(m_reference));
  m_journal.line("{} in {}, {} functions", formula_of(m_molecule), m_options.basis, m_over->functions());
  const auto start = clock::now();
  const chemistry::scf_result scf = self_consistent_field(s);
  if (scf.orbitals < scf.functions)
    m_report.add("dependent_functions", "linear dependence",
                 fmt::format("{} combinations of functions are left out", scf.functions - scf.orbitals),
                 scf.functions - scf.orbitals);
  tell_scf(scf);
  if (m_method && m_failure.empty()) correlate(s, scf);
  m_report.note("success", m_failure.empty() && !m_options.estimate);
  m_report.add("seconds", "time", format_seconds(seconds_since(start)), seconds_since(start));
  m_journal.line("");
  draw(s);
  s.finish(m_report);
  if (m_options.estimate && !m_estimated_to_fit) return exit_code_of(error_kind::memory);
  if (!m_failure.empty())
    throw error(
        error_kind::numerical, m_failure, m_options.file,
        "no energy of it is given; see --scf-iterations, --cc-iterations, --level-shift, --damping and --guess");
  return 0;
}

int write_programs(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw error(error_kind::usage, "the folder cannot be made: " + failed.message(), folder);
  for (const std::string_view name : sial::chemistry_programs()) {
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    if (std::filesystem::exists(path))
      throw error(error_kind::usage, "the file is there already, and is not written over", path.string());
    write_text(path.string(), std::string(sial::chemistry_program(name)));
  }
  return 0;
}

int run(const chem_options& o) {
  if (!o.write_programs.empty()) return write_programs(o.write_programs);
  if (o.file.empty())
    throw error(error_kind::usage, "no molecule is named", "the command line",
                "tessera chem water.xyz --basis cc-pvdz");
  return calculation(o).run();
}

}  // namespace

void add_chem(CLI::App& to, command& selected) {
  auto o = std::make_shared<chem_options>();
  CLI::App& sub = *to.add_subcommand("chem", "Energies of molecules: SCF, MP2, CCSD, CCSD(T), by programs in SIAL");
  sub.add_option("molecule", o->file, "the molecule: an XYZ file (.xyz), or a Z-matrix (.zmat)")->type_name("FILE");
  sub.add_option("--basis", o->basis, "sto-3g, 3-21g, 6-31g**, cc-pvdz, aug-cc-pvdz or cc-pvtz, for H to Ne")
      ->type_name("NAME")
      ->capture_default_str();
  sub.add_option("--method", o->method, "scf, mp2, ccsd or ccsd(t)")->type_name("NAME")->capture_default_str();
  sub.add_option("--reference", o->reference, "rhf, uhf or rohf; auto: rhf for closed shells, else uhf")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "rhf", "uhf", "rohf"}));
  sub.add_option("--charge", o->charge, "of the molecule, in elementary charges")->type_name("N");
  sub.add_option("--multiplicity", o->multiplicity, "2 S + 1: 1 for a singlet, 3 for a triplet")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  sub.add_option("--unit", o->unit, "of an XYZ file: angstrom, bohr, or auto: bohr where its comment says so")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "angstrom", "bohr"}));
  CLI::Option* const core = sub.add_flag("--frozen-core", o->frozen_core, "leave the core's electrons uncorrelated");
  sub.add_option("--frozen-orbitals", o->frozen_orbitals, "leave so many of the lowest orbitals uncorrelated")
      ->type_name("N")
      ->check(CLI::Range(0, 100000))
      ->excludes(core);
  sub.add_option("--frozen-virtual", o->frozen_virtual, "leave out so many of the highest orbitals")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000000));
  sub.add_option("--memory", o->memory, "what blocks may take of the host's memory, such as 2GiB")->type_name("SIZE");
  sub.add_option("--guess", o->guess, "orbitals to begin with: of atoms' densities (sad), or without repulsion (core)")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(CLI::IsMember({"sad", "core"}));
  sub.add_option("--convergence", o->convergence,
                 "of energies, in hartree; amplitudes to a hundred times as much, orbitals' gradient to ten times")
      ->type_name("X")
      ->capture_default_str()
      ->check(CLI::Range(1e-12, 1e-3));
  sub.add_option("--scf-iterations", o->scf_iterations, "at most")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  sub.add_option("--cc-iterations", o->cc_iterations, "at most")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  sub.add_option("--level-shift", o->level_shift, "raises empty orbitals far from convergence, hartree")
      ->type_name("X")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 100.0));
  sub.add_option("--damping", o->damping, "part of the old density in the new one, far from convergence")
      ->type_name("X")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 0.99));
  sub.add_option("--segments", o->segments,
                 "lengths of segments, at most: of basis functions, occupied and virtual orbitals")
      ->type_name("N")
      ->expected(3)
      ->check(CLI::Range(1, 100000));
  sub.add_flag("--deterministic", o->deterministic, "the same bits in every run with the same number of workers");
  sub.add_flag("--estimate", o->estimate, "of the correlated part only the plan: memory and operations");
  sub.add_option("--write-programs", o->write_programs,
                 "write the SIAL programs to a folder, for methods of one's own; nothing runs")
      ->type_name("DIR");
  o->add_run_options(sub);
  sub.footer("Example:\n  tessera chem water.xyz --basis cc-pvdz --method \"ccsd(t)\" --frozen-core");
  sub.callback([o, &selected] { selected = [o] { return run(*o); }; });
}

}  // namespace tessera::apps
