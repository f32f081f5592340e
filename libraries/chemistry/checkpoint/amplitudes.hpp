#pragma once
// Coupled cluster amplitudes in checkpoints: dense, over orbitals that are there too, however they were cut.
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "libraries/chemistry/checkpoint/json_forms.hpp"

namespace tessera::chemistry {

/// Orbitals of one spin that are correlated.
struct active_orbitals {
  std::size_t occupied = 0, empty = 0;
  std::vector<double> c;  ///< functions x (occupied + empty), in columns, occupied ones first
  friend bool operator==(const active_orbitals&, const active_orbitals&) = default;
};

/// Singles and doubles. Of closed shells both spins have the first's orbitals and singles, and no `alike`.
struct amplitudes {
  bool closed = true;
  std::array<active_orbitals, 2> spins;
  std::array<std::vector<double>, 2> singles;  ///< t_i^a at a + empty i
  std::vector<double> mixed;  ///< t_ij^ab of a, i alpha and b, j beta, at a + empty (i + occupied (b + ...))
  std::array<std::vector<double>, 2> alike;  ///< of both alpha, both beta
  /// Orbitals of a spin: of closed shells the first's for both.
  const active_orbitals& of_spin(std::size_t spin) const noexcept { return spins[closed ? 0 : spin]; }
};

/// How many singles and doubles there are over so many orbitals.
std::uint64_t elements_of(bool closed, const std::array<active_orbitals, 2>& spins) noexcept;
/// Zeros over these orbitals.
amplitudes zero_amplitudes(bool closed, std::array<active_orbitals, 2> spins);

/// How far coupled cluster has come.
struct amplitude_state {
  int iteration = 0;
  double energy = 0;    ///< of correlation, hartree
  double change = 0;    ///< of it in the last iteration
  double residual = 0;  ///< norm of the last change of the amplitudes
  bool converged = false;
  int history = 0;  ///< iterations of the extrapolation; the last ones of them are kept, too. 0: none is
};

struct stored_amplitudes {
  system_of_functions system;
  amplitudes t;
  amplitude_state state;
  std::uint64_t bytes = 0;  ///< of the file; when it was read
  std::string written_by, written_at;
};

/// The name of the file in a folder of checkpoints.
inline constexpr const char* amplitudes_file = "amplitudes.checkpoint";

/// Throws tessera::error (output) as save_record.
void save_amplitudes(const std::filesystem::path& folder, const system_of_functions& of, const amplitudes& t,
                     const amplitude_state& at);
/// Nothing where the folder has none. Throws tessera::error (input) as load_record, or where the file contradicts
/// itself.
std::optional<stored_amplitudes> load_amplitudes(const std::filesystem::path& folder);

}  // namespace tessera::chemistry
