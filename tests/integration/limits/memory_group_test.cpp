// A job whose blocks do not fit into its control group writes them to the disk instead of being killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "integration/limits/limited.hpp"

namespace limits_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

bool write(const fs::path& file, const std::string& text) {
  std::ofstream to(file);
  to << text << std::flush;
  return static_cast<bool>(to);
}

/// Two control groups, one in the other, below the one of this process: the outer has the limit, the inner none.
class nested_groups {
 public:
  explicit nested_groups(std::uint64_t bytes) {
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
  ~nested_groups() {
    std::error_code ignored;
    for (const fs::path& group : {m_outer / "inner", m_outer})
      if (!m_outer.empty()) ::rmdir(group.c_str());
  }
  nested_groups(const nested_groups&) = delete;
  nested_groups& operator=(const nested_groups&) = delete;

  bool made() const { return !m_outer.empty(); }
  std::string enter() const { return "echo $$ > " + (m_outer / "inner" / "cgroup.procs").string(); }
  std::string name() const { return m_outer.filename().string(); }

 private:
  void make(const fs::path& below, const char* limit, std::uint64_t bytes) {
    const fs::path outer = below / ("tessera_test_" + std::to_string(::getpid()));
    if (::mkdir(outer.c_str(), 0755) != 0) return;
    if (write(outer / limit, std::to_string(bytes)) && ::mkdir((outer / "inner").c_str(), 0755) == 0 &&
        fs::exists(outer / "inner" / "cgroup.procs")) {
      m_outer = outer;
    } else {
      ::rmdir(outer.c_str());
    }
  }
  fs::path m_outer;
};

constexpr std::uint64_t group_bytes = 300'000'000;

TEST(memory_group, a_job_that_does_not_fit_spills) {
  const nested_groups group(group_bytes);
  if (!group.made())
    GTEST_SKIP()
        << "no control group of memory can be made here (root, and a writable hierarchy with the memory controller)";
  const outcome told = run_behind(group.enter(), "topology");
  EXPECT_EQ(told.code, 0) << told.text;
  EXPECT_THAT(told.text, HasSubstr("bounded by control group"));
  EXPECT_THAT(told.text, HasSubstr(group.name() + ", at most 286 MiB"));
  // Three matrices of 200 MB.
  const outcome ended = run_behind(
      group.enter(),
      "gemm --n 5000 --tile 500 --quiet --stats --set runtime.plugins=host,disk --set plugin.disk.capacity=\"2 GiB\"");
  EXPECT_EQ(ended.code, 0) << ended.text;
  EXPECT_THAT(ended.text, AllOf(HasSubstr(" written back"), Not(HasSubstr(" 0 written back")))) << ended.text;
}

TEST(memory_group, without_a_disk_it_ends_with_an_error) {
  const nested_groups group(group_bytes);
  if (!group.made())
    GTEST_SKIP()
        << "no control group of memory can be made here (root, and a writable hierarchy with the memory controller)";
  const outcome ended = run_behind(group.enter(), "gemm --n 5000 --tile 500 --quiet");
  EXPECT_EQ(ended.code, 7) << ended.text;  // memory
}

TEST(memory_group, the_user_may_say_more_and_is_warned) {
  const nested_groups group(group_bytes);
  if (!group.made())
    GTEST_SKIP()
        << "no control group of memory can be made here (root, and a writable hierarchy with the memory controller)";
  const outcome ended = run_behind(group.enter(), "gemm --n 300 --set memory.host_limit=\"1 GiB\"");
  EXPECT_EQ(ended.code, 0) << ended.text;
  EXPECT_THAT(ended.text, HasSubstr("blocks may take 1 GiB of the host"));
  EXPECT_THAT(ended.text, HasSubstr(group.name()));
}

}  // namespace
}  // namespace limits_test
