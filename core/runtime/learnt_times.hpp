#pragma once
// What placement has learnt about a machine: kept in a file from run to run, and shown to people.
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/placement/history.hpp"
#include "core/runtime/machine.hpp"

namespace tessera {

/// What the file of a machine holds.
struct learnt_times {
  std::string file;                              ///< its path; "" when runtime.history is "off" or no folder is known
  std::vector<std::string> machine;              ///< what the machine is recognised by: its CPU, its devices
  std::string refused;                           ///< why the file could not be used; "" when it could, or there is none
  std::vector<placement::history_cell> sizes;    ///< ordered by operation, type, place, size
  std::vector<placement::crossover> crossovers;  ///< from which size on a device beats the host
};

/// Reads it. Throws nothing for what the file contains.
learnt_times read_learnt_times(const machine& m);
/// Forgets it. Returns whether there was anything. Throws tessera::error (configuration) when the file is something
/// else or cannot be written.
bool clear_learnt_times(const machine& m);
/// Tables for people.
std::string to_text(const learnt_times& learnt);
/// A line each, e.g. "gemm f64: 'sim: fast' beats cpu from blocks of 128 KiB on, from 512 KiB when data must be moved".
std::string to_text(std::span<const placement::crossover> crossovers);

/// The runtime's hand on the file.
class history_keeper {
 public:
  /// Gives the model what an earlier run has kept. Null when nothing is to be kept. A file that cannot be used makes
  /// one line of the log. Throws tessera::error (configuration) when settings.history is a path that cannot be written.
  static std::unique_ptr<history_keeper> open(const machine& m, placement::history& model);
  /// Writes what is new, when anything is. What fails makes a line of the log.
  void keep(const placement::history& model) const noexcept;

 private:
  std::filesystem::path m_file;
  std::vector<std::string> m_machine;
  std::function<void(int, const std::string&)> m_log;
  bool m_automatic = true;
};

}  // namespace tessera
