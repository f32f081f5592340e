#pragma once
// Molecules and basis functions in the headers of checkpoints.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "libraries/chemistry/basis/shell.hpp"
#include "libraries/chemistry/molecule/molecule.hpp"
#include "libraries/chemistry/scf/scf.hpp"

namespace tessera::chemistry {

/// A molecule with its basis functions. The name of the set is for people; the shells decide.
struct system_of_functions {
  molecule of;
  std::string basis;
  std::vector<shell> shells;
};

nlohmann::ordered_json to_json(const system_of_functions& one);
/// Throws nlohmann::json::exception or std::invalid_argument where it contradicts itself.
system_of_functions system_from(const nlohmann::ordered_json& from);

std::string_view word_of(reference kind);
/// Throws std::invalid_argument for other words.
reference reference_from(const std::string& word);

/// What is different between two of them, in words for a message; "" where all is the same, places to 1e-8 bohr.
std::string difference_between(const system_of_functions& one, const system_of_functions& other);
/// Whether both have the same elements in the same order.
bool have_same_elements(const molecule& one, const molecule& other);
/// Whether both have the same shells on the same atoms, wherever those are.
bool have_same_shells(const std::vector<shell>& one, const std::vector<shell>& other);

}  // namespace tessera::chemistry
