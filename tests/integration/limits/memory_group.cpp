#include "integration/limits/memory_group.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace limits_test {
namespace {

namespace fs = std::filesystem;

bool write(const fs::path& file, const std::string& text) {
  std::ofstream to(file);
  to << text << std::flush;
  return static_cast<bool>(to);
}

}  // namespace

nested_groups::nested_groups(std::uint64_t bytes) {
  std::ifstream groups("/proc/self/cgroup"), mounts("/proc/self/mountinfo");
  std::string first, second;
  for (std::string line; std::getline(groups, line);) {
    if (const auto at = line.find(":memory:"); at != line.npos) first = line.substr(at + 8);
    if (line.starts_with("0::")) second = line.substr(3);
  }
  for (std::string line; std::getline(mounts, line) && m_outer.empty();) {
    std::istringstream words(line);
    std::string skipped, root, mount;
    words >> skipped >> skipped >> skipped >> root >> mount;
    const bool of_memory = line.find(" - cgroup ") != line.npos && line.find(",memory") != line.npos;
    if (root == "/" && of_memory)
      make(mount + first, "memory.limit_in_bytes", bytes);
    else if (root == "/" && line.find(" - cgroup2 ") != line.npos)
      make(mount + second, "memory.max", bytes);
  }
}

nested_groups::~nested_groups() {
  std::error_code ignored;
  for (const fs::path& group : {m_outer / "inner", m_outer})
    if (!m_outer.empty()) ::rmdir(group.c_str());
}

void nested_groups::make(const fs::path& below, const char* limit, std::uint64_t bytes) {
  const fs::path outer = below / ("tessera_test_" + std::to_string(::getpid()));
  if (::mkdir(outer.c_str(), 0755) != 0) return;
  if (write(outer / limit, std::to_string(bytes)) && ::mkdir((outer / "inner").c_str(), 0755) == 0 &&
      fs::exists(outer / "inner" / "cgroup.procs")) {
    m_outer = outer;
  } else {
    ::rmdir(outer.c_str());
  }
}

}  // namespace limits_test
