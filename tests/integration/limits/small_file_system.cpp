#include "integration/limits/small_file_system.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <string>

namespace limits_test {
namespace {

/// Mounts of this process are its own from now on.
bool have_own_mounts() {
  static const bool done =
      ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  return done;
}

}  // namespace

small_file_system::small_file_system(std::uint64_t bytes)
    : m_path(std::filesystem::temp_directory_path() / ("tessera_small_" + std::to_string(::getpid()))) {
  std::filesystem::create_directories(m_path);
  const std::string options = "size=" + std::to_string(bytes);
  m_is_made = have_own_mounts() && ::mount("tmpfs", m_path.c_str(), "tmpfs", 0, options.c_str()) == 0;
}

small_file_system::~small_file_system() {
  if (m_is_made) ::umount2(m_path.c_str(), MNT_DETACH);
  std::error_code ignored;
  std::filesystem::remove(m_path, ignored);
}

}  // namespace limits_test
