#include "core/plugin/trust.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <utility>

#include "core/base/error.hpp"
#include "core/plugin/refuse.hpp"

namespace tessera::plugin {
namespace {

namespace fs = std::filesystem;

std::string content_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The way to a file, checked directory by directory as the system walks it: links are followed by hand, so that each
/// directory that holds one counts too. Nobody else can change anything on it, so what was found stays.
class checked_way {
 public:
  explicit checked_way(const fs::path& file) : m_file(file) {
    look_at("/");
    push(fs::absolute(file));
    while (!m_ahead.empty()) step();
  }

  const fs::path& end() const noexcept { return m_at; }

 private:
  /// What lies ahead is walked before what was there already.
  void push(const fs::path& way) {
    std::deque<fs::path> names;
    for (const fs::path& name : way.relative_path())
      if (!name.empty() && name != ".") names.push_back(name);
    m_ahead.insert(m_ahead.begin(), names.begin(), names.end());
  }

  void step() {
    const fs::path name = m_ahead.front();
    m_ahead.pop_front();
    if (name == "..") {
      m_at = m_at.parent_path();
      return;
    }
    const fs::path next = m_at / name;
    struct stat facts {};
    if (::lstat(next.c_str(), &facts) != 0) missing(errno);
    if (S_ISLNK(facts.st_mode)) {
      check_owner(next, facts, "the link");
      if (++m_links > 40) missing(ELOOP);
      std::error_code failure;
      const fs::path target = fs::read_symlink(next, failure);
      if (failure) missing(failure.value());
      if (target.is_absolute()) m_at = "/";
      push(target);
    } else if (S_ISDIR(facts.st_mode)) {
      look_at(next);
      m_at = next;
    } else if (m_ahead.empty()) {
      m_at = next;
    } else {
      missing(ENOTDIR);
    }
  }

  void look_at(const fs::path& directory) const {
    struct stat facts {};
    if (::lstat(directory.c_str(), &facts) != 0) missing(errno);
    if ((facts.st_mode & S_IWOTH) != 0 && (facts.st_mode & S_ISVTX) == 0)
      refuse(m_file,
             fmt::format("the directory {} is writable by everybody, so anybody could put code into this process",
                         directory.string()),
             fmt::format("run: chmod o-w '{}'", directory.string()));
    check_owner(directory, facts, "the directory");
  }

  void check_owner(const fs::path& path, const struct stat& facts, const char* what) const {
    if (facts.st_uid == 0 || facts.st_uid == ::geteuid()) return;
    if (S_ISDIR(facts.st_mode) &&
        owner_is_hidden(facts.st_uid, content_of("/proc/self/uid_map"), content_of("/proc/sys/kernel/overflowuid")))
      return;
    refuse(m_file,
           fmt::format("{} {} belongs to user {}, who is neither root nor you (user {})", what, path.string(),
                       facts.st_uid, ::geteuid()),
           fmt::format("copy the plugin to a directory of your own, or run: chown -h root '{}'", path.string()));
  }

  [[noreturn]] void missing(int code) const {
    refuse(m_file, fmt::format("the file cannot be found: {}", std::strerror(code)),
           "check the path and the directories in runtime.plugin_path");
  }

  const fs::path& m_file;
  std::deque<fs::path> m_ahead;
  fs::path m_at = "/";
  int m_links = 0;
};

void check_file(const fs::path& path, const fs::path& real, int descriptor) {
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0)
    refuse(path, fmt::format("the file {} cannot be examined: {}", real.string(), std::strerror(errno)),
           "check that it exists and that you may read it");
  if (!S_ISREG(facts.st_mode)) refuse(path, "this is not a file", "give the path of the plugin's shared library");
  if ((facts.st_mode & S_IWOTH) != 0)
    refuse(
        path,
        fmt::format("the file {} is writable by everybody, so anybody could put code into this process", real.string()),
        fmt::format("run: chmod o-w '{}'", real.string()));
  if (facts.st_uid != 0 && facts.st_uid != ::geteuid())
    refuse(path,
           fmt::format("the file {} belongs to user {}, who is neither root nor you (user {})", real.string(),
                       facts.st_uid, ::geteuid()),
           fmt::format("copy the plugin to a directory of your own, or run: chown root '{}'", real.string()));
}

}  // namespace

bool owner_is_hidden(std::uint32_t owner, std::string_view uid_map, std::string_view overflow) {
  std::istringstream number{std::string(overflow)};
  std::uint64_t stand_in = 65534;
  number >> stand_in;
  if (owner != stand_in) return false;
  std::istringstream lines{std::string(uid_map)};
  std::uint64_t first = 0, outside = 0, count = 0, all = 0;
  bool any = false;
  while (lines >> first >> outside >> count) {
    any = true;
    all += count;
    if (owner >= first && owner - first < count) return false;  // here it is a user like any other
  }
  return any && all < 0xffffffff;
}

trusted_file::trusted_file(fs::path path) : m_path(std::move(path)), m_real(checked_way(m_path).end()) {
  // Not to wait for a writer where somebody has put a pipe; what it is, is asked of what was opened.
  m_descriptor = ::open(m_real.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (m_descriptor < 0)
    refuse(m_path, fmt::format("the file {} cannot be opened: {}", m_real.string(), std::strerror(errno)),
           "check that you may read it");
  try {
    check_file(m_path, m_real, m_descriptor);
  } catch (...) {
    ::close(m_descriptor);
    throw;
  }
}

trusted_file::trusted_file(trusted_file&& other) noexcept
    : m_path(std::move(other.m_path)),
      m_real(std::move(other.m_real)),
      m_descriptor(std::exchange(other.m_descriptor, -1)) {}

trusted_file::~trusted_file() {
  if (m_descriptor >= 0) ::close(m_descriptor);
}

void check_trust(const fs::path& path) { const trusted_file looked_at(path); }

std::string sha256_of(const trusted_file& from) {
  const auto fail = [&](const char* why) -> void {
    throw error(error_kind::plugin, fmt::format("the checksum cannot be computed: {}", why), from.path().string(),
                "check that you may read the file");
  };
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  if (!digest || EVP_DigestInit_ex(digest.get(), EVP_sha256(), nullptr) != 1) fail("libcrypto offers no SHA-256");
  std::array<char, 65536> buffer;
  for (::off_t at = 0;;) {
    const ::ssize_t bytes = ::pread(from.descriptor(), buffer.data(), buffer.size(), at);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) fail("the file cannot be read to its end");
    if (bytes == 0) break;
    if (EVP_DigestUpdate(digest.get(), buffer.data(), static_cast<std::size_t>(bytes)) != 1) fail("libcrypto failed");
    at += bytes;
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> value;
  unsigned size = 0;
  if (EVP_DigestFinal_ex(digest.get(), value.data(), &size) != 1) fail("libcrypto failed");
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", value[i]);
  return text;
}

void check_sha256(const trusted_file& file, const std::string& plugin, std::string expected) {
  std::transform(expected.begin(), expected.end(), expected.begin(),
                 [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; });
  const std::string found = sha256_of(file);
  if (found != expected)
    throw error(
        error_kind::plugin,
        fmt::format("the checksum of plugin \"{}\" is {}, but {} is expected", plugin, found, expected),
        file.path().string(),
        fmt::format(
            "install the file that was meant, or put its checksum into the configuration: [checksums] {} = \"...\"",
            plugin));
}

}  // namespace tessera::plugin
