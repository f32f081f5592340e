#include "libraries/chemistry/checkpoint/amplitudes.hpp"

#include <stdexcept>
#include <utility>

#include "libraries/chemistry/checkpoint/record.hpp"

namespace tessera::chemistry {
namespace {

struct amplitude_part {
  std::string name;
  std::vector<double>* values;
  std::size_t elements;
};

/// All arrays with their names and sizes, which follow from the numbers of orbitals.
std::vector<amplitude_part> parts_of(amplitudes& t, std::size_t functions) {
  std::vector<amplitude_part> parts;
  const std::array words{" alpha", " beta"};
  const std::size_t spins = t.closed ? 1 : 2;
  for (std::size_t s = 0; s < spins; ++s) {
    active_orbitals& of = t.spins[s];
    const std::size_t pairs = of.empty * of.occupied;
    const std::string word = t.closed ? "" : words[s];
    parts.push_back({"orbitals" + word, &of.c, functions * (of.occupied + of.empty)});
    parts.push_back({"singles" + word, &t.singles[s], pairs});
    if (!t.closed) parts.push_back({"doubles" + word, &t.alike[s], pairs * pairs});
  }
  const active_orbitals &a = t.of_spin(0), &b = t.of_spin(1);
  parts.push_back({"doubles", &t.mixed, a.empty * a.occupied * b.empty * b.occupied});
  return parts;
}

}  // namespace

amplitudes zero_amplitudes(bool closed, std::array<active_orbitals, 2> spins) {
  amplitudes t;
  t.closed = closed;
  t.spins = std::move(spins);
  for (const amplitude_part& p : parts_of(t, 0))
    if (!p.name.starts_with("orbitals")) p.values->assign(p.elements, 0.0);
  return t;
}

std::uint64_t elements_of(bool closed, const std::array<active_orbitals, 2>& spins) noexcept {
  std::uint64_t pairs[2] = {};
  for (const std::size_t s : {0, 1}) {
    const active_orbitals& of = spins[closed ? 0 : s];
    pairs[s] = std::uint64_t{of.empty} * of.occupied;
  }
  if (closed) return pairs[0] + pairs[0] * pairs[0];
  return pairs[0] + pairs[1] + pairs[0] * pairs[1] + pairs[0] * pairs[0] + pairs[1] * pairs[1];
}

void save_amplitudes(const std::filesystem::path& folder, const system_of_functions& of, const amplitudes& t,
                     const amplitude_state& at) {
  auto counts = nlohmann::ordered_json::array();
  named_arrays arrays;
  const std::array words{" alpha", " beta"};
  for (std::size_t s = 0; s < (t.closed ? 1u : 2u); ++s) {
    counts.push_back({{"occupied", t.spins[s].occupied}, {"virtual", t.spins[s].empty}});
    const std::string word = t.closed ? "" : words[s];
    arrays.emplace_back("orbitals" + word, t.spins[s].c);
    arrays.emplace_back("singles" + word, t.singles[s]);
    if (!t.closed) arrays.emplace_back("doubles" + word, t.alike[s]);
  }
  arrays.emplace_back("doubles", t.mixed);
  save_record(folder / amplitudes_file, "amplitudes",
              {{"system", to_json(of)},
               {"closed_shell", t.closed},
               {"spins", counts},
               {"functions", functions(of.shells)},
               {"iteration", at.iteration},
               {"correlation_energy", at.energy},
               {"energy_change", at.change},
               {"residual", at.residual},
               {"converged", at.converged},
               {"history", at.history}},
              arrays);
}

std::optional<stored_amplitudes> load_amplitudes(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / amplitudes_file;
  std::optional<record> found = load_record(file, "amplitudes");
  if (!found) return std::nullopt;
  return reading_header(file, [&]() -> std::optional<stored_amplitudes> {
    try {
      const nlohmann::ordered_json& h = found->header;
      stored_amplitudes out;
      out.bytes = found->bytes;
      out.written_by = h.at("written_by").get<std::string>();
      out.written_at = h.at("written_at").get<std::string>();
      out.system = system_from(h.at("system"));
      out.state.iteration = h.at("iteration").get<int>();
      out.state.energy = h.at("correlation_energy").get<double>();
      out.state.change = h.at("energy_change").get<double>();
      out.state.residual = h.at("residual").get<double>();
      out.state.converged = h.at("converged").get<bool>();
      out.state.history = h.value("history", 0);
      out.t.closed = h.at("closed_shell").get<bool>();
      const auto n = h.at("functions").get<std::size_t>();
      if (n != functions(out.system.shells))
        throw std::invalid_argument("the number of functions is not that of its shells");
      for (std::size_t s = 0; s < (out.t.closed ? 1u : 2u); ++s) {
        active_orbitals& of = out.t.spins[s];
        of.occupied = h.at("spins").at(s).at("occupied").get<std::size_t>();
        of.empty = h.at("spins").at(s).at("virtual").get<std::size_t>();
        if (of.occupied > n || of.empty > n - of.occupied)
          throw std::invalid_argument("there are more orbitals than functions");
      }
      for (const amplitude_part& p : parts_of(out.t, n)) *p.values = take_array(*found, p.name, p.elements, file);
      return out;
    } catch (const std::invalid_argument& e) {
      refuse_file(file, std::string("the checkpoint contradicts itself: ") + e.what());
    }
  });
}

}  // namespace tessera::chemistry
