#include "plugins/disk/directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>
#include <vector>

namespace tessera::disk {
namespace {

constexpr const char* lock_name = "/lock";

std::string text_of(int error) { return std::generic_category().message(error); }

struct closer {
  void operator()(DIR* open) const { ::closedir(open); }
};

/// The names in a directory; none when it cannot be read.
std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, closer> open(::opendir(path.c_str()));
  if (open == nullptr) return names;
  while (const dirent* entry = ::readdir(open.get())) names.emplace_back(entry->d_name);
  return names;
}

/// Removes the data files, the lock and the directory. Nothing else: what somebody put there stays, and so does it.
bool remove_all(const std::string& path) {
  for (const auto& name : names_in(path))
    if (std::string_view(name).ends_with(private_directory::data_suffix)) ::unlink((path + '/' + name).c_str());
  ::unlink((path + lock_name).c_str());
  return ::rmdir(path.c_str()) == 0;
}

/// Removes the directories of processes that died. One without a lock file is being made, or not ours to judge.
std::uint32_t sweep(const std::string& parent) {
  std::uint32_t removed = 0;
  for (const auto& name : names_in(parent)) {
    if (!std::string_view(name).starts_with(private_directory::prefix)) continue;
    const std::string path = parent + '/' + name;
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode) || facts.st_uid != ::geteuid()) continue;
    const int lock = ::open((path + lock_name).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (lock < 0) continue;
    if (::flock(lock, LOCK_EX | LOCK_NB) == 0 && remove_all(path)) ++removed;
    ::close(lock);
  }
  return removed;
}

/// Makes and locks the lock file. It gets its name when it is locked already, so that no sweeper ever sees it unlocked.
int make_lock(const std::string& directory) {
  const std::string fresh = directory + "/lock.new", name = directory + lock_name;
  const int lock = ::open(fresh.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (lock < 0) return -1;
  if (::flock(lock, LOCK_EX | LOCK_NB) == 0 && ::rename(fresh.c_str(), name.c_str()) == 0) return lock;
  const int error = errno;
  ::unlink(fresh.c_str());
  ::close(lock);
  errno = error;
  return -1;
}

}  // namespace

tsr_status status_of(int error) noexcept {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return TSR_RESOURCE_EXHAUSTED;
    case EACCES:
    case EPERM:
    case EROFS:
      return TSR_PERMISSION_DENIED;
    case ENOENT:
      return TSR_NOT_FOUND;
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
      return TSR_INVALID_ARGUMENT;
    default:
      return TSR_UNKNOWN;
  }
}

tsr_status private_directory::create(const kit::reporter& report, const std::string& parent,
                                     std::unique_ptr<private_directory>& out) {
  struct stat facts {};
  if (::stat(parent.c_str(), &facts) != 0) {
    const int error = errno;
    return report.fail(status_of(error), "path '%s': %s; it must exist, so that a missing mount is no surprise",
                       parent.c_str(), text_of(error).c_str());
  }
  if (!S_ISDIR(facts.st_mode)) return report.fail(TSR_INVALID_ARGUMENT, "path '%s' is not a directory", parent.c_str());
  const std::uint32_t swept = sweep(parent);
  std::string path = parent + '/' + prefix + "XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    const int error = errno;
    return report.fail(status_of(error), "path '%s': no directory can be made in it: %s", parent.c_str(),
                       text_of(error).c_str());
  }
  const int lock = make_lock(path);
  if (lock < 0) {
    const int error = errno;
    ::rmdir(path.c_str());
    return report.fail(status_of(error), "path '%s': no file can be made and locked in it: %s", parent.c_str(),
                       text_of(error).c_str());
  }
  out.reset(new private_directory(std::move(path), lock));
  out->m_swept = swept;
  return TSR_OK;
}

private_directory::~private_directory() {
  remove_all(m_path);
  ::close(m_lock);
}

}  // namespace tessera::disk
