#pragma once
// What an extrapolation of amplitudes (DIIS) needs to go on, in checkpoints: a file for each iteration.
#include <filesystem>

#include "libraries/chemistry/checkpoint/amplitudes.hpp"

namespace tessera::chemistry {

/// An extrapolation goes back so far.
inline constexpr int max_history_steps = 6;

/// The amplitudes that an iteration has made, and their change in it.
struct history_step {
  amplitudes t, change;
};

/// Throws tessera::error (output) as save_record.
void save_history_step(const std::filesystem::path& folder, int step, const history_step& what);
/// Over as many orbitals as `like` has, which are not loaded. Throws tessera::error (input) as load_record, and where
/// there is none.
history_step load_history_step(const std::filesystem::path& folder, int step, const amplitudes& like);
/// Removes the files of all steps but the last ones up to `step`; 0: of all.
void remove_history_before(const std::filesystem::path& folder, int step) noexcept;

}  // namespace tessera::chemistry
