#include "core/operation/image_cache.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/cache_folder.hpp"
#include "core/base/error.hpp"
#include "core/base/whole_file.hpp"
#include "core/plugin/trust.hpp"

namespace tessera::operation {
namespace {

namespace fs = std::filesystem;

constexpr const char* ending = ".kernel";
constexpr std::string_view first_line = "tessera kernel 1\n";

/// The hash finds damage; whoever may write to the folder is trusted.
std::string head_of(std::string_view key, std::string_view image) {
  return fmt::format("{}{} {} {:016x}\n{}", first_line, key.size(), image.size(), hash_of(image), key);
}

/// What was checked is what is read; "" when it cannot be.
std::string content_of(const plugin::trusted_file& file) {
  std::string all;
  for (std::array<char, 65536> part;;) {
    const ::ssize_t bytes = ::read(file.descriptor(), part.data(), part.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return bytes == 0 ? all : std::string();
    all.append(part.data(), static_cast<std::size_t>(bytes));
  }
}

}  // namespace

image_cache::image_cache(fs::path folder, std::uint64_t limit, log_function log)
    : m_folder(std::move(folder)), m_limit(limit), m_log(std::move(log)) {}

std::string image_cache::key_of(const plugin::device& device, std::string_view plugin_version,
                                std::string_view language, std::string_view options, std::string_view source) {
  if (device.jit() == nullptr || device.jit()->identity == nullptr) return {};
  const char* const identity = device.jit()->identity(device.handle());
  if (identity == nullptr || *identity == '\0') return {};
  const tsr_device_desc& description = device.description();
  std::string uuid;
  for (const std::uint8_t byte : description.uuid) uuid += fmt::format("{:02x}", byte);
  return fmt::format("{} {}\n{}\n{}\n{}\n{}\n{}\n{}", device.plugin_name(), plugin_version, description.name, uuid,
                     identity, language, options, source);
}

fs::path image_cache::file_of(std::string_view key) const {
  if (m_folder.empty() || key.empty()) return {};
  return m_folder / fmt::format("{:016x}{}", hash_of(key), ending);
}

std::string image_cache::read(const std::string& key) const {
  const fs::path file = file_of(key);
  std::error_code failed;
  if (file.empty() || !fs::exists(file, failed)) return {};
  std::string all;
  try {
    all = content_of(plugin::trusted_file(file));
  } catch (const error& e) {
    tell_once(fmt::format("compiled kernels that are kept are not used: {}", e.message()));
    return {};
  }
  // The head's length depends on the image's; so it is found by the key, which is known.
  const auto line = all.find('\n', first_line.size());
  if (!all.starts_with(first_line) || line == all.npos || all.size() - line - 1 < key.size()) return {};
  const std::size_t begin = line + 1 + key.size();
  std::string image = all.substr(begin);
  if (image.empty() || all.compare(0, begin, head_of(key, image)) != 0) return {};
  fs::last_write_time(file, fs::file_time_type::clock::now(), failed);  // used: not the next to be removed
  return image;
}

void image_cache::write(const std::string& key, std::string_view image) const {
  const fs::path file = file_of(key);
  if (file.empty() || image.empty() || image.size() > m_limit) return;
  std::error_code failed;
  if (!fs::exists(m_folder, failed)) {
    if (m_folder.has_parent_path()) fs::create_directories(m_folder.parent_path(), failed);
    if (::mkdir(m_folder.c_str(), 0700) != 0 && errno != EEXIST)
      return tell_once(fmt::format("compiled kernels are not kept: {}: {}", m_folder.string(), std::strerror(errno)));
  }
  if (const std::error_code why = write_whole_file(file, {head_of(key, image), image}, file_access::owner))
    return tell_once(fmt::format("compiled kernels are not kept: {}: {}", file.string(), why.message()));
  make_room();
}

void image_cache::remove(const std::string& key) const {
  std::error_code failed;
  if (const fs::path file = file_of(key); !file.empty()) fs::remove(file, failed);
}

void image_cache::make_room() const {
  using namespace std::chrono_literals;
  std::vector<std::tuple<fs::file_time_type, std::uintmax_t, fs::path>> all;
  std::uintmax_t bytes = 0;
  std::error_code failed;
  std::error_code ended;
  for (fs::directory_iterator at(m_folder, ended), end; !ended && at != end; at.increment(ended)) {
    const fs::directory_entry& entry = *at;
    const auto used = entry.last_write_time(failed);
    if (failed) continue;  // another process has removed it
    if (entry.path().extension() == ".part" && fs::file_time_type::clock::now() - used > 1h)
      fs::remove(entry.path(), failed);
    if (entry.path().extension() != ending) continue;
    const auto size = entry.file_size(failed);
    if (failed) continue;
    all.emplace_back(used, size, entry.path());
    bytes += size;
  }
  std::ranges::sort(all);
  for (const auto& [used, size, path] : all) {
    if (bytes <= m_limit) return;
    fs::remove(path, failed);
    bytes -= size;
  }
}

void image_cache::tell_once(const std::string& line) const {
  {
    const std::lock_guard guard(m_mutex);
    if (std::exchange(m_told, true)) return;
  }
  if (m_log) m_log(1, line);
}

fs::path image_cache_folder(std::string_view setting) {
  if (setting == "off") return {};
  if (setting != "auto") return fs::path(setting);
  const fs::path all = cache_folder();
  return all.empty() ? fs::path() : all / "kernels";
}

}  // namespace tessera::operation
