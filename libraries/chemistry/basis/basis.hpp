#pragma once
// The basis functions of a molecule, from the sets that come with the library or from others.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libraries/chemistry/basis/basis_set.hpp"
#include "libraries/chemistry/basis/shell.hpp"
#include "libraries/chemistry/molecule/molecule.hpp"

namespace tessera::chemistry {

/// Names of the sets that come with the library, in small letters: "sto-3g", "3-21g", "6-31g**", "cc-pvdz",
/// "aug-cc-pvdz", "cc-pvtz" and, for density fitting, "cc-pvdz-ri", "aug-cc-pvdz-ri", "cc-pvtz-ri".
std::span<const std::string> shipped_basis_names();

/// A set that comes with the library, for H to Ne; aug-cc-pvdz-ri has no Li. Case does not matter; "6-31g(d,p)" and
/// "6-31gss" are "6-31g**", and
/// "...-rifit" is "...-ri". Throws tessera::error of kind input for another name; the hint has the nearest and all of
/// them.
basis_set shipped_basis(std::string_view name);

/// Throws tessera::error of kind usage for the name of a set that is for density fitting, and not for orbitals.
void require_orbital_set(std::string_view name);

/// The shells of a molecule: atom by atom in its order, each atom's in the order of the set's table. Throws
/// tessera::error of kind input, with the atom, for an element that the set lacks.
std::vector<shell> basis_for(const molecule& of, const basis_set& set);

/// The same with a set that comes with the library; throws what `shipped_basis` throws, too.
std::vector<shell> basis_for(const molecule& of, std::string_view name);

/// Whether a user who says this means a file: it has a "/", or ends in ".gbs", ".g94" or ".json".
bool names_basis_file(std::string_view name_or_file);

/// For orbitals, by the name of a set or of a file: QCSchema's form in NAME.json, else Gaussian-94's. Contractions are
/// those `with_fewer_primitives`, which span the same functions. Throws tessera::error as the readers, `basis_for` and
/// `require_orbital_set`.
std::vector<shell> orbital_basis_for(const molecule& of, const std::string& name_or_file);

}  // namespace tessera::chemistry
