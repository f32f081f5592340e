#include "core/plugin/trust.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "core/base/error.hpp"

namespace tessera::plugin {
namespace {

namespace fs = std::filesystem;

void check_one(const fs::path& file, const fs::path& path, const char* what, bool sticky_passes) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0)
    throw error(error_kind::plugin,
                fmt::format("{} {} cannot be examined: {}", what, path.string(), std::strerror(errno)), file.string(),
                "check that it exists and that you may read it");
  if ((facts.st_mode & S_IWOTH) != 0 && !(sticky_passes && (facts.st_mode & S_ISVTX) != 0))
    throw error(
        error_kind::plugin,
        fmt::format("{} {} is writable by everybody, so anybody could put code into this process", what, path.string()),
        file.string(), fmt::format("run: chmod o-w '{}'", path.string()));
  if (facts.st_uid != 0 && facts.st_uid != ::geteuid())
    throw error(error_kind::plugin,
                fmt::format("{} {} belongs to user {}, who is neither root nor you (user {})", what, path.string(),
                            facts.st_uid, ::geteuid()),
                file.string(),
                fmt::format("copy the plugin to a directory of your own, or run: chown root '{}'", path.string()));
}

}  // namespace

void check_trust(const fs::path& path) {
  std::error_code failure;
  const fs::path real = fs::canonical(path, failure);
  if (failure)
    throw error(error_kind::plugin, "the file cannot be found: " + failure.message(), path.string(),
                "check the path and the directories in runtime.plugin_path");
  if (!fs::is_regular_file(real, failure))
    throw error(error_kind::plugin, "this is not a file", path.string(),
                "give the path of the plugin's shared library");
  check_one(path, real, "the file", false);
  check_one(path, real.parent_path(), "the directory", true);
  // Where a link leads elsewhere, whoever may write to the link's directory can turn it.
  if (const fs::path holder = fs::absolute(path).parent_path(); holder != real.parent_path())
    check_one(path, holder, "the directory", true);
}

std::string sha256_of(const fs::path& path) {
  const auto fail = [&](const char* why) -> void {
    throw error(error_kind::plugin, fmt::format("the checksum cannot be computed: {}", why), path.string(),
                "check that you may read the file");
  };
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("the file cannot be read");
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  if (!digest || EVP_DigestInit_ex(digest.get(), EVP_sha256(), nullptr) != 1) fail("libcrypto offers no SHA-256");
  std::array<char, 65536> buffer;
  while (file.read(buffer.data(), buffer.size()) || file.gcount() > 0)
    if (EVP_DigestUpdate(digest.get(), buffer.data(), static_cast<std::size_t>(file.gcount())) != 1)
      fail("libcrypto failed");
  if (file.bad()) fail("the file cannot be read to its end");
  std::array<unsigned char, EVP_MAX_MD_SIZE> value;
  unsigned size = 0;
  if (EVP_DigestFinal_ex(digest.get(), value.data(), &size) != 1) fail("libcrypto failed");
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", value[i]);
  return text;
}

void check_sha256(const fs::path& path, const std::string& plugin, std::string expected) {
  std::transform(expected.begin(), expected.end(), expected.begin(),
                 [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; });
  const std::string found = sha256_of(path);
  if (found != expected)
    throw error(error_kind::plugin,
                fmt::format("the checksum of plugin \"{}\" is {}, but {} is expected", plugin, found, expected),
                path.string(),
                fmt::format("install the file that was meant, or put its checksum into the configuration: [checksums] {} = \"...\"", plugin));
}

}  // namespace tessera::plugin
