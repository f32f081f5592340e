// tessera checkpoint show: what a folder of checkpoints has inside.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/chem/formula.hpp"
#include "apps/cli/commands.hpp"
#include "apps/common/session.hpp"
#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "languages/sial/job/checkpoint.hpp"
#include "libraries/chemistry/checkpoint/amplitudes.hpp"
#include "libraries/chemistry/checkpoint/energies.hpp"
#include "libraries/chemistry/checkpoint/field.hpp"
#include "libraries/chemistry/checkpoint/triples.hpp"

namespace tessera::cli {
namespace {

using nlohmann::ordered_json;

struct show_options {
  std::string folder, json;
};

/// What was found, for people and for programs.
class listing {
 public:
  explicit listing(const std::string& folder) : m_json{{"folder", folder}} {}

  /// Takes what `look` returns under a key, unless it is null. What is damaged is listed with the others.
  void add(const char* key, const std::function<ordered_json()>& look) {
    try {
      if (ordered_json found = look(); !found.is_null()) m_json[key] = std::move(found);
    } catch (const error& e) {
      if (e.kind() != error_kind::input) throw;
      m_json["damaged"].push_back({{"file", e.where()}, {"why", e.message()}});
      line("damaged", fmt::format("{}: {}", e.where(), e.message()));
    }
  }
  void line(const std::string& label, const std::string& text) { m_text += fmt::format("{:<12} {}\n", label, text); }
  bool is_empty() const { return m_json.size() == 1; }
  bool is_damaged() const { return m_json.contains("damaged"); }
  const std::string& to_text() const noexcept { return m_text; }
  std::string to_json() const { return m_json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n"; }

 private:
  ordered_json m_json;
  std::string m_text;
};

/// Molecule and basis of a file.
ordered_json describe(const chemistry::system_of_functions& one, const char* label, listing& to) {
  const std::string formula = apps::formula_of(one.of);
  to.line(label, fmt::format("{} in {}: {} atoms, {} functions, multiplicity {}{}", formula, one.basis,
                             one.of.atoms.size(), chemistry::functions(one.shells), one.of.multiplicity,
                             one.of.name.empty() ? "" : ", from " + one.of.name));
  return {{"molecule", formula},     {"name", one.of.name},
          {"charge", one.of.charge}, {"multiplicity", one.of.multiplicity},
          {"basis", one.basis},      {"functions", chemistry::functions(one.shells)}};
}

ordered_json field_in(const std::filesystem::path& folder, listing& to, std::string& orbitals) {
  const auto found = chemistry::load_field(folder);
  if (!found) return nullptr;
  const chemistry::scf_result& scf = found->scf;
  orbitals = chemistry::name_of_orbitals(scf);
  ordered_json out = describe(found->system, "field", to);
  to.line("", fmt::format("{}, {} after {} iterations: {:.10f} hartree, change {:.1e}, gradient {:.1e}",
                          chemistry::word_of(found->kind), scf.converged ? "converged" : "not converged",
                          scf.iterations, scf.energy, scf.change, scf.gradient));
  to.line("", fmt::format("{}, {}, {}", format_bytes(found->bytes), found->written_by, found->written_at));
  out.update(ordered_json{{"reference", chemistry::word_of(found->kind)},
                          {"converged", scf.converged},
                          {"iterations", scf.iterations},
                          {"energy", scf.energy},
                          {"change", scf.change},
                          {"gradient", scf.gradient},
                          {"bytes", found->bytes},
                          {"written_by", found->written_by},
                          {"written_at", found->written_at}});
  return out;
}

ordered_json amplitudes_in(const std::filesystem::path& folder, listing& to) {
  const auto found = chemistry::load_amplitudes(folder);
  if (!found) return nullptr;
  ordered_json out = describe(found->system, "amplitudes", to);
  std::size_t occupied = 0, empty = 0;
  for (std::size_t s = 0; s < (found->t.closed ? 1u : 2u); ++s) {
    occupied += found->t.spins[s].occupied;
    empty += found->t.spins[s].empty;
  }
  to.line("", fmt::format("ccsd, {} after {} iterations: correlation {:.10f} hartree, change {:.1e}, residual {:.1e}",
                          found->state.converged ? "converged" : "not converged", found->state.iteration,
                          found->state.energy, found->state.change, found->state.residual));
  if (found->state.history > 0) to.line("", "with the history of DIIS");
  to.line("", fmt::format("{} occupied and {} virtual {}, {}, {}, {}", occupied, empty,
                          found->t.closed ? "orbitals" : "spin orbitals", format_bytes(found->bytes), found->written_by,
                          found->written_at));
  out.update(ordered_json{{"converged", found->state.converged},
                          {"iterations", found->state.iteration},
                          {"correlation_energy", found->state.energy},
                          {"change", found->state.change},
                          {"residual", found->state.residual},
                          {"history", found->state.history},
                          {"occupied", occupied},
                          {"virtual", empty},
                          {"bytes", found->bytes},
                          {"written_by", found->written_by},
                          {"written_at", found->written_at}});
  return out;
}

ordered_json triples_in(const std::filesystem::path& folder, listing& to) {
  const auto found = chemistry::load_triples(folder);
  if (!found) return nullptr;
  const auto known = std::ranges::count_if(found->energies, [](double e) { return !std::isnan(e); });
  to.line("triples",
          fmt::format("{} are known, of amplitudes after {} iterations", known, found->amplitudes.iteration));
  to.line("", fmt::format("{}, {}", found->written_by, found->written_at));
  return {{"known", known},
          {"iterations", found->amplitudes.iteration},
          {"frozen_core", found->frozen_core},
          {"frozen_virtual", found->frozen_virtual},
          {"written_by", found->written_by},
          {"written_at", found->written_at}};
}

ordered_json energies_in(const std::filesystem::path& folder, listing& to, const std::string& orbitals) {
  const auto found = chemistry::load_energies(folder);
  if (!found) return nullptr;
  const bool of_field = found->orbitals == orbitals;
  to.line("energies", fmt::format("of correlation, hartree; {} and {} orbitals frozen{}", found->frozen_core,
                                  found->frozen_virtual, of_field ? "" : "; of other orbitals than the field's"));
  ordered_json out{{"of_the_field", of_field},
                   {"frozen_core", found->frozen_core},
                   {"frozen_virtual", found->frozen_virtual},
                   {"mp2", found->mp2_same_spin + found->mp2_opposite_spin}};
  to.line("", fmt::format("MP2 {:.10f}", found->mp2_same_spin + found->mp2_opposite_spin));
  if (found->ccsd) {
    to.line("", fmt::format("CCSD {:.10f}, {} iterations, residual {:.1e}", *found->ccsd, found->iterations,
                            found->residual));
    out["ccsd"] = *found->ccsd;
  }
  if (found->triples) {
    to.line("", fmt::format("(T) {:.10f}", *found->triples));
    out["triples"] = *found->triples;
  }
  to.line("", fmt::format("{}, {}", found->written_by, found->written_at));
  out["written_by"] = found->written_by;
  out["written_at"] = found->written_at;
  return out;
}

ordered_json sial_in(const std::filesystem::path& folder, listing& to) {
  const auto found = sial::summary_of_checkpoint(folder);
  if (!found) return nullptr;
  auto items = ordered_json::array();
  to.line("sial", fmt::format("{} of {} programs completed: {}", found->completed, found->programs.size(),
                              fmt::join(found->programs, ", ")));
  for (const auto& item : found->items) {
    to.line("", fmt::format("{:<20} {:<8} {}", item.label, item.kind, format_bytes(item.bytes)));
    items.push_back({{"label", item.label}, {"kind", item.kind}, {"bytes", item.bytes}});
  }
  return {{"programs", found->programs}, {"completed", found->completed}, {"items", items}};
}

int show(const show_options& o) {
  const std::filesystem::path folder = o.folder;
  std::error_code none;
  if (!std::filesystem::is_directory(folder, none))
    throw error(error_kind::input, "there is no such folder", o.folder, "name the folder of --restart or --checkpoint");
  listing found(o.folder);
  std::string orbitals;
  found.add("field", [&] { return field_in(folder, found, orbitals); });
  found.add("amplitudes", [&] { return amplitudes_in(folder, found); });
  found.add("triples", [&] { return triples_in(folder, found); });
  found.add("energies", [&] { return energies_in(folder, found, orbitals); });
  found.add("sial", [&] { return sial_in(folder, found); });
  if (found.is_empty())
    throw error(error_kind::input, "the folder has no checkpoints", o.folder,
                "tessera chem --restart and tessera sial run --checkpoint write them");
  apps::write_results(
      {{o.json, [&] { return found.to_json(); }}, {apps::unless_json(o.json), [&] { return found.to_text(); }}});
  return found.is_damaged() ? exit_code_of(error_kind::input) : 0;
}

}  // namespace

void add_checkpoint(command_table& to) {
  command_table& all = to.add_command("checkpoint", "Look at what jobs have kept for their next start");
  auto o = std::make_shared<show_options>();
  command_table& sub = all.add_command("show", "List what is in a folder of checkpoints, and check that it is whole");
  sub.add(
      {{"folder", &o->folder, "DIR", "of tessera chem --restart, or tessera sial run --checkpoint", {.required = true}},
       {"--json", &o->json, "FILE", "write it as JSON; - is standard output, instead of the list"}});
  sub.footer = "Example:\n  tessera checkpoint show water.restart";
  sub.run = [o] { return show(*o); };
}

}  // namespace tessera::cli
