#include "apps/chem/calculation.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/chem/degenerate_cut.hpp"
#include "apps/chem/energies.hpp"
#include "apps/chem/memory_plan.hpp"
#include "apps/chem/program_costs.hpp"
#include "apps/chem/results.hpp"
#include "apps/chem/stability.hpp"
#include "apps/chem/time_estimate.hpp"
#include "apps/common/device_lacks.hpp"
#include "apps/common/process_memory.hpp"
#include "core/base/units.hpp"
#include "languages/sial/estimate/text.hpp"
#include "languages/sial/job/device_use.hpp"
#include "tessera/front_end.hpp"

namespace tessera::apps {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t many_functions = 300;  // from there on segments are longer, so that there are fewer blocks
constexpr sial::segment_lengths long_segments{48, 20, 48};

double seconds_since(clock::time_point start) { return std::chrono::duration<double>(clock::now() - start).count(); }

/// Densities of both spins, of the first orbitals that are given.
std::array<std::vector<double>, 2> first_orbitals_of(const problem& p) {
  const std::size_t n = p.over->functions();
  const int all = chemistry::electrons(p.of), unpaired = p.of.multiplicity - 1;
  std::array<std::vector<double>, 2> densities;
  for (std::size_t s = 0; s < 2; ++s) {
    densities[s].assign(n * n, 0.0);
    const auto occupied = static_cast<std::size_t>(s == 0 ? (all + unpaired) / 2 : (all - unpaired) / 2);
    const std::size_t first = p.over->functions_of_spin(s).first;
    for (std::size_t k = first; k < first + occupied; ++k) densities[s][k * n + k] = 1;
  }
  return densities;
}

/// The setting that adds a disk to the plugins of the configuration.
std::string with_disk(const command_options& machine) {
  std::string plugins;
  const config::document read = machine.load();
  for (const std::string& plugin : read.runtime().plugins) plugins += fmt::format("\"{}\", ", plugin);
  return fmt::format("runtime.plugins=[{}\"disk\"]", plugins);
}

}  // namespace

chemistry::scf_settings calculation::scf_settings() const {
  chemistry::scf_settings how;
  how.kind = m_problem.kind;
  how.guess = m_options.guess == "core" ? chemistry::scf_guess::core : chemistry::scf_guess::sad;
  if (m_problem.is_model && m_options.guess != "core") {
    how.guess = chemistry::scf_guess::density;
    how.start = first_orbitals_of(m_problem);
  }
  how.max_iterations = m_options.scf_iterations;
  how.energy_change = 0.1 * m_options.convergence;
  how.gradient = std::min(1e-6, 10 * m_options.convergence);
  how.level_shift = m_options.level_shift;
  how.damping = m_options.damping;
  how.threads = m_options.deterministic ? 1 : m_workers;  // sums of several are in no certain order
  return how;
}

chemistry::scf_result calculation::self_consistent_field(session& s) {
  chemistry::scf_settings how = scf_settings();
  how.kept_bytes = m_plan.kept_integrals;
  m_journal.line("");
  const auto start = clock::now();
  how.tell = [&](const chemistry::scf_iteration& now) {
    m_convergence.add(now, m_problem.core_energy);
    s.check_interrupt();
    return true;
  };
  m_builder = std::make_unique<chemistry::fock_builder>(*m_problem.over, how.kept_bytes, how.threads);
  chemistry::fock_builder& builder = *m_builder;
  const auto solve = [&] {
    m_convergence.begin_field(name_of(m_problem.kind));
    chemistry::scf_result found = chemistry::run_scf(m_problem.of, *m_problem.over, how, builder);
    found.energy += m_problem.core_energy;
    m_checkpoints.keep_field(found);
    return found;
  };
  std::optional<chemistry::scf_result> finished = m_checkpoints.begin_field(how);
  chemistry::scf_result scf = finished ? std::move(*finished) : solve();
  if (scf.converged)
    scf = stability_check(m_options, m_problem, m_journal, m_report, builder)
              .run(std::move(scf), [&](const std::array<std::vector<double>, 2>& densities) {
                how.guess = chemistry::scf_guess::density;
                how.start = densities;
                return solve();
              });
  if (!m_problem.method) m_builder.reset();
  m_convergence.note_field(m_report);
  m_report.add("scf_seconds", "SCF",
               fmt::format("{} iterations, {}", scf.iterations, format_seconds(seconds_since(start))),
               seconds_since(start));
  return scf;
}

sial::correlation_settings calculation::correlation_settings() const {
  sial::correlation_settings how;
  how.method = *m_problem.method;
  how.orbitals.frozen_core = m_problem.frozen;
  how.orbitals.frozen_virtual = m_options.frozen_virtual;
  if (m_problem.over->functions() > many_functions) how.orbitals.cut_into(long_segments);
  if (!m_options.segments.empty())
    how.orbitals.cut_into({m_options.segments[0], m_options.segments[1], m_options.segments[2]});
  if (!m_plan.stages.empty()) {  // chosen so that it fits
    how.orbitals.cut_into(m_plan.orbitals.lengths());
    how.direct_ladder = m_plan.direct_ladder;
    if (m_plan.of_worker > 0) how.programs.private_bytes = static_cast<std::uint64_t>(m_plan.of_worker);
    if (m_plan.held > 0) how.programs.held_bytes = static_cast<std::uint64_t>(m_plan.held);
  }
  how.max_iterations = m_options.cc_iterations;
  how.energy_threshold = m_options.convergence;
  how.residual_threshold = 100 * m_options.convergence;
  how.programs.workers = m_workers;
  how.programs.devices = sial::device_use_of(m_options.devices);
  how.programs.deterministic = m_options.deterministic;
  how.programs.profile = m_options.profile || !m_options.report.empty();
  return how;
}

/// What a program says of its memory is told in the options of this command.
sial::correlation_result calculation::run_within_memory(
    sial::correlation_job& job, const std::function<void(const sial::correlation_result&)>& reached) const {
  try {
    return job.run(reached);
  } catch (const error& e) {
    if (e.kind() != error_kind::memory) throw;
    throw error(
        error_kind::memory, e.message(), e.where(),
        "raise --memory, or give shorter segments by --segments: room is lost between blocks of different sizes");
  }
}

/// Whether there is room for the integrals that SCF has kept beside those that the programs store first: later they
/// have more, and what they have then is planned.
bool calculation::integrals_may_stay() const {
  if (m_plan.direct_ladder || m_plan.stages.size() < 2 || m_plan.kept_integrals == 0) return false;
  // Of (mn|ls) those with m <= n, l <= s, and the pairs in order; by segments.
  const std::vector<std::int64_t> lengths = sial::basis_segments(*m_problem.over, m_plan.orbitals.basis_segment);
  double pairs = 0, squares = 0, longest = 0;
  for (std::size_t n = 0; n < lengths.size(); ++n)
    for (std::size_t m = 0; m <= n; ++m) {
      const double pair = static_cast<double>(lengths[m]) * static_cast<double>(lengths[n]);
      pairs += pair;
      squares += pair * pair;
      longest = std::max(longest, pair);
    }
  const double stored = sizeof(double) * (pairs * pairs + squares) / 2;
  // Workers have a block each that they fill, and the one before it.
  const double own = 2 * m_workers * sizeof(double) * longest * longest;
  const bool is_limited = m_plan.host_limit > 0;
  return m_plan.before + static_cast<double>(m_plan.kept_integrals) + m_plan.stages[1].beside + own +
             (is_limited ? 1.05 : 1.35) * stored <=
         m_plan.bytes();
}

/// With those that SCF has kept, until the programs have made their own of them.
const chemistry::integrals& calculation::integrals_for_programs() {
  if (integrals_may_stay())
    m_kept = std::make_unique<chemistry::kept_integrals>(*m_problem.over, *m_builder);
  else
    m_builder.reset();
  m_report.note("kept_integral_bytes", m_kept ? m_plan.kept_integrals : 0);
  return_free_memory();  // of the field
  return m_kept ? static_cast<const chemistry::integrals&>(*m_kept) : *m_problem.over;
}

void calculation::correlate(session& s, const chemistry::scf_result& scf) {
  sial::correlation_settings how = correlation_settings();
  if (const auto finished = m_checkpoints.finished(scf, how)) {
    m_journal.line("the energies are those of the checkpoint");
    m_report.note("ccsd_start", "finished");
    m_failure = report_correlation(m_problem, *finished, scf.energy, m_report);
    return;
  }
  how.keeping = m_checkpoints.keeping(how);
  how.keeping_triples = m_checkpoints.keeping_triples(scf, how);
  sial::correlation_job job(s.rt(), integrals_for_programs(), scf, how,
                            [&](const sial::iteration_report& now) { m_convergence.add(now); });
  m_report.note("occupied", job.data().ints.at("occupied"));
  m_report.note("virtual", job.data().ints.at("virtual"));
  m_report.note("segments", nlohmann::ordered_json{{"ao", job.data().segments_of(sial::index_kind::ao)},
                                                   {"mo", job.data().segments_of(sial::index_kind::mo)}});
  m_report.add(
      "", "correlated",
      fmt::format("{} occupied and {} virtual orbitals; {} frozen below, {} above", job.data().ints.at("occupied"),
                  job.data().ints.at("virtual"), m_problem.frozen, m_options.frozen_virtual),
      nullptr);
  m_journal.line("");
  if (!m_options.quiet && how.programs.devices == sial::device_use::always)
    for (const std::string& text : what_devices_lack(s.rt())) fmt::print(stderr, "note: {}\n", text);
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
  m_convergence.begin_correlation();
  const sial::correlation_result c = run_within_memory(
      job, [&](const sial::correlation_result& so_far) { m_checkpoints.keep_energies(scf, how, so_far); });
  s.check_interrupt();
  m_convergence.note_correlation(m_report);
  m_failure = report_correlation(m_problem, c, scf.energy, m_report);
  report_programs(m_options, c, m_report);
  report_terms(m_options, m_workers, c, m_report, m_journal, s);
}

/// Before anything runs.
void calculation::refuse() const {
  std::string hint;
  for (const std::string& remedy : m_plan.remedies) hint += (hint.empty() ? "what makes it fit: " : ", or ") + remedy;
  throw error(error_kind::memory, "it does not fit: " + m_plan.refusal, m_options.file, hint);
}

/// A disk of the configuration may be too small.
void calculation::require_disk(const session& s) const {
  const sial::memory_offer there = sial::offer_of(s.rt().statistics().spaces);
  if (m_plan.on_disk() <= there.beyond) return;
  throw error(error_kind::memory,
              fmt::format("{} of blocks go to the disk, which holds {}", format_bytes(m_plan.on_disk()),
                          format_bytes(there.beyond)),
              m_options.file, "raise plugin.disk.capacity, or --memory");
}

void calculation::tell_peak() {
  const double peak = memory_of_this_process().peak;
  m_report.add("peak_bytes", "memory",
               fmt::format("{} at most; planned {}", format_bytes(peak), format_bytes(m_plan.bytes())), peak);
  const bool kept = peak <= 1.1 * m_plan.bytes();
  m_report.note("memory_plan_kept", kept);
  if (!kept && !m_options.quiet)
    fmt::print(stderr, "note: the process took {} of memory, and {} were planned: {}\n", format_bytes(peak),
               format_bytes(m_plan.bytes()), "see docs/chemistry.md for what a plan leaves out");
}

int calculation::run() {
  try {
    return compute();
  } catch (const error& e) {
    const std::string kept = m_checkpoints.advice();
    if (kept.empty()) throw;
    throw error(e.kind(), e.message(), e.where(), e.hint().empty() ? kept : e.hint() + "; " + kept);
  }
}

int calculation::compute() {
  check_result_files(m_options, m_problem);
  command_options machine = m_options;
  const unsigned wanted = m_options.workers ? *m_options.workers : machine.load().runtime().workers;
  m_workers = wanted > 0 ? wanted : std::max(1u, std::thread::hardware_concurrency());
  const memory_room room = room_of(m_options);
  m_plan = plan_memory(m_problem, m_options, scf_settings(),
                       m_problem.method ? correlation_settings() : sial::correlation_settings(), room);
  if (m_plan.host_limit > 0)
    machine.set.push_back(fmt::format("memory.host_limit={}", static_cast<std::uint64_t>(m_plan.host_limit)));
  if (m_plan.slab > 0)
    machine.set.push_back(fmt::format("memory.slab_bytes={}", static_cast<std::uint64_t>(m_plan.slab)));
  if (m_plan.recorded > 0)
    machine.set.push_back(fmt::format("runtime.trace_limit={}", static_cast<std::uint64_t>(m_plan.recorded)));
  if (!m_plan.disk_path.empty()) machine.set.push_back(with_disk(machine));
  machine.workers = machine.load().runtime().host_limit == 0 ? 1 : 2;
  machine = machine.placed_by_cost();
  if (m_options.deterministic && m_options.has_devices()) machine.set.push_back("runtime.deterministic=true");
  session s(machine);
  s.works_on(m_problem.title + " " + m_options.method);
  s.describe(m_report);
  m_report.add_integer("sial_workers", "SIAL workers", m_workers);
  report_problem(m_options, m_problem, m_report);
  m_report.note("functions", m_problem.over->functions());
  m_report.note("method", m_options.method);
  if (!m_options.notes.empty()) m_report.note("notes", m_options.notes);
  m_report.note("reference", name_of(m_problem.kind));
  m_journal.line("{} in {}, {} functions", m_problem.title, m_problem.is_model ? "orbitals" : m_options.basis,
                 m_problem.over->functions());
  tell(m_plan, room, m_report, m_journal);
  if (m_options.estimate) {
    tell_work(work_of(m_problem, m_plan, m_problem.method ? correlation_settings() : sial::correlation_settings(),
                      scf_settings()),
              m_options, m_report, m_journal);
    m_report.note("success", false);
    s.finish(m_report);
    if (!m_plan.fits) return exit_code_of(error_kind::memory);
    const double least = m_plan.checkpoints.on_disk - m_plan.checkpoints.history_on_disk;
    return why_no_room(m_plan.checkpoint_folder, least).empty() ? 0 : exit_code_of(error_kind::output);
  }
  if (!m_plan.fits) refuse();
  m_checkpoints.expect(m_plan.checkpoints, m_plan.checkpoint_folder);
  require_disk(s);
  const auto start = clock::now();
  const chemistry::scf_result scf = self_consistent_field(s);
  if (scf.orbitals < scf.functions)
    m_report.add("dependent_functions", "linear dependence",
                 fmt::format("{} combinations of functions are left out", scf.functions - scf.orbitals),
                 scf.functions - scf.orbitals);
  m_failure = report_field(m_problem, scf, m_report);
  if (m_failure.empty()) warn_of_degenerate_cuts(m_options, m_problem, scf, m_report);
  if (m_failure.empty()) add_orbital_files(s, m_options, m_problem, scf);
  if (m_problem.method && m_failure.empty()) correlate(s, scf);
  m_report.note("success", m_failure.empty());
  m_report.add("seconds", "time", format_seconds(seconds_since(start)), seconds_since(start));
  m_journal.line("");
  if (!m_options.report.empty()) m_convergence.draw(s);
  if (m_failure.empty()) add_qcschema_file(s, m_options, m_problem, scf, m_report);
  s.measure_with(m_plan.for_rates);
  front_end(s.rt()).give_memory_back();  // files are made with it
  s.finish(m_report, [&] { tell_peak(); });
  if (!m_failure.empty())
    throw error(
        error_kind::numerical, m_failure, m_options.file,
        "no energy of it is given; see --scf-iterations, --cc-iterations, --level-shift, --damping and --guess");
  return 0;
}

}  // namespace tessera::apps
