#pragma once
// What the files of a calculation take in their folder, before they are written.
#include <filesystem>

#include "libraries/chemistry/checkpoint/amplitudes.hpp"
#include "libraries/chemistry/checkpoint/field.hpp"

namespace tessera::chemistry {

/// Bytes of one file of each kind, with its header.
struct folder_bytes {
  double field = 0;
  double amplitudes = 0;    ///< 0: none are kept
  double history_step = 0;  ///< of the extrapolation; 0: none is kept

  /// At most at once. A file is beside the one that it replaces, and steps of the extrapolation are beside those that
  /// go once the amplitudes are kept.
  /// @param new_steps  between two checkpoints of amplitudes
  double max_at_once(int new_steps) const noexcept;
  /// The same where no history is kept.
  double max_without_history() const noexcept;
  /// When coupled cluster has converged, or nothing but the field is asked for.
  double at_end() const noexcept { return field + amplitudes; }
};

/// Of the field alone.
folder_bytes bytes_of_field(const system_of_functions& of, reference kind, std::size_t orbitals);
/// Adds amplitudes over these orbitals, of which the numbers count alone, and their history.
void add_amplitudes(folder_bytes& to, const system_of_functions& of, bool closed,
                    const std::array<active_orbitals, 2>& spins);

/// Bytes of the checkpoints that a folder has; 0 where there is none.
double bytes_in(const std::filesystem::path& folder) noexcept;

}  // namespace tessera::chemistry
