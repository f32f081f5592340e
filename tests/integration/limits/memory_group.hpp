#pragma once
// Control groups of memory that a test makes for a process.
#include <cstdint>
#include <filesystem>
#include <string>

namespace limits_test {

/// Two control groups, one in the other, below the one of this process: the outer has the limit, the inner none.
class nested_groups {
 public:
  explicit nested_groups(std::uint64_t bytes);
  ~nested_groups();
  nested_groups(const nested_groups&) = delete;
  nested_groups& operator=(const nested_groups&) = delete;

  /// Needs root, and a writable hierarchy with the memory controller.
  bool made() const { return !m_outer.empty(); }
  std::string enter() const { return "echo $$ > " + (m_outer / "inner" / "cgroup.procs").string(); }
  std::string name() const { return m_outer.filename().string(); }

 private:
  void make(const std::filesystem::path& below, const char* limit, std::uint64_t bytes);
  std::filesystem::path m_outer;
};

}  // namespace limits_test
