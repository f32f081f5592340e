#include "libraries/sparse/matrix/available_memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

#include "core/base/error.hpp"
#include "core/base/units.hpp"

namespace tessera::sparse {

namespace {

constexpr std::int64_t no_limit = std::int64_t{1} << 62;

std::int64_t left_of_machine() {
  std::ifstream lines("/proc/meminfo");
  std::string word;
  while (lines >> word)
    if (std::int64_t kibibytes = 0; word == "MemAvailable:" && lines >> kibibytes) return kibibytes << 10;
  return no_limit;
}

std::int64_t left_of_address_space() {
  ::rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur >= static_cast<::rlim_t>(no_limit)) return no_limit;
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return std::max<std::int64_t>(static_cast<std::int64_t>(limit.rlim_cur) - pages * ::sysconf(_SC_PAGESIZE), 0);
}

/// Of a file that has one number; none where it has not, or there is no file.
std::optional<std::int64_t> number_in(const std::filesystem::path& file) {
  std::int64_t number = 0;
  if (std::ifstream(file) >> number) return number;
  return std::nullopt;
}

/// Of the process's group and of all above it.
std::int64_t left_of_groups() {
  std::int64_t least = no_limit;
  std::ifstream lines("/proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string kind = line.substr(first + 1, second - first - 1);
    if (!kind.empty() && kind.find("memory") == kind.npos) continue;
    const std::filesystem::path root = kind.empty() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    // A container may see the group's path of outside, and its own files at the root.
    std::filesystem::path inside = std::filesystem::path(line.substr(second + 1)).relative_path();
    for (; !inside.empty(); inside = inside.parent_path()) least = std::min(least, left_in_group(root / inside));
    least = std::min(least, left_in_group(root));
  }
  return least;
}

}  // namespace

std::int64_t left_in_group(const std::filesystem::path& folder) {
  const bool old = !std::filesystem::exists(folder / "memory.max");
  const auto limit = number_in(folder / (old ? "memory.limit_in_bytes" : "memory.max")),
             used = number_in(folder / (old ? "memory.usage_in_bytes" : "memory.current"));
  if (!limit || !used || *limit >= no_limit) return no_limit;
  std::int64_t cached = 0;
  std::ifstream lines(folder / "memory.stat");
  std::string word;
  for (std::int64_t bytes = 0; lines >> word >> bytes;)
    if (word == (old ? "total_inactive_file" : "inactive_file")) cached = bytes;
  return std::max<std::int64_t>(*limit - *used + cached, 0);
}

std::int64_t available_memory() { return std::min({left_of_machine(), left_of_address_space(), left_of_groups()}); }

void require_memory(const std::string& where, std::int64_t rows, std::int64_t entries, double bytes,
                    std::int64_t memory, const char* how) {
  if (bytes > static_cast<double>(memory))
    throw error(error_kind::memory,
                fmt::format("a matrix of {} rows and {} entries takes {} while it is {}, and there are {}", rows,
                            entries, format_bytes(bytes), how, format_bytes(static_cast<double>(memory))),
                where, "a machine with more memory, or a smaller matrix");
}

}  // namespace tessera::sparse
