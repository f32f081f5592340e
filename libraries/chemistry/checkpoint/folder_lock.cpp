#include "libraries/chemistry/checkpoint/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "core/base/error.hpp"
#include "core/base/whole_file.hpp"

namespace tessera::chemistry {

folder_lock::folder_lock(const std::filesystem::path& folder) : m_folder(folder) {
  std::error_code wrong;
  std::filesystem::create_directories(folder, wrong);
  if (std::error_code none; wrong && std::filesystem::exists(folder, none))
    throw error(error_kind::output, "the folder of checkpoints cannot be made: a file has its name", folder.string(),
                "name another folder");
  if (wrong)
    throw error(error_kind::output, "the folder of checkpoints cannot be made: " + wrong.message(), folder.string(),
                std::string(hint_for_writing(wrong)));
  const std::string file = (folder / "lock").string();
  m_descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (m_descriptor < 0) {
    m_why_read_only = {errno, std::generic_category()};
    m_descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (m_descriptor < 0) return;  // nobody can write: there is nobody to keep out
  }
  // A file system without locks is no reason not to compute.
  if (::flock(m_descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(m_descriptor);
    throw error(error_kind::usage, "another job that runs has its checkpoints in this folder", folder.string(),
                "name another folder, or wait for its end");
  }
}

folder_lock::~folder_lock() {
  if (m_descriptor >= 0) ::close(m_descriptor);
}

void folder_lock::require_writable() const {
  if (m_why_read_only)
    throw error(error_kind::output, "the folder of checkpoints cannot be written to: " + m_why_read_only.message(),
                m_folder.string(), std::string(hint_for_writing(m_why_read_only)));
}

}  // namespace tessera::chemistry
