#include "libraries/chemistry/checkpoint/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "core/base/error.hpp"
#include "core/base/whole_file.hpp"

namespace tessera::chemistry {

folder_lock::folder_lock(const std::filesystem::path& folder) {
  std::error_code wrong;
  std::filesystem::create_directories(folder, wrong);
  if (wrong)
    throw error(error_kind::output, "the folder of checkpoints cannot be made: " + wrong.message(), folder.string(),
                std::string(hint_for_writing(wrong)));
  m_descriptor = ::open((folder / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (m_descriptor < 0) {
    wrong = {errno, std::generic_category()};
    throw error(error_kind::output, "the folder of checkpoints cannot be written to: " + wrong.message(),
                folder.string(), std::string(hint_for_writing(wrong)));
  }
  // A file system without locks is no reason not to compute.
  if (::flock(m_descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(m_descriptor);
    throw error(error_kind::usage, "another job that runs has its checkpoints in this folder", folder.string(),
                "name another folder, or wait for its end");
  }
}

folder_lock::~folder_lock() { ::close(m_descriptor); }

}  // namespace tessera::chemistry
