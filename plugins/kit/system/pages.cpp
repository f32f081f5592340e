#include "plugins/kit/system/pages.hpp"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "core/bytes/colours.hpp"

namespace tessera::kit {
namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

/// "0-3,8,10-11" as CPU numbers.
std::vector<unsigned> parse_list(const std::string& text) {
  std::vector<unsigned> result;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    unsigned first = 0, last = 0;
    char dash = 0;
    std::stringstream range(part);
    if (!(range >> first)) continue;
    last = range >> dash >> last ? last : first;
    for (unsigned i = first; i <= last && i - first < 65536; ++i) result.push_back(i);
  }
  return result;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The number of bytes that a meminfo file (of the machine or of a node) gives for `key`; 0 if absent.
std::uint64_t meminfo(int node, const std::string& key) {
  std::ifstream file(node < 0 ? "/proc/meminfo" : "/sys/devices/system/node/node" + std::to_string(node) + "/meminfo");
  for (std::string line; std::getline(file, line);) {
    const auto at = line.find(key + ":");
    if (at == std::string::npos) continue;
    return std::strtoull(line.c_str() + at + key.size() + 1, nullptr, 10) * 1024;  // "kB" means KiB here
  }
  return 0;
}

/// Where pages of a mapping are to be, if anywhere in particular; preferred, so a refusal changes nothing.
void bind(void* data, std::uint64_t bytes, int numa_node) {
  if (numa_node < 0 || numa_node >= 1024) return;
  unsigned long mask[1024 / (8 * sizeof(unsigned long))] = {};
  constexpr unsigned word_bits = 8 * sizeof(unsigned long);
  mask[static_cast<unsigned>(numa_node) / word_bits] = 1ul << (static_cast<unsigned>(numa_node) % word_bits);
  ::syscall(SYS_mbind, data, bytes, MPOL_PREFERRED, mask, 1024ul + 1, 0u);
}

}  // namespace

pages::pages(pages&& other) noexcept
    : m_data(std::exchange(other.m_data, nullptr)),
      m_bytes(std::exchange(other.m_bytes, 0)),
      m_owns_file_part(std::exchange(other.m_owns_file_part, false)) {}

pages& pages::operator=(pages&& other) noexcept {
  if (this != &other) {
    release();
    m_data = std::exchange(other.m_data, nullptr);
    m_bytes = std::exchange(other.m_bytes, 0);
    m_owns_file_part = std::exchange(other.m_owns_file_part, false);
  }
  return *this;
}

void pages::release() noexcept {
  if (m_data != nullptr && m_owns_file_part) ::madvise(m_data, m_bytes, MADV_REMOVE);
  if (m_data != nullptr) ::munmap(m_data, m_bytes);
  m_data = nullptr;
}

std::optional<pages> pages::map(std::uint64_t bytes, bool huge, int numa_node, std::uint64_t n) {
  if (bytes == 0 || bytes > (1ull << 62)) return std::nullopt;
  const bool large = bytes >= huge_bytes;
  const std::uint64_t length = round_up(bytes, page_bytes());
  // The pages between a boundary and a colour are not kept: those behind it, up to the next boundary, are small ones.
  const std::uint64_t colour = bytes < coloured_bytes ? 0 : colour_of(n) / page_bytes() * page_bytes();
  const std::uint64_t slack = large ? huge_bytes + colour : 0;  // to move the start onto a boundary, and behind it
  void* raw =
      ::mmap(nullptr, length + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return std::nullopt;
  auto begin = reinterpret_cast<std::uintptr_t>(raw);
  const auto end = begin + length + slack;
  if (large) {
    const auto aligned = round_up(begin, huge_bytes) + colour;
    if (aligned > begin) ::munmap(raw, aligned - begin);
    if (aligned + length < end) ::munmap(reinterpret_cast<void*>(aligned + length), end - aligned - length);
    begin = aligned;
  }
  pages result;
  result.m_data = reinterpret_cast<void*>(begin);
  result.m_bytes = length;
  if (large && huge) ::madvise(result.m_data, length, MADV_HUGEPAGE);  // advice: a refusal costs speed only
  bind(result.m_data, length, numa_node);
  return result;
}

std::optional<pages> pages::map_file(int file, std::uint64_t offset, std::uint64_t bytes, int numa_node, bool owner) {
  void* const data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
  if (data == MAP_FAILED) return std::nullopt;
  pages result;
  result.m_data = data;
  result.m_bytes = bytes;
  result.m_owns_file_part = owner;
  bind(data, bytes, numa_node);
  return result;
}

namespace {

/// Whether all of it is mapped, and memory of this process alone.
bool is_private(std::uintptr_t begin, std::uintptr_t end) {
  std::ifstream maps("/proc/self/maps");  // "7f10-7f20 rw-p 00000000 00:00 0", ascending
  for (std::string line; begin < end && std::getline(maps, line);) {
    std::uintptr_t from = 0, to = 0;
    char dash = 0;
    std::string rights, offset, device;
    std::uint64_t inode = 1;
    std::istringstream words(line);
    words >> std::hex >> from >> dash >> to >> rights >> offset >> device >> std::dec >> inode;
    if (to <= begin) continue;
    if (from > begin || inode != 0 || rights.size() < 4 || rights[1] != 'w' || rights[3] != 'p') return false;
    begin = to;
  }
  return begin >= end;
}

}  // namespace

void populate(void* begin, std::uint64_t bytes) noexcept try {
  constexpr std::uint64_t part = 4 * pages::huge_bytes, max_threads = 8;
  const auto first = reinterpret_cast<std::uintptr_t>(begin) / page_bytes() * page_bytes();
  const std::uint64_t length = round_up(reinterpret_cast<std::uintptr_t>(begin) + bytes - first, page_bytes());
  if (!is_private(first, first + length)) return;
  const std::uint64_t parts = std::max<std::uint64_t>(
      std::min({length / part, max_threads, std::uint64_t{std::max(std::thread::hardware_concurrency() / 2, 1u)}}), 1);
  const std::uint64_t each = round_up(length / parts, pages::huge_bytes);
  const auto touch = [&](std::uint64_t at) {
    if (at < length) ::madvise(reinterpret_cast<void*>(first + at), std::min(each, length - at), MADV_POPULATE_WRITE);
  };
  std::vector<std::thread> others;
  std::uint64_t given = each;  // the first part is this thread's
  try {
    others.reserve(parts);
    for (; given < length; given += each) others.emplace_back(touch, given);
  } catch (const std::exception&) {  // the system refuses threads: what is left is done here
  }
  touch(0);
  for (; given < length; given += each) touch(given);
  for (std::thread& one : others) one.join();
} catch (const std::exception&) {  // no memory to look with: pages come when they are touched
}

std::uint64_t page_bytes() noexcept { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

std::vector<numa_domain> numa_domains(const std::uint64_t* cpu_mask, std::uint32_t cpu_words) {
  const auto usable = [&](unsigned cpu) {
    if (cpu_mask == nullptr || cpu_words == 0) return true;
    return cpu / 64 < cpu_words && ((cpu_mask[cpu / 64] >> (cpu % 64)) & 1) != 0;
  };
  const auto online = parse_list(first_line("/sys/devices/system/node/online"));
  // Memory that was added while the system ran may be counted with no domain; the only one has it all the same.
  const std::uint64_t least = online.size() == 1 ? meminfo(-1, "MemTotal") : 0;
  std::vector<numa_domain> result;
  for (const unsigned node : online) {
    const auto cpus = parse_list(first_line("/sys/devices/system/node/node" + std::to_string(node) + "/cpulist"));
    const auto count = std::count_if(cpus.begin(), cpus.end(), usable);
    if (count == 0) continue;
    result.push_back({static_cast<int>(node), std::max(meminfo(static_cast<int>(node), "MemTotal"), least),
                      static_cast<std::uint32_t>(count)});
  }
  if (result.empty()) {
    std::uint32_t count = 0;
    for (std::uint32_t word = 0; cpu_mask != nullptr && word < cpu_words; ++word)
      count += static_cast<std::uint32_t>(__builtin_popcountll(cpu_mask[word]));
    if (count == 0) count = static_cast<std::uint32_t>(std::max(1l, ::sysconf(_SC_NPROCESSORS_ONLN)));
    result.push_back({-1, meminfo(-1, "MemTotal"), count});
  }
  return result;
}

std::uint64_t free_bytes_of(int node) { return node < 0 ? meminfo(-1, "MemAvailable") : meminfo(node, "MemFree"); }

}  // namespace tessera::kit
