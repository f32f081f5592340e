#include "plugins/kit/system/kept_file.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <system_error>

#include "plugins/kit/system/descriptor.hpp"

namespace tessera::kit {
namespace {

bool is_ours(const descriptor& opened, ::mode_t kind) {
  struct stat facts {};
  return opened && ::fstat(opened.get(), &facts) == 0 && (facts.st_mode & S_IFMT) == kind &&
         (facts.st_uid == 0 || facts.st_uid == ::geteuid()) && (facts.st_mode & S_IWOTH) == 0;
}

int open_folder(const std::filesystem::path& folder) {
  return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/// Not to be guessed, so that nobody can be there first.
std::string fresh_name(const std::string& name) {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) return {};
  std::array<char, 17> text;
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(number));
  return name + "." + text.data() + ".tmp";
}

bool write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ::ssize_t written = ::write(to, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

std::string read_kept(const std::filesystem::path& file) {
  const descriptor folder(open_folder(file.parent_path()));
  if (!is_ours(folder, S_IFDIR)) return {};
  const descriptor from(
      ::openat(folder.get(), file.filename().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!is_ours(from, S_IFREG)) return {};
  std::string all;
  for (std::array<char, 65536> part;;) {
    const ::ssize_t bytes = ::read(from.get(), part.data(), part.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return {};
    if (bytes == 0) return all;
    all.append(part.data(), static_cast<std::size_t>(bytes));
  }
}

bool write_kept(const std::filesystem::path& file, std::initializer_list<std::string_view> parts) {
  const std::filesystem::path where = file.parent_path();
  std::error_code failed;
  if (where.has_parent_path()) std::filesystem::create_directories(where.parent_path(), failed);
  if (::mkdir(where.c_str(), 0700) != 0 && errno != EEXIST) return false;
  const descriptor folder(open_folder(where));
  const std::string name = file.filename().string(), fresh = fresh_name(name);
  if (!is_ours(folder, S_IFDIR) || fresh.empty()) return false;
  descriptor to(::openat(folder.get(), fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!to) return false;
  bool whole = true;
  for (const std::string_view part : parts) whole = whole && write_all(to.get(), part);
  whole = to.close() && whole && ::renameat(folder.get(), fresh.c_str(), folder.get(), name.c_str()) == 0;
  if (!whole) ::unlinkat(folder.get(), fresh.c_str(), 0);
  return whole;
}

}  // namespace tessera::kit
