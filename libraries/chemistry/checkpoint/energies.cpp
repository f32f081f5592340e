#include "libraries/chemistry/checkpoint/energies.hpp"

#include "libraries/chemistry/checkpoint/record.hpp"

namespace tessera::chemistry {

void save_energies(const std::filesystem::path& folder, const stored_energies& what) {
  nlohmann::ordered_json header{{"orbitals", what.orbitals},
                                {"frozen_core", what.frozen_core},
                                {"frozen_virtual", what.frozen_virtual},
                                {"mp2_same_spin", what.mp2_same_spin},
                                {"mp2_opposite_spin", what.mp2_opposite_spin}};
  if (what.ccsd) {
    header["ccsd"] = *what.ccsd;
    header["iterations"] = what.iterations;
    header["energy_change"] = what.change;
    header["residual"] = what.residual;
    header["t1_diagnostic"] = what.t1_diagnostic;
    header["d1_diagnostic"] = what.d1_diagnostic;
  }
  if (what.triples) header["triples"] = *what.triples;
  save_record(folder / energies_file, "energies", std::move(header), {});
}

std::optional<stored_energies> load_energies(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / energies_file;
  const std::optional<record> found = load_record(file, "energies");
  if (!found) return std::nullopt;
  return reading_header(file, [&]() -> std::optional<stored_energies> {
    const nlohmann::ordered_json& h = found->header;
    stored_energies out;
    out.orbitals = h.at("orbitals").get<std::string>();
    out.frozen_core = h.at("frozen_core").get<int>();
    out.frozen_virtual = h.at("frozen_virtual").get<int>();
    out.mp2_same_spin = h.at("mp2_same_spin").get<double>();
    out.mp2_opposite_spin = h.at("mp2_opposite_spin").get<double>();
    if (h.contains("ccsd")) {
      out.ccsd = h.at("ccsd").get<double>();
      out.iterations = h.at("iterations").get<int>();
      out.change = h.at("energy_change").get<double>();
      out.residual = h.at("residual").get<double>();
      out.t1_diagnostic = h.at("t1_diagnostic").get<double>();
      out.d1_diagnostic = h.at("d1_diagnostic").get<double>();
    }
    if (h.contains("triples")) out.triples = h.at("triples").get<double>();
    out.written_by = h.at("written_by").get<std::string>();
    out.written_at = h.at("written_at").get<std::string>();
    return out;
  });
}

}  // namespace tessera::chemistry
