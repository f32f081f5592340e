#include "libraries/chemistry/job/write_qcschema.hpp"

#include <nlohmann/json.hpp>

#include "libraries/chemistry/molecule/element.hpp"

namespace tessera::chemistry {
namespace {

using nlohmann::ordered_json;

ordered_json molecule_json(const molecule& m) {
  auto symbols = ordered_json::array(), geometry = ordered_json::array();
  for (const atom& one : m.atoms) {
    symbols.push_back(symbol_of(one.number));
    for (const double x : one.at) geometry.push_back(x);
  }
  return {{"schema_name", "qcschema_molecule"},
          {"schema_version", 2},
          {"symbols", symbols},
          {"geometry", geometry},
          {"molecular_charge", m.charge},
          {"molecular_multiplicity", m.multiplicity},
          {"fix_com", true},
          {"fix_orientation", true}};
}

/// Each method has the energies of those before it.
ordered_json properties_json(const job_result& r) {
  ordered_json p{{"calcinfo_nbasis", r.functions},
                 {"calcinfo_nmo", r.orbitals},
                 {"calcinfo_nalpha", r.electrons[0]},
                 {"calcinfo_nbeta", r.electrons[1]},
                 {"calcinfo_natom", r.geometry.atoms.size()},
                 {"nuclear_repulsion_energy", nuclear_repulsion(r.geometry)},
                 {"return_energy", r.energy},
                 {"scf_total_energy", r.scf_energy},
                 {"scf_iterations", r.scf_iterations},
                 {"scf_dipole_moment", r.dipole}};
  const auto add = [&](const char* name, const std::optional<double>& value) {
    if (value) p[name] = *value;
  };
  const auto add_total = [&](const char* name, const std::optional<double>& correlation) {
    if (correlation) p[name] = r.scf_energy + *correlation;
  };
  add("mp2_same_spin_correlation_energy", r.mp2_same_spin);
  add("mp2_opposite_spin_correlation_energy", r.mp2_opposite_spin);
  add("mp2_correlation_energy", r.mp2);
  add_total("mp2_total_energy", r.mp2);
  add("ccsd_correlation_energy", r.ccsd);
  add_total("ccsd_total_energy", r.ccsd);
  if (r.ccsd_iterations) p["ccsd_iterations"] = *r.ccsd_iterations;
  if (r.ccsd && r.triples) {
    p["ccsd_prt_pr_correlation_energy"] = *r.ccsd + *r.triples;
    p["ccsd_prt_pr_total_energy"] = r.scf_energy + *r.ccsd + *r.triples;
  }
  return p;
}

/// A text that was read before; of none, and of a damaged one, nothing.
ordered_json input_json(const std::string& input) {
  ordered_json read = ordered_json::parse(input, nullptr, false);
  return read.is_object() ? read : ordered_json(nullptr);
}

std::string text_of(const ordered_json& document) {
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string qcschema_result(const job_result& of, const std::string& input) {
  const ordered_json asked = input_json(input);
  const auto kept = [&](const char* key) {
    const bool there = asked.is_object() && asked.contains(key) && asked.at(key).is_object();
    return there ? asked.at(key) : ordered_json::object();
  };
  ordered_json result{{"schema_name", "qcschema_output"},
                      {"schema_version", 1},
                      {"molecule", molecule_json(of.geometry)},
                      {"driver", "energy"},
                      {"model", {{"method", of.method}, {"basis", of.basis}}},
                      {"keywords", kept("keywords")},
                      {"extras", kept("extras")},
                      {"properties", properties_json(of)},
                      {"return_result", of.energy},
                      {"success", true},
                      {"provenance", {{"creator", "Tessera"}, {"version", of.creator}, {"routine", "tessera chem"}}}};
  if (asked.is_object() && asked.contains("id")) result["id"] = asked.at("id");
  return text_of(result);
}

std::string qcschema_failure(const std::string& kind, const std::string& message, const std::string& input) {
  ordered_json result{{"success", false},
                      {"error", {{"error_type", kind}, {"error_message", message}}},
                      {"input_data", input_json(input)}};
  if (result["input_data"].is_object() && result["input_data"].contains("id"))
    result["id"] = result["input_data"]["id"];
  return text_of(result);
}

}  // namespace tessera::chemistry
