#include "core/base/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace tessera {
namespace {

namespace fs = std::filesystem;

std::error_code last_error() { return {errno, std::generic_category()}; }

/// The file that a chain of symbolic links names, there or not.
fs::path behind_links(fs::path file) {
  std::error_code none;
  for (int k = 0; k < 40 && fs::is_symlink(file, none); ++k) {
    const fs::path next = fs::read_symlink(file, none);
    if (none) break;
    file = file.parent_path() / next;  // an absolute one replaces the folder
  }
  return file;
}

/// What cannot be replaced: devices, pipes, and names for open files.
bool is_written_directly(const fs::path& file) {
  std::error_code none;
  const fs::file_status found = fs::status(file, none);
  if (fs::exists(found) && !fs::is_regular_file(found)) return true;
  const std::string full = fs::absolute(file, none).lexically_normal().string();
  return full.starts_with("/dev/") || full.starts_with("/proc/");
}

fs::path name_beside(const fs::path& file) {
  static std::atomic<unsigned> number{0};
  return fmt::format("{}.{}.{}.part", file.string(), ::getpid(), number.fetch_add(1, std::memory_order_relaxed));
}

std::error_code write_parts(int descriptor, std::initializer_list<std::string_view> parts) {
  std::error_code failed;
  for (const std::string_view part : parts)
    if (!failed) failed = write_all(descriptor, part);
  if (::close(descriptor) != 0 && !failed) failed = last_error();
  return failed;
}

std::error_code write_directly(const fs::path& file, std::initializer_list<std::string_view> parts) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return descriptor < 0 ? last_error() : write_parts(descriptor, parts);
}

}  // namespace

std::error_code write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return last_error();
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

std::error_code write_whole_file(const fs::path& file, std::initializer_list<std::string_view> parts, file_access who) {
  const bool is_private = who == file_access::owner;
  if (!is_private && is_written_directly(file)) return write_directly(file, parts);
  const fs::path target = is_private ? file : behind_links(file), beside = name_beside(target);
  const int descriptor = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, is_private ? 0600 : 0666);
  if (descriptor < 0) return last_error();
  struct stat older {};
  std::error_code failed;
  if (!is_private && ::stat(target.c_str(), &older) == 0 && ::fchmod(descriptor, older.st_mode & 07777) != 0)
    failed = last_error();
  const std::error_code written = write_parts(descriptor, failed ? std::initializer_list<std::string_view>{} : parts);
  if (!failed) failed = written;
  if (!failed && ::rename(beside.c_str(), target.c_str()) != 0) failed = last_error();
  if (failed) ::unlink(beside.c_str());
  return failed;
}

std::error_code read_whole_file(const fs::path& file, std::string& text) {
  text.clear();
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return last_error();
  std::error_code failed;
  struct stat found {};
  constexpr std::size_t least = 64 << 10;
  if (::fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode))  // one byte more shows that nothing follows
    text.resize(static_cast<std::size_t>(found.st_size) + 1);
  std::size_t length = 0;
  while (!failed) {
    if (length == text.size()) text.resize(length + std::max(least, length / 2));
    const ssize_t got = ::read(descriptor, text.data() + length, text.size() - length);
    if (got == 0) break;
    if (got > 0)
      length += static_cast<std::size_t>(got);
    else if (errno != EINTR)
      failed = last_error();
  }
  ::close(descriptor);
  text.resize(failed ? 0 : length);
  return failed;
}

std::error_code check_writable(const fs::path& file) {
  const bool directly = is_written_directly(file);
  const fs::path target = behind_links(file);
  if (std::error_code none; directly || fs::exists(target, none)) {
    const int there = ::open(directly ? file.c_str() : target.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (there < 0 && errno != ENXIO) return last_error();  // ENXIO: a pipe that nothing reads yet
    if (there >= 0) ::close(there);
    if (directly) return {};
  }
  const fs::path beside = name_beside(target);
  const int descriptor = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return last_error();
  ::close(descriptor);
  ::unlink(beside.c_str());
  return {};
}

std::string_view hint_for_writing(const std::error_code& reason) {
  switch (reason.value()) {
    case ENOSPC:
    case EDQUOT:
      return "make room there, or name a file on another disk";
    case EFBIG:
      return "raise the limit on the size of files (ulimit -f)";
    case ENOENT:
    case ENOTDIR:
      return "check that the folder exists";
    case EISDIR:
      return "name a file, not a folder";
    case EACCES:
    case EPERM:
    case EROFS:
      return "check that the folder and the file may be written to";
    default:
      return "";
  }
}

}  // namespace tessera
