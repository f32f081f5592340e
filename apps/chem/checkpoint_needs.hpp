#pragma once
// What --restart and --start-from take: memory beside the blocks, and room in the folder of checkpoints.
#include <filesystem>
#include <string>

#include "apps/chem/options.hpp"
#include "apps/chem/problem.hpp"
#include "libraries/chemistry/checkpoint/folder_bytes.hpp"

namespace tessera::apps {

/// The molecule with its basis functions, as checkpoints have them.
chemistry::system_of_functions functions_of(const problem& p, const chem_options& o);

/// In bytes; all 0 without these options.
struct checkpoint_needs {
  double memory = 0;           ///< beside the blocks of coupled cluster
  double history_memory = 0;   ///< of it, an iteration of the extrapolation (DIIS) on its way
  double on_disk = 0;          ///< files of --restart, at most at once
  double history_on_disk = 0;  ///< of it, iterations of the extrapolation
  double on_disk_at_end = 0;
};
/// @param field  whose numbers of orbitals count
checkpoint_needs needs_of_checkpoints(const problem& p, const chem_options& o, const chemistry::scf_result& field);

/// Where the files of --restart would go, now.
struct checkpoint_room {
  std::filesystem::path folder;
  double there = 0;         ///< bytes of checkpoints that it has already: they are replaced
  double free = 0;          ///< bytes that its file system has left
  double other_blocks = 0;  ///< of these, what goes to a disk for blocks on the same file system
  std::string blocks_path;  ///< which that is
  bool is_known = false;    ///< else the system does not say
  double left() const noexcept { return free - other_blocks; }
};
/// @param disk_path  of a disk for blocks; "": there is none  @param on_disk  bytes that it will have
checkpoint_room room_for_checkpoints(const std::string& folder, const std::string& disk_path, double on_disk);

/// What does not fit, in words, with the bytes that are needed and free; "" where it does.
/// @param files  bytes of them, at most at once
std::string why_no_room(const checkpoint_room& room, double files);

}  // namespace tessera::apps
