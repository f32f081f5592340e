#pragma once
// Whether a file of code may be loaded into this process.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tessera::plugin {

/// A file that nobody but root and the current user can change or replace, held open: what is read through its
/// descriptor is what was checked.
class trusted_file {
 public:
  /// Throws tessera::error (kind plugin), with `path` as the place, when somebody else could change the file or put
  /// another in its place: the file, a directory on the way to it from the root, or a symbolic link on that way belongs
  /// to somebody else, or the file or such a directory may be written by everybody. A world-writable directory with the
  /// sticky bit passes, because others cannot replace what is in it. Group-writable passes.
  explicit trusted_file(std::filesystem::path path);
  ~trusted_file();
  trusted_file(trusted_file&& other) noexcept;
  trusted_file& operator=(trusted_file&&) = delete;
  trusted_file(const trusted_file&) = delete;

  const std::filesystem::path& path() const noexcept { return m_path; }  ///< as it was given: for messages
  const std::filesystem::path& real() const noexcept { return m_real; }  ///< absolute and without links: for the linker
  int descriptor() const noexcept { return m_descriptor; }

 private:
  std::filesystem::path m_path, m_real;
  int m_descriptor = -1;
};

/// Throws as trusted_file does.
void check_trust(const std::filesystem::path& path);

/// Whether directories that `owner` seems to own may belong to users whom this process cannot name: it is in a user
/// namespace (a container without a superuser) where `owner` stands for all users that are not mapped. `uid_map`,
/// `overflow`: /proc/self/uid_map, /proc/sys/kernel/overflowuid.
bool owner_is_hidden(std::uint32_t owner, std::string_view uid_map, std::string_view overflow);

/// The SHA-256 of a file's bytes, 64 lower-case hexadecimal digits. Throws tessera::error (kind plugin) if unreadable.
std::string sha256_of(const trusted_file& file);

/// Throws tessera::error (kind plugin) unless the file has this checksum (case does not matter).
void check_sha256(const trusted_file& file, const std::string& plugin, std::string expected);

}  // namespace tessera::plugin
