#pragma once
// A directory of our own for the data, and what crashed runs left behind.
#include <tessera/plugin.h>

#include <cstdint>
#include <memory>
#include <string>

#include "plugins/kit/abi/report.hpp"

namespace tessera::disk {

/// A directory `tessera-disk-XXXXXX` below another one. As long as it lives a lock on a file in it says so to other
/// processes; the kernel drops the lock when a process dies, however it dies. So a directory without a lock is rubbish,
/// and whoever comes next sweeps it away. Removed with the data files in it at destruction.
class private_directory {
 public:
  /// Sweeps `parent`, then makes the directory. Fails: NOT_FOUND (no such directory), PERMISSION_DENIED,
  /// RESOURCE_EXHAUSTED, INVALID_ARGUMENT (not a directory), UNKNOWN; each with the system's reason.
  static tsr_status create(const kit::reporter& report, const std::string& parent,
                           std::unique_ptr<private_directory>& out);
  ~private_directory();
  private_directory(const private_directory&) = delete;
  private_directory& operator=(const private_directory&) = delete;

  const std::string& path() const noexcept { return m_path; }
  std::uint32_t swept() const noexcept { return m_swept; }  ///< directories of crashed runs that were removed

  static constexpr const char* prefix = "tessera-disk-";
  static constexpr const char* data_suffix = ".tessera";

 private:
  private_directory(std::string path, int lock) : m_path(std::move(path)), m_lock(lock) {}
  const std::string m_path;
  const int m_lock;  // descriptor of the locked file
  std::uint32_t m_swept = 0;
};

/// The status that says best what an errno means.
tsr_status status_of(int error) noexcept;

}  // namespace tessera::disk
