#include "libraries/chemistry/checkpoint/triples.hpp"

#include "libraries/chemistry/checkpoint/record.hpp"

namespace tessera::chemistry {

void save_triples(const std::filesystem::path& folder, const stored_triples& what) {
  save_record(folder / triples_file, "triples",
              {{"orbitals", what.orbitals},
               {"frozen_core", what.frozen_core},
               {"frozen_virtual", what.frozen_virtual},
               {"iteration", what.amplitudes.iteration},
               {"correlation_energy", what.amplitudes.energy},
               {"residual", what.amplitudes.residual},
               {"triples", what.energies.size()}},
              {{"energies", what.energies}});
}

std::optional<stored_triples> load_triples(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / triples_file;
  std::optional<record> found = load_record(file, "triples");
  if (!found) return std::nullopt;
  return reading_header(file, [&]() -> std::optional<stored_triples> {
    const nlohmann::ordered_json& h = found->header;
    stored_triples out;
    out.orbitals = h.at("orbitals").get<std::string>();
    out.frozen_core = h.at("frozen_core").get<int>();
    out.frozen_virtual = h.at("frozen_virtual").get<int>();
    out.amplitudes.iteration = h.at("iteration").get<int>();
    out.amplitudes.energy = h.at("correlation_energy").get<double>();
    out.amplitudes.residual = h.at("residual").get<double>();
    out.written_by = h.at("written_by").get<std::string>();
    out.written_at = h.at("written_at").get<std::string>();
    out.energies = take_array(*found, "energies", h.at("triples").get<std::size_t>(), file);
    return out;
  });
}

}  // namespace tessera::chemistry
