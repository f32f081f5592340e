#pragma once
// What programs have computed to the end, in checkpoints.
#include <filesystem>
#include <optional>
#include <string>

namespace tessera::chemistry {

/// Energies of correlation, in hartree, of one field and one choice of orbitals.
struct stored_energies {
  std::string orbitals;  ///< name_of_orbitals
  int frozen_core = 0, frozen_virtual = 0;
  double mp2_same_spin = 0, mp2_opposite_spin = 0;
  std::optional<double> ccsd;  ///< where it has converged
  int iterations = 0;
  double change = 0, residual = 0;  ///< of the last iteration
  double t1_diagnostic = 0, d1_diagnostic = 0;
  std::optional<double> triples;
  std::string written_by, written_at;
};

/// The name of the file in a folder of checkpoints.
inline constexpr const char* energies_file = "energies.checkpoint";

/// Throws tessera::error (output) as save_record.
void save_energies(const std::filesystem::path& folder, const stored_energies& what);
/// Nothing where the folder has none. Throws tessera::error (input) as load_record.
std::optional<stored_energies> load_energies(const std::filesystem::path& folder);

}  // namespace tessera::chemistry
