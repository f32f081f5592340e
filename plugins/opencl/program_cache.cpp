#include "plugins/opencl/program_cache.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "plugins/kit/system/kept_file.hpp"

namespace tessera::gpu::opencl {
namespace {

/// FNV-1a: names files and finds damage; that nobody forges it is kept_file's business.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::string hexadecimal(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

/// What stands before the binary.
std::string head_of(const std::string& key, std::string_view binary) {
  return "tessera opencl 1\n" + std::to_string(key.size()) + "\n" + key + "\n" + std::to_string(binary.size()) + " " +
         hexadecimal(hash_of(binary)) + "\n";
}

}  // namespace

program_cache::program_cache(const std::filesystem::path& folder, std::string key) : m_key(std::move(key)) {
  if (!folder.empty()) m_file = folder / (hexadecimal(hash_of(m_key)) + ".bin");
}

std::string program_cache::read() const {
  if (m_file.empty()) return {};
  const std::string all = kit::read_kept(m_file);
  // The head is as long for every binary but for the digits of its size.
  const std::string begin = "tessera opencl 1\n" + std::to_string(m_key.size()) + "\n" + m_key + "\n";
  if (!all.starts_with(begin)) return {};
  const auto line = all.find('\n', begin.size());
  if (line == all.npos) return {};
  std::string binary = all.substr(line + 1);
  return all.compare(0, line + 1, head_of(m_key, binary)) == 0 ? binary : std::string{};
}

void program_cache::write(const std::string& binary) const {
  if (m_file.empty() || binary.empty()) return;
  kit::write_kept(m_file, {head_of(m_key, binary), binary});
}

std::string usual_cache_folder() {
  const char* const given = ::secure_getenv("XDG_CACHE_HOME");
  if (given != nullptr && *given == '/') return std::string(given) + "/tessera/opencl";
  const char* const home = ::secure_getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.cache/tessera/opencl" : std::string{};
}

}  // namespace tessera::gpu::opencl
