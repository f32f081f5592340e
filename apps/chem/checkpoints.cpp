#include "apps/chem/checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "libraries/chemistry/checkpoint/amplitude_history.hpp"
#include "libraries/chemistry/checkpoint/projection.hpp"

namespace tessera::apps {
namespace {

namespace ch = chemistry;

bool has_converged(double change, double residual, const sial::correlation_settings& how) {
  return std::abs(change) < how.energy_threshold && residual < how.residual_threshold;
}

bool are_finite(const ch::amplitudes& t) {
  const auto finite = [](const std::vector<double>& v) {
    return std::ranges::all_of(v, [](double x) { return std::isfinite(x); });
  };
  return finite(t.mixed) && finite(t.singles[0]) && finite(t.singles[1]) && finite(t.alike[0]) && finite(t.alike[1]);
}

constexpr double min_interval = 0.2;  // seconds, between checkpoints of triples

std::string words_of(const ch::stored_energies& e) {
  return e.triples ? "the energies up to (T)" : e.ccsd ? "the energies up to CCSD" : "the energy of MP2";
}

}  // namespace

checkpoints::checkpoints(const chem_options& o, const problem& p, const journal& told, report& to)
    : m_options(o), m_problem(p), m_journal(told), m_report(to), m_own(o.restart), m_source(o.start_from) {
  if (p.is_model && !(m_own.empty() && m_source.empty()))
    throw error(error_kind::usage, "checkpoints are of molecules, and this is a Hamiltonian without one", o.file,
                "leave out --restart and --start-from");
  if (m_own.empty() && m_source.empty() && (o.guess == "read" || o.guess == "projected"))
    throw error(error_kind::usage, fmt::format("--guess {} needs a checkpoint to read", o.guess), "--guess",
                "name its folder by --start-from");
  if (!m_own.empty() && !o.estimate) open_own();
  if (!m_source.empty()) open_source();
}

void checkpoints::expect(const checkpoint_needs& needs, const checkpoint_room& room) {
  m_needs = needs;
  m_room = room;
}

/// Before something is computed that is to be kept.
void checkpoints::require_room() {
  if (!m_lock) return;
  m_lock->require_writable();
  constexpr const char* remedy = "make room there, or name a folder on another disk by --restart";
  const double least = m_needs.on_disk - m_needs.history_on_disk;
  if (const std::string why = why_no_room(m_room, least); !why.empty())
    throw error(error_kind::output, "the folder of checkpoints has too little room: " + why, m_own.string(), remedy);
  const std::string why = why_no_room(m_room, m_needs.on_disk);
  if (why.empty() || !std::exchange(m_has_room_for_history, false)) return;
  fmt::print(stderr,
             "warning: the folder of checkpoints has no room for the history of DIIS: {}; amplitudes are kept without "
             "it\n  in {}\n  hint: {}\n",
             why, m_own.string(), remedy);
  m_report.note("checkpoint_warning", "the history of DIIS cannot be kept: " + why);
}

void checkpoints::open_own() {
  m_lock.emplace(m_own);
  m_report.note("checkpoint", m_own.string());
  m_own_field = ch::load_field(m_own);
  m_energies = ch::load_energies(m_own);
  if (!m_own_field) return;
  std::string difference = ch::difference_between(m_own_field->system, functions_of(m_problem, m_options));
  if (difference.empty() && m_own_field->kind != m_problem.kind)
    difference = fmt::format("its reference is {}, and here it is {}", ch::word_of(m_own_field->kind),
                             ch::word_of(m_problem.kind));
  if (!difference.empty())
    throw error(error_kind::input, "the checkpoint is of another calculation: " + difference, m_own.string(),
                fmt::format("name another folder; --start-from {} begins with what is there", m_own.string()));
  m_kept_field = fmt::format("{} after {} iterations", name_of(m_problem.kind), m_own_field->scf.iterations);
  if (m_energies && m_energies->orbitals == ch::name_of_orbitals(m_own_field->scf))
    m_kept_energies = words_of(*m_energies);
}

void checkpoints::open_source() {
  std::error_code none;
  if (!std::filesystem::is_directory(m_source, none))
    throw error(error_kind::input, "there is no such folder of checkpoints", m_source.string(),
                "tessera chem writes one with --restart");
  m_source_field = ch::load_field(m_source);
  if (!m_source_field)
    throw error(error_kind::input, "the folder has no checkpoint of a field", m_source.string(),
                "tessera chem writes one with --restart");
  if (!ch::have_same_elements(m_source_field->system.of, m_problem.of))
    throw error(error_kind::input, "the checkpoint to begin with is of other atoms", m_source.string(),
                "the same elements in the same order are needed");
  if (m_options.guess == "read" &&
      !ch::have_same_shells(m_source_field->system.shells, functions_of(m_problem, m_options).shells))
    throw error(error_kind::input,
                fmt::format("the checkpoint has other basis functions: those of {}", m_source_field->system.basis),
                m_source.string(), "--guess projected takes them over");
}

void checkpoints::say(const std::string& key, const std::string& label, const std::string& text,
                      const std::string& value) {
  m_report.add(key, label, text, value);
  m_journal.line("{} {}", label, text);
}

bool checkpoints::try_to_write(const std::string& what, const std::function<void()>& write) {
  try {
    write();
    return true;
  } catch (const error& e) {
    if (e.kind() != error_kind::output) throw;
    if (std::exchange(m_warned, true)) return false;
    const std::string kept = what_is_kept();
    fmt::print(stderr, "warning: {} cannot be kept; the calculation goes on. {}\n{}\n", what,
               kept.empty() ? "Nothing is kept." : "Kept: " + kept + ".", e.what());
    m_report.note("checkpoint_warning", fmt::format("{} cannot be kept: {}", what, e.message()));
    return false;
  }
}

std::string checkpoints::what_is_kept() const {
  std::string all;
  for (const std::string* const one : {&m_kept_field, &m_kept_amplitudes, &m_kept_triples, &m_kept_energies})
    if (!one->empty()) all += (all.empty() ? "" : ", ") + *one;
  return all;
}

std::string checkpoints::advice() const {
  const std::string kept = what_is_kept();
  return kept.empty() ? "" : fmt::format("kept in {}: {}; the same command goes on from there", m_own.string(), kept);
}

std::optional<ch::scf_result> checkpoints::begin_field(ch::scf_settings& how) {
  m_linear_dependence = how.linear_dependence;
  if (!m_own.empty()) how.keep = [this](const ch::scf_result& scf) { keep_field(scf); };
  const bool has_field =
      m_own_field && m_own_field->scf.orbitals > 0 && m_own_field->linear_dependence == how.linear_dependence;
  if (has_field && m_own_field->scf.converged && std::abs(m_own_field->scf.change) < how.energy_change &&
      m_own_field->scf.gradient < how.gradient) {
    say("scf_start", "SCF", fmt::format("is that of the checkpoint, of {} iterations", m_own_field->scf.iterations),
        "finished");
    return m_own_field->scf;
  }
  require_room();
  if (has_field) {
    const ch::scf_result& scf = m_own_field->scf;
    if (m_options.guess == "sad" || m_options.guess == "core") return std::nullopt;  // asked for a new beginning
    how.guess = ch::scf_guess::density;
    how.start = {scf.density[0], scf.density[m_problem.kind == ch::reference::rhf ? 0 : 1]};
    say("scf_start", "SCF", fmt::format("goes on from iteration {} of the checkpoint", scf.iterations), "checkpoint");
    return std::nullopt;
  }
  if (m_options.guess == "read" || m_options.guess == "projected" || (m_options.guess == "auto" && m_source_field))
    begin_with_source(how);
  return std::nullopt;
}

void checkpoints::begin_with_source(ch::scf_settings& how) {
  if (!m_source_field) return;  // a new folder of --restart has nothing to begin with
  const ch::molecule& of = m_problem.of;
  const int all = ch::electrons(of), unpaired = of.multiplicity - 1;
  try {
    const std::vector<double> cross = ch::overlap_of_functions(m_source_field->system.shells, *m_problem.over);
    how.start = ch::projected_densities(m_source_field->scf, cross, *m_problem.over,
                                        {(all + unpaired) / 2, (all - unpaired) / 2}, how.linear_dependence);
  } catch (const error& e) {
    if (e.kind() != error_kind::input) throw;
    if (m_options.guess != "auto") throw error(e.kind(), e.message(), m_source.string(), e.hint());
    say("scf_start", "SCF", "begins with atoms: " + e.message(), "sad");
    return;
  }
  how.guess = ch::scf_guess::density;
  const bool same = ch::have_same_shells(m_source_field->system.shells, functions_of(m_problem, m_options).shells);
  say("scf_start", "SCF",
      fmt::format("begins with orbitals of {} in {}", m_source.string(), m_source_field->system.basis),
      same ? "read" : "projected");
}

void checkpoints::keep_field(const ch::scf_result& scf) {
  if (m_own.empty()) return;
  try_to_write(fmt::format("{} after {} iterations", name_of(m_problem.kind), scf.iterations), [&] {
    ch::save_field(m_own, {functions_of(m_problem, m_options), m_problem.kind, scf, m_linear_dependence, 0, {}, {}});
    m_kept_field = fmt::format("{} after {} iterations", name_of(m_problem.kind), scf.iterations);
  });
}

std::optional<sial::correlation_result> checkpoints::finished(const ch::scf_result& scf,
                                                              const sial::correlation_settings& how) const {
  std::optional<sial::correlation_result> found = stored_result(scf, how);
  if (found) warn_of_damage();
  return found;
}

void checkpoints::warn_of_damage() const {
  try {
    (void)ch::load_amplitudes(m_own);
  } catch (const error& e) {
    if (e.kind() != error_kind::input) throw;
    fmt::print(stderr, "warning: the amplitudes that are kept are of no use; the energies are\n{}\n", e.what());
    m_report.note("checkpoint_damage", fmt::format("{}: {}", e.where(), e.message()));
  }
}

std::optional<sial::correlation_result> checkpoints::stored_result(const ch::scf_result& scf,
                                                                   const sial::correlation_settings& how) const {
  if (!m_energies || m_energies->orbitals != ch::name_of_orbitals(scf) ||
      m_energies->frozen_core != how.orbitals.frozen_core || m_energies->frozen_virtual != how.orbitals.frozen_virtual)
    return std::nullopt;
  const ch::stored_energies& e = *m_energies;
  sial::correlation_result c;
  c.mp2_same_spin = e.mp2_same_spin;
  c.mp2_opposite_spin = e.mp2_opposite_spin;
  if (how.method == sial::correlation_method::mp2) return c;
  if (!e.ccsd || !has_converged(e.change, e.residual, how)) return std::nullopt;
  c.ccsd = e.ccsd;
  c.iterations = e.iterations;
  c.change = e.change;
  c.residual = e.residual;
  c.t1_diagnostic = e.t1_diagnostic;
  c.d1_diagnostic = e.d1_diagnostic;
  if (how.method == sial::correlation_method::ccsd) return c;
  if (!e.triples) return std::nullopt;
  c.triples = e.triples;
  return c;
}

void checkpoints::keep_energies(const ch::scf_result& scf, const sial::correlation_settings& how,
                                const sial::correlation_result& c) {
  if (m_own.empty()) return;
  ch::stored_energies e;
  e.orbitals = ch::name_of_orbitals(scf);
  e.frozen_core = how.orbitals.frozen_core;
  e.frozen_virtual = how.orbitals.frozen_virtual;
  e.mp2_same_spin = c.mp2_same_spin;
  e.mp2_opposite_spin = c.mp2_opposite_spin;
  if (c.converged) e.ccsd = c.ccsd;
  e.iterations = c.iterations;
  e.change = c.change;
  e.residual = c.residual;
  e.t1_diagnostic = c.t1_diagnostic;
  e.d1_diagnostic = c.d1_diagnostic;
  e.triples = c.triples;
  try_to_write("energies", [&] {
    ch::save_energies(m_own, e);
    m_kept_energies = words_of(e);
    if (!e.triples) return;
    m_kept_triples.clear();  // their sum is there
    std::error_code none;
    std::filesystem::remove(m_own / ch::triples_file, none);
  });
}

std::optional<sial::amplitude_start> checkpoints::projected(std::shared_ptr<const ch::stored_amplitudes> from,
                                                            const ch::amplitudes& zeros, const std::string& folder) {
  std::string why_not;
  if (!ch::have_same_elements(from->system.of, m_problem.of)) {
    why_not = "they are of other atoms";
  } else {
    const std::vector<double> cross = ch::overlap_of_functions(from->system.shells, *m_problem.over);
    auto projection = std::make_shared<ch::amplitude_projection>(from->t, cross, zeros);
    why_not = projection->why_not();
    if (why_not.empty()) {
      say("ccsd_start", "CCSD", fmt::format("begins with amplitudes of {} in {}", folder, from->system.basis),
          "projected");
      sial::amplitude_start start;
      start.from_first_order = [from, projection](ch::amplitudes first) {
        return projection->improved(std::move(first));
      };
      return start;
    }
  }
  say("ccsd_start", "CCSD", fmt::format("begins with MP2; amplitudes of {} are no help: {}", folder, why_not), "mp2");
  return std::nullopt;
}

/// "" where all of the history is there.
std::string checkpoints::why_no_history(const ch::amplitude_state& state, const ch::amplitudes& zeros) const {
  if (state.history == 0) return "there is none";
  try {
    for (int step = std::max(1, state.history - ch::max_history_steps + 1); step <= state.history; ++step)
      (void)ch::load_history_step(m_own, step, zeros);
    return {};
  } catch (const error& e) {
    if (e.kind() != error_kind::input) throw;
    return fmt::format("{}: {}", e.where(), e.message());
  }
}

std::optional<sial::amplitude_start> checkpoints::begin_amplitudes(const ch::amplitudes& zeros,
                                                                   const sial::correlation_settings& how) {
  std::optional<ch::stored_amplitudes> own = m_own.empty() ? std::nullopt : ch::load_amplitudes(m_own);
  if (own && own->t.closed == zeros.closed && own->t.spins == zeros.spins &&
      ch::difference_between(own->system, functions_of(m_problem, m_options)).empty()) {
    sial::amplitude_start start;
    start.state = own->state;
    start.state.converged = own->state.converged && has_converged(own->state.change, own->state.residual, how);
    m_kept_amplitudes = fmt::format("CCSD after {} iterations", own->state.iteration);
    m_amplitudes = own->state;
    start.same = std::move(own->t);
    if (start.state.converged) {
      say("ccsd_start", "CCSD", fmt::format("is that of the checkpoint, of {} iterations", start.state.iteration),
          "finished");
      return start;
    }
    const std::string why = why_no_history(start.state, zeros);
    if (!why.empty()) start.state.history = 0;
    m_report.note("diis_history", start.state.history > 0);
    say("ccsd_start", "CCSD",
        fmt::format("goes on from iteration {} of the checkpoint, {}", start.state.iteration,
                    why.empty() ? "with the history of DIIS" : "without the history of DIIS: " + why),
        "checkpoint");
    return start;
  }
  if (own) return projected(std::make_shared<const ch::stored_amplitudes>(std::move(*own)), zeros, m_own.string());
  std::optional<ch::stored_amplitudes> other = m_source.empty() ? std::nullopt : ch::load_amplitudes(m_source);
  if (other)
    return projected(std::make_shared<const ch::stored_amplitudes>(std::move(*other)), zeros, m_source.string());
  return std::nullopt;
}

sial::amplitude_keeping checkpoints::keeping(const sial::correlation_settings& how) {
  sial::amplitude_keeping keeping;
  if (m_own.empty() && m_source.empty()) return keeping;
  require_room();
  keeping.begin = [this, how](const ch::amplitudes& zeros) { return begin_amplitudes(zeros, how); };
  if (m_own.empty()) return keeping;
  m_last_kept = clock::now();
  keeping.is_due = [this](int) {
    return std::chrono::duration<double>(clock::now() - m_last_kept).count() >= m_options.checkpoint_interval;
  };
  keeping.keep = [this](const ch::amplitudes& t, const sial::amplitude_state& at) {
    if (!std::isfinite(at.energy) || !std::isfinite(at.residual) || !are_finite(t)) return;
    // What grows away from the solution is worse than what is there.
    m_min_residual = std::min(m_min_residual, at.residual);
    m_diverges = at.residual > 100 * m_min_residual;
    if (m_diverges) return;
    try_to_write(fmt::format("CCSD after {} iterations", at.iteration), [&] {
      ch::save_amplitudes(m_own, functions_of(m_problem, m_options), t, at);
      ch::remove_history_before(m_own, at.history);
      m_kept_amplitudes = fmt::format("CCSD after {} iterations", at.iteration);
      m_amplitudes = at;
    });
    m_last_kept = clock::now();
  };
  keeping.load_history = [this](int step, const ch::amplitudes& like) {
    return ch::load_history_step(m_own, step, like);
  };
  if (!m_has_room_for_history) return keeping;
  keeping.keep_history = [this](int step, const ch::history_step& what) {
    if (m_diverges) return false;
    const bool is_kept = try_to_write("the history of DIIS", [&] { ch::save_history_step(m_own, step, what); });
    if (!is_kept) ch::remove_history_before(m_own, 0);  // room for the amplitudes
    return is_kept;
  };
  return keeping;
}

/// Those of the same field, orbitals and amplitudes.
std::vector<double> checkpoints::known_triples(const ch::stored_triples& of, std::size_t count) {
  const auto belongs = [&](const ch::stored_triples& found) {
    return found.orbitals == of.orbitals && found.frozen_core == of.frozen_core &&
           found.frozen_virtual == of.frozen_virtual && found.amplitudes.iteration == of.amplitudes.iteration &&
           found.amplitudes.energy == of.amplitudes.energy && found.amplitudes.residual == of.amplitudes.residual &&
           found.energies.size() == count;
  };
  std::string why_not;
  try {
    std::optional<ch::stored_triples> found = ch::load_triples(m_own);
    if (!found) return {};
    if (belongs(*found)) {
      const auto known = std::ranges::count_if(found->energies, [](double e) { return !std::isnan(e); });
      m_report.note("triples_known", known);
      say("triples_start", "(T)", fmt::format("goes on: {} triples are known", known), "checkpoint");
      return std::move(found->energies);
    }
    why_not = "the triples of the checkpoint are of other amplitudes";
  } catch (const error& e) {
    if (e.kind() != error_kind::input) throw;
    why_not = fmt::format("{}: {}", e.where(), e.message());
  }
  say("triples_start", "(T)", "begins again: " + why_not, "new");
  return {};
}

std::optional<sial::triples_keeping> checkpoints::keeping_triples(const ch::scf_result& scf,
                                                                  const sial::correlation_settings& how) {
  if (m_own.empty()) return std::nullopt;
  ch::stored_triples of;
  of.orbitals = ch::name_of_orbitals(scf);
  of.frozen_core = how.orbitals.frozen_core;
  of.frozen_virtual = how.orbitals.frozen_virtual;
  sial::triples_keeping keeping;
  keeping.begin = [this, of](std::size_t count) mutable {
    of.amplitudes = m_amplitudes;
    m_last_triples = clock::now();
    return known_triples(of, count);
  };
  keeping.is_due = [this] {
    // At most a twentieth of the time goes into it.
    const double interval = std::max({min_interval, m_options.checkpoint_interval, 20 * m_triples_seconds});
    return std::chrono::duration<double>(clock::now() - m_last_triples).count() >= interval;
  };
  keeping.keep = [this, of](const std::vector<double>& energies) mutable {
    of.amplitudes = m_amplitudes;
    of.energies = energies;
    const auto start = clock::now();
    try_to_write("triples", [&] {
      ch::save_triples(m_own, of);
      const auto known = std::ranges::count_if(energies, [](double e) { return !std::isnan(e); });
      m_kept_triples = fmt::format("{} triples", known);
    });
    m_last_triples = clock::now();
    m_triples_seconds = std::chrono::duration<double>(m_last_triples - start).count();
  };
  return keeping;
}

}  // namespace tessera::apps
