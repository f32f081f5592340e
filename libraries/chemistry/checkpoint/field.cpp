#include "libraries/chemistry/checkpoint/field.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <utility>

#include "core/base/cache_folder.hpp"
#include "libraries/chemistry/checkpoint/record.hpp"

namespace tessera::chemistry {
namespace {

constexpr std::array spin_words{"alpha", "beta"};

/// The arrays of a field by their names, and how many numbers each has.
struct field_part {
  std::string name;
  std::vector<double>* values;
  std::size_t elements;
};
std::vector<field_part> parts_of(scf_result& scf, reference kind) {
  std::vector<field_part> parts;
  const std::size_t n = scf.functions, m = scf.orbitals;
  for (std::size_t s = 0; s < 2; ++s) {
    const std::string of = std::string(" ") + spin_words[s];
    if (s == 0 || kind == reference::uhf) {
      parts.push_back({"orbitals" + of, &scf.c[s], n * m});
      parts.push_back({"orbital energies" + of, &scf.energies[s], m});
    }
    if (s == 0 || kind != reference::rhf) {
      parts.push_back({"fock matrix" + of, &scf.fock[s], n * n});
      parts.push_back({"density" + of, &scf.density[s], n * n});
    }
  }
  return parts;
}

}  // namespace

void save_field(const std::filesystem::path& folder, const stored_field& what) {
  scf_result scf = what.scf;
  named_arrays arrays;
  for (const field_part& p : parts_of(scf, what.kind)) arrays.emplace_back(p.name, *p.values);
  nlohmann::ordered_json header{{"system", to_json(what.system)},
                                {"reference", word_of(what.kind)},
                                {"functions", scf.functions},
                                {"orbitals", scf.orbitals},
                                {"occupied", scf.occupied},
                                {"converged", scf.converged},
                                {"iterations", scf.iterations},
                                {"energy", scf.energy},
                                {"energy_change", scf.change},
                                {"gradient", scf.gradient},
                                {"spin_squared", scf.spin_squared},
                                {"dipole", scf.dipole},
                                {"linear_dependence", what.linear_dependence}};
  save_record(folder / field_file, "field", std::move(header), arrays);
}

std::optional<stored_field> load_field(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / field_file;
  std::optional<record> found = load_record(file, "field");
  if (!found) return std::nullopt;
  return reading_header(file, [&]() -> std::optional<stored_field> {
    try {
      const nlohmann::ordered_json& h = found->header;
      stored_field out;
      out.bytes = found->bytes;
      out.written_by = h.at("written_by").get<std::string>();
      out.written_at = h.at("written_at").get<std::string>();
      out.system = system_from(h.at("system"));
      out.kind = reference_from(h.at("reference").get<std::string>());
      out.linear_dependence = h.at("linear_dependence").get<double>();
      scf_result& scf = out.scf;
      scf.functions = h.at("functions").get<std::size_t>();
      scf.orbitals = h.at("orbitals").get<std::size_t>();
      scf.occupied = h.at("occupied").get<std::array<int, 2>>();
      scf.converged = h.at("converged").get<bool>();
      scf.iterations = h.at("iterations").get<int>();
      scf.energy = h.at("energy").get<double>();
      scf.change = h.at("energy_change").get<double>();
      scf.gradient = h.at("gradient").get<double>();
      scf.spin_squared = h.at("spin_squared").get<double>();
      scf.dipole = h.at("dipole").get<std::array<double, 3>>();
      if (scf.functions != functions(out.system.shells) || scf.orbitals > scf.functions)
        throw std::invalid_argument("the number of functions is not that of its shells");
      for (const int occupied : scf.occupied)
        if (occupied < 0 || static_cast<std::size_t>(occupied) > scf.orbitals)
          throw std::invalid_argument("there are more electrons than orbitals");
      for (const field_part& p : parts_of(scf, out.kind)) *p.values = take_array(*found, p.name, p.elements, file);
      return out;
    } catch (const std::invalid_argument& e) {
      refuse_file(file, std::string("the checkpoint contradicts itself: ") + e.what());
    }
  });
}

std::string name_of_orbitals(const scf_result& scf) {
  std::uint64_t hash = hash_of("");
  for (const std::vector<double>& c : scf.c)
    hash = hash_of({reinterpret_cast<const char*>(c.data()), c.size() * sizeof(double)}, hash);
  return fmt::format("{:016x}", hash);
}

}  // namespace tessera::chemistry
