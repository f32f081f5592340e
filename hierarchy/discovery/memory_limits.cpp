#include "hierarchy/discovery/memory_limits.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <numeric>
#include <optional>
#include <sstream>
#include <string_view>

#include "core/base/units.hpp"

namespace tessera::hierarchy {
namespace {

constexpr std::uint64_t MiB = std::uint64_t{1} << 20;
/// Version 1 says "no limit" with the largest number of whole pages; no machine has as much.
constexpr std::uint64_t more_than_any_machine = std::uint64_t{1} << 60;

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::uint64_t resource_limit(int which) {
  rlimit limit{};
  return ::getrlimit(static_cast<__rlimit_resource_t>(which), &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
             ? limit.rlim_cur
             : no_limit;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
  }
  return parts;
}

/// The number that a text begins with; nothing for "max" and the like.
std::optional<std::uint64_t> number_in(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  std::uint64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status == std::errc::result_out_of_range) return no_limit;
  return status == std::errc() ? std::optional(value) : std::nullopt;
}

/// The number behind a word at the beginning of a line.
std::optional<std::uint64_t> number_after(std::string_view text, std::string_view word) {
  for (const std::string_view line : split(text, '\n'))
    if (line.starts_with(word)) return number_in(line.substr(word.size()));
  return std::nullopt;
}

/// /proc writes blanks, tabs, line ends and backslashes in paths as \ooo.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    if (text[i] == '\\' && i + 3 < text.size() &&
        std::from_chars(&text[i + 1], &text[i + 4], code, 8).ptr == &text[i + 4]) {
      plain += static_cast<char>(code);
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

bool lists(std::string_view words, std::string_view word) {
  const auto parts = split(words, ',');
  return std::ranges::find(parts, word) != parts.end();
}

/// A hierarchy of control groups as it is mounted, with the process's place in it.
struct group_hierarchy {
  bool second_version = false;
  std::string mount;  ///< where its top is
  std::string path;   ///< of the process below that: "/a/b"; "" for the top
};

/// The path of the process in the hierarchy that limits memory, by its line in /proc/self/cgroup: "4:memory:/a/b" or
/// "0::/a/b".
std::optional<std::string> path_in_hierarchy(std::string_view groups, bool second_version) {
  for (const std::string_view line : split(groups, '\n')) {
    const auto first = line.find(':'), second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (second_version ? line.starts_with("0::") : lists(controllers, "memory"))
      return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

/// The mounts of control groups that may limit memory. Fields of a line: number, parent, device, root, mount point,
/// options, optional ones, "-", type, source, options of the file system.
std::vector<group_hierarchy> hierarchies(const memory_sources& from) {
  std::vector<group_hierarchy> found;
  for (const std::string_view line : split(from.mounts, '\n')) {
    const auto dash = line.find(" - ");
    if (dash == line.npos) continue;
    const auto place = split(line.substr(0, dash), ' '), what = split(line.substr(dash + 3), ' ');
    if (place.size() < 5 || what.empty()) continue;
    const bool second_version = what[0] == "cgroup2";
    if (!second_version && (what[0] != "cgroup" || what.size() < 3 || !lists(what[2], "memory"))) continue;
    const auto path = path_in_hierarchy(from.groups, second_version);
    if (!path) continue;
    group_hierarchy one{second_version, unescaped(place[4]), *path};
    // In a container a part of the hierarchy is mounted, and the path may begin at its top or at the machine's. What
    // lies outside is not seen.
    const std::string root = unescaped(place[3]);
    if (root != "/" && (one.path == root || one.path.starts_with(root + "/"))) one.path.erase(0, root.size());
    if (one.path == "/" || one.path.starts_with("/..")) one.path.clear();
    found.push_back(std::move(one));
  }
  return found;
}

struct group_files {
  std::vector<const char*> limits;
  const char* used;
  std::vector<const char*> reclaimable;  ///< words in memory.stat: pages of files, which the system takes back
};

const group_files& files_of(bool second_version) {
  static const group_files first{
      {"memory.limit_in_bytes"}, "memory.usage_in_bytes", {"total_inactive_file ", "total_active_file "}},
      second{{"memory.max", "memory.high"}, "memory.current", {"inactive_file ", "active_file "}};
  return second_version ? second : first;
}

/// What one control group leaves; its limit first.
std::optional<std::pair<std::uint64_t, std::uint64_t>> limit_and_left(const memory_sources& from,
                                                                      const std::string& folder,
                                                                      const group_files& files) {
  std::uint64_t limit = no_limit;
  for (const char* name : files.limits)
    limit = std::min(limit, number_in(from.read(folder + "/" + name)).value_or(no_limit));
  if (limit >= more_than_any_machine) return std::nullopt;
  const std::uint64_t used = number_in(from.read(folder + "/" + files.used)).value_or(0);
  const std::string statistics = from.read(folder + "/memory.stat");
  std::uint64_t reclaimable = 0;
  for (const char* word : files.reclaimable) reclaimable += number_after(statistics, word).value_or(0);
  const std::uint64_t held = used - std::min(used, reclaimable);
  return std::pair(limit, limit - std::min(limit, held));
}

std::string bytes_text(std::uint64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

void keep_least(memory_bound& least, std::uint64_t left, const std::string& reason) {
  if (left < least.left) least = {left, reason};
}

void look_at_groups(const memory_sources& from, memory_bound& least) {
  for (group_hierarchy at : hierarchies(from))
    while (true) {
      if (const auto group = limit_and_left(from, at.mount + at.path, files_of(at.second_version)))
        keep_least(
            least, group->second,
            fmt::format("control group {}, at most {}", at.path.empty() ? "/" : at.path, bytes_text(group->first)));
      if (at.path.empty()) break;
      const auto slash = at.path.rfind('/');
      at.path.erase(slash == at.path.npos ? 0 : slash);
    }
}

/// The number at this place of /proc/self/statm, in bytes: 0 all addresses, 5 those of data.
std::uint64_t bytes_in_use(const memory_sources& from, std::size_t place) {
  const auto numbers = split(from.statm, ' ');
  return place < numbers.size() ? number_in(numbers[place]).value_or(0) * from.page_bytes : 0;
}

/// Memory counts here when it is asked for, touched or not; so do the stacks of threads.
void look_at_addresses(const memory_sources& from, memory_bound& least) {
  const auto look = [&](std::uint64_t limit, std::uint64_t used, const std::string& reason) {
    if (limit < more_than_any_machine) keep_least(least, limit - std::min(limit, used + from.stack_bytes), reason);
  };
  look(from.address_limit, bytes_in_use(from, 0),
       fmt::format("addresses of this process (ulimit -v), at most {}", bytes_text(from.address_limit)));
  look(from.data_limit, bytes_in_use(from, 5),
       fmt::format("data of this process (ulimit -d), at most {}", bytes_text(from.data_limit)));
  const auto promised = number_after(from.meminfo, "Committed_AS:"), most = number_after(from.meminfo, "CommitLimit:");
  if (number_in(from.overcommit) == 2 && promised && most)
    look(*most * 1024, *promised * 1024,
         fmt::format("what the system promises to all processes (vm.overcommit_memory = 2), at most {}",
                     bytes_text(*most * 1024)));
}

}  // namespace

memory_sources memory_sources::of_this_process() {
  memory_sources from;
  from.meminfo = content_of("/proc/meminfo");
  from.groups = content_of("/proc/self/cgroup");
  from.mounts = content_of("/proc/self/mountinfo");
  from.statm = content_of("/proc/self/statm");
  from.page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  from.overcommit = content_of("/proc/sys/vm/overcommit_memory");
  from.address_limit = resource_limit(RLIMIT_AS);
  from.data_limit = resource_limit(RLIMIT_DATA);
  // One thread per processor and some for devices and streams. Without a limit of stacks the C library takes 2 MiB.
  const std::uint64_t stack = resource_limit(RLIMIT_STACK);
  from.stack_bytes = (static_cast<std::uint64_t>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1l)) + 8) *
                     (stack == no_limit ? 2 * MiB : stack);
  from.read = content_of;
  return from;
}

std::uint64_t memory_bound::for_blocks() const noexcept {
  return left == no_limit ? no_limit : left - std::min(left / 4, left / 16 + 64 * MiB);
}

memory_bound min_bound(const memory_sources& from) {
  memory_bound least;
  if (const auto available = number_after(from.meminfo, "MemAvailable:"))  // "kB" means KiB here
    keep_least(least, *available * 1024, "memory available on this machine now");
  look_at_groups(from, least);
  look_at_addresses(from, least);
  return least;
}

std::string memory_bound::text() const {
  return fmt::format("{}: {} left, {} of it for blocks", reason, bytes_text(left), bytes_text(for_blocks()));
}

std::uint64_t machine_memory(const memory_sources& from) {
  return number_after(from.meminfo, "MemTotal:").value_or(0) * 1024;
}

std::vector<std::uint64_t> shared_room(const std::vector<std::uint64_t>& sizes, std::uint64_t room) {
  const std::uint64_t all = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
  std::vector<std::uint64_t> shares = sizes;
  if (all <= room) return shares;
  for (std::uint64_t& share : shares)
    share = static_cast<std::uint64_t>(static_cast<long double>(share) / static_cast<long double>(all) *
                                       static_cast<long double>(room));
  return shares;
}

}  // namespace tessera::hierarchy
