#pragma once
// One job in a folder of checkpoints.
#include <filesystem>

namespace tessera::chemistry {

/// Holds a folder as long as it lives, or the process does.
class folder_lock {
 public:
  /// Makes the folder where it is not there. Throws tessera::error: output where it cannot be made or written to;
  /// usage where another process holds it.
  explicit folder_lock(const std::filesystem::path& folder);
  ~folder_lock();
  folder_lock(const folder_lock&) = delete;
  folder_lock& operator=(const folder_lock&) = delete;

 private:
  int m_descriptor = -1;
};

}  // namespace tessera::chemistry
