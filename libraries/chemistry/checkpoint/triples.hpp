#pragma once
// Energies of single triples, of a job that has not ended, in checkpoints.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "libraries/chemistry/checkpoint/amplitudes.hpp"

namespace tessera::chemistry {

/// What belongs to one field, one choice of orbitals and these amplitudes.
struct stored_triples {
  std::string orbitals;  ///< name_of_orbitals
  int frozen_core = 0, frozen_virtual = 0;
  amplitude_state amplitudes;    ///< that the triples are of
  std::vector<double> energies;  ///< hartree, of each triple of occupied orbitals; not a number: not known yet
  std::string written_by, written_at;
};

/// The name of the file in a folder of checkpoints.
inline constexpr const char* triples_file = "triples.checkpoint";

/// Throws tessera::error (output) as save_record.
void save_triples(const std::filesystem::path& folder, const stored_triples& what);
/// Nothing where the folder has none. Throws tessera::error (input) as load_record.
std::optional<stored_triples> load_triples(const std::filesystem::path& folder);

}  // namespace tessera::chemistry
