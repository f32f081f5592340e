#include "apps/chem/results.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "libraries/chemistry/exchange/fcidump.hpp"
#include "libraries/chemistry/exchange/molden.hpp"
#include "libraries/chemistry/exchange/trexio.hpp"
#include "libraries/chemistry/job/job.hpp"
#include "libraries/chemistry/job/write_qcschema.hpp"
#include "libraries/chemistry/molecule/text_reader.hpp"

namespace tessera::apps {
namespace {

/// The AtomicInput that is answered, if the calculation came from one.
std::string input_of(const chem_options& o) {
  return chemistry::in_small_letters(std::filesystem::path(o.file).extension().string()) == ".json"
             ? chemistry::text_of_file(o.file)
             : std::string();
}

template <typename type>
std::optional<type> value_of(const nlohmann::json& found, const char* key) {
  return found.contains(key) ? std::optional(found.at(key).get<type>()) : std::nullopt;
}

/// What of the energies is the method's own.
double energy_of(const std::string& method, const nlohmann::json& found) {
  const char* const key = method == "mp2"       ? "mp2_energy"
                          : method == "ccsd"    ? "ccsd_energy"
                          : method == "ccsd(t)" ? "ccsd_t_energy"
                                                : "scf_energy";
  return found.at(key).get<double>();
}

}  // namespace

void check_result_files(const chem_options& o, const problem& p) {
  for (const auto& [option, file] :
       {std::pair("--molden", &o.molden), {"--trexio", &o.trexio}, {"--qcschema", &o.qcschema}})
    if (p.is_model && !file->empty())
      throw error(error_kind::usage, "a Hamiltonian has no molecule to write", option, "--json has the energies");
  for (const std::string* const file : {&o.molden, &o.fcidump, &o.trexio, &o.qcschema})
    if (!file->empty()) require_writable(*file);
  if (const std::string why = o.trexio.empty() ? "" : chemistry::why_no_trexio(); !why.empty())
    throw error(error_kind::configuration, "the library of TREXIO cannot be opened: " + why, "--trexio",
                "install it (Debian: libtrexio0)");
  if (o.trexio == "-") throw error(error_kind::usage, "HDF5 does not go to standard output", "--trexio");
  if (!o.molden.empty()) chemistry::check_molden_functions(*p.over);
  if (!o.trexio.empty()) chemistry::check_trexio_shells(*p.over);
}

void add_orbital_files(session& to, const chem_options& o, const problem& p, const chemistry::scf_result& scf) {
  if (!o.molden.empty())
    to.add_file(o.molden, chemistry::molden_text(*p.over, scf, p.title + " " + o.basis + " " + name_of(p.kind)));
  if (!o.trexio.empty()) chemistry::write_trexio(o.trexio, *p.over, scf);
  if (o.fcidump.empty()) return;
  const auto active =
      std::make_shared<chemistry::hamiltonian>(chemistry::hamiltonian_of(*p.over, scf, p.frozen, o.frozen_virtual));
  active->core_energy += p.core_energy;
  to.add_file(o.fcidump, [active] { return chemistry::fcidump_text(*active); });
}

void add_qcschema_file(session& to, const chem_options& o, const problem& p, const chemistry::scf_result& scf,
                       const report& found) {
  if (o.qcschema.empty()) return;
  const nlohmann::json values = nlohmann::json::parse(found.to_json());
  chemistry::job_result r;
  r.geometry = p.of;
  r.method = chemistry::usual_method(o.method);
  r.basis = o.basis;
  const std::string program = o.of->above->version;  // "tessera 1.2.3"
  r.creator = program.substr(program.find(' ') + 1);
  r.functions = scf.functions;
  r.orbitals = scf.orbitals;
  r.electrons = scf.occupied;
  r.energy = energy_of(r.method, values);
  r.scf_energy = scf.energy;
  r.scf_iterations = scf.iterations;
  r.dipole = scf.dipole;
  r.mp2 = value_of<double>(values, "mp2_energy_correlation");
  r.mp2_same_spin = value_of<double>(values, "mp2_same_spin");
  r.mp2_opposite_spin = value_of<double>(values, "mp2_opposite_spin");
  r.ccsd = value_of<double>(values, "ccsd_energy_correlation");
  r.ccsd_iterations = value_of<int>(values, "ccsd_iterations");
  r.triples = value_of<double>(values, "triples");
  to.add_file(o.qcschema, chemistry::qcschema_result(r, input_of(o)));
}

void write_qcschema_failure(const chem_options& o, const std::exception& why) noexcept {
  if (o.qcschema.empty()) return;
  std::string kind(name_of(error_kind::internal)), words = why.what(), input;
  if (const auto* const told = dynamic_cast<const error*>(&why)) {
    kind = name_of(told->kind());
    words = told->where().empty() ? told->message() : told->where() + ": " + told->message();
  }
  try {
    input = input_of(o);
  } catch (const error&) {
    input.clear();  // that it cannot be read is what is told
  }
  try {
    write_text(o.qcschema, chemistry::qcschema_failure(kind, words, input));
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace tessera::apps
