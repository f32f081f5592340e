#pragma once
// Self-consistent fields in checkpoints.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "libraries/chemistry/checkpoint/json_forms.hpp"

namespace tessera::chemistry {

/// A field with what it belongs to.
struct stored_field {
  system_of_functions system;
  reference kind = reference::rhf;
  scf_result scf;                ///< converged, or as far as it has come
  double linear_dependence = 0;  ///< as in scf_settings
  std::uint64_t bytes = 0;       ///< of the file; when it was read
  std::string written_by, written_at;
};

/// The name of the file in a folder of checkpoints.
inline constexpr const char* field_file = "field.checkpoint";

/// Throws tessera::error (output) as save_record.
void save_field(const std::filesystem::path& folder, const stored_field& what);
/// Nothing where the folder has none. Throws tessera::error (input) as load_record, or where the file contradicts
/// itself.
std::optional<stored_field> load_field(const std::filesystem::path& folder);

/// A name for the orbitals of a field: amplitudes and energies say to which they belong.
std::string name_of_orbitals(const scf_result& scf);

}  // namespace tessera::chemistry
