// `tessera sial`: what dry runs tell, and what is said when memory or a disk ends. Every remedy that is told makes the
// program run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/integration/cli/program.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using testing::HasSubstr;
using testing::Not;

/// Two temp blocks of 100 x 100 per worker (20 pages each: 81,920 bytes), 36 served ones, each written and read once.
constexpr const char* large = R"(sial large
aoindex i = 1:6
aoindex j = 1:6
temp a[i,j]
temp b[i,j]
served s[i,j]
scalar x
scalar all
pardo i, j
  a[i,j] = (scalar)(i + j)
  b[i,j] = a[i,j]
  prepare s[i,j] = b[i,j]
endpardo i, j
server_barrier
pardo i, j
  request s[i,j]
  a[i,j] = s[i,j]
  b[i,j] = 1.0
  x += a[i,j] * b[i,j]
endpardo i, j
collective all += x
print all
endsial large
)";
constexpr const char* printed = "22:  all = 2520000.00000000000000\n";  // 10,000 x 2 x 6 x (1 + ... + 6)

class sial_memory : public testing::Test {
 protected:
  sial_memory() {
    write("large.sialx", large);
    write("large.toml", "[segments]\nao = [100, 100, 100, 100, 100, 100]\n");
    write("small.toml", "[segments]\nao = [10, 10, 10, 10, 10, 10]\n");
  }
  void write(const std::string& name, const std::string& text) { std::ofstream(at(name)) << text; }
  std::string at(const std::string& name) { return (m_folder.path() / name).string(); }
  /// Runs it with so much memory; `more`: further words.
  outcome run_large(const std::string& host, std::vector<std::string> more = {},
                    const std::string& data = "large.toml") {
    std::vector<std::string> words{
        "sial",    "run",   at("large.sialx"),           "--init", at(data),
        "--quiet", "--set", "memory.host_limit=" + host, "--set",  "memory.slab_bytes=64 KiB"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  static std::vector<std::string> disk(const std::string& capacity, std::vector<std::string> more = {}) {
    std::vector<std::string> words{"--set", "runtime.plugins=[\"host\", \"disk\"]", "--set",
                                   "plugin.disk.capacity=" + capacity};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  nlohmann::json dry_run(const std::string& host, std::vector<std::string> more, int code) {
    more.insert(more.end(), {"--dry-run", "--json", "-"});
    const outcome told = run_large(host, more);
    EXPECT_EQ(told.code, code) << told.err;
    return json_of(told.out);
  }

  plugin_test::folder m_folder;
};

TEST_F(sial_memory, dry_runs_tell_what_will_be_needed) {
  const nlohmann::json told = dry_run("8 MiB", {"--workers", "2"}, 0);
  EXPECT_EQ(told["sial_workers"], 2);
  EXPECT_EQ(told["host_bytes"], 8 * 1024 * 1024);
  EXPECT_EQ(told["disk_bytes"], 0);
  EXPECT_EQ(told["fits"], true);
  const nlohmann::json& p = told["programs"][0];
  EXPECT_EQ(p["iterations"], 72);
  EXPECT_EQ(p["contraction_flops"], 0);
  EXPECT_EQ(p["memory"][1]["kind"], "temp");
  EXPECT_EQ(p["memory"][1]["bytes_per_worker"], 160'000);
  EXPECT_EQ(p["memory"][1]["bytes"], 320'000);
  EXPECT_EQ(p["memory"][5]["kind"], "served");
  EXPECT_EQ(p["memory"][5]["bytes"], 36 * 80'000);
  EXPECT_EQ(p["min_host_bytes"], 2 * 3 * 81'920) << "a, b and the block of s in the hand, for each worker";
  EXPECT_EQ(p["block_bytes"], (4 + 36) * 81'920);
  EXPECT_EQ(p["largest_blocks"][0]["extents"], nlohmann::json({100, 100}));
  EXPECT_EQ(p["fits"], "yes");
  EXPECT_TRUE(p["notes"].empty());
}

TEST_F(sial_memory, dry_runs_print_a_table) {
  const outcome told = run({"sial", "run", at("large.sialx"), "--init", at("large.toml"), "--workers", "2", "--dry-run",
                            "--set", "memory.host_limit=1 MiB"});
  EXPECT_EQ(told.code, 7);
  EXPECT_THAT(
      told.out,
      HasSubstr(
          "memory                 per worker         in all\n  temp                      156 KiB        312 KiB\n  "
          "served                                  2.75 MiB\n"));
  EXPECT_THAT(told.out, HasSubstr("it does not fit: blocks take 3.12 MiB, and the host's memory holds 1 MiB\n    --set "
                                  "memory.host_limit=\"4 MiB\" (or more)\n"));
  EXPECT_EQ(run({"sial", "run", at("large.sialx"), "--init", at("large.toml"), "--dry-run", "--quiet"}).out, "");
}

TEST_F(sial_memory, every_remedy_of_a_dry_run_makes_it_run) {
  const nlohmann::json no_disk = dry_run("1 MiB", {"--workers", "2"}, 7);
  EXPECT_EQ(no_disk["fits"], false);
  EXPECT_EQ(no_disk["programs"][0]["remedies"].size(), 2u) << no_disk.dump(1);
  EXPECT_EQ(run_large("1 MiB", {"--workers", "2"}).code, 7);
  EXPECT_EQ(run_large("4 MiB", {"--workers", "2"}).out, printed);
  EXPECT_EQ(run_large("1 MiB", disk("3 MiB", {"--workers", "2"})).out, printed);

  const nlohmann::json too_many = dry_run("300 KiB", disk("64 MiB", {"--workers", "2"}), 7);
  const nlohmann::json& remedies = too_many["programs"][0]["remedies"];
  ASSERT_EQ(remedies.size(), 3u) << remedies.dump(1);
  EXPECT_EQ(remedies[0], "--set memory.host_limit=\"480 KiB\" (or more)");
  EXPECT_EQ(remedies[1], "--workers 1");
  EXPECT_THAT(remedies[2].get<std::string>(), HasSubstr("segments of at most about 79 elements"));
  EXPECT_EQ(run_large("300 KiB", disk("64 MiB", {"--workers", "1"})).out, printed);
}

TEST_F(sial_memory, a_full_memory_is_told_with_its_place_and_what_helps) {
  for (const char* workers : {"1", "2"}) {
    const outcome failed = run_large("1 MiB", {"--workers", workers});
    EXPECT_EQ(failed.code, 7);
    EXPECT_THAT(failed.err, HasSubstr("is full"));
    EXPECT_THAT(failed.err, testing::ContainsRegex("large.sialx:1[0-2]:3\n"));
    EXPECT_THAT(failed.err, HasSubstr("it does not fit: blocks take"));
    EXPECT_THAT(failed.err, HasSubstr("--set memory.host_limit="));
    EXPECT_THAT(failed.err, HasSubstr("a disk for what does not fit"));
  }
}

TEST_F(sial_memory, less_than_one_working_set_is_told_and_nobody_hangs) {
  // Workers that have failed, or wait for others, make no room: nobody waits for them, however patient.
  for (const char* host : {"64 KiB", "128 KiB", "256 KiB"})
    for (const char* workers : {"1", "2", "4"}) {
      const outcome failed = run_large(host, disk("64 MiB", {"--workers", workers, "--set", "memory.patience=1000 s"}));
      if (failed.code == 0) {
        EXPECT_STREQ(host, "256 KiB") << "three blocks: 240 KiB";
        EXPECT_STREQ(workers, "1");
        continue;
      }
      EXPECT_EQ(failed.code, 7) << host << " " << workers << failed.err;
      EXPECT_THAT(failed.err, testing::ContainsRegex("large.sialx:1[0-9]:3\n"));
      EXPECT_THAT(failed.err, HasSubstr("of blocks that cannot leave"));
      EXPECT_THAT(failed.err, HasSubstr("segments of at most about"));
    }
}

TEST_F(sial_memory, a_full_disk_is_told) {
  const outcome small = run_large("1 MiB", disk("1 MiB", {"--workers", "2"}));
  EXPECT_EQ(small.code, 7);
  EXPECT_THAT(small.err, HasSubstr("disk0:storage, where its blocks would go, is full"));
  EXPECT_THAT(small.err, testing::ContainsRegex("large.sialx:1[0-2]:3\n"));
  EXPECT_THAT(small.err, HasSubstr("--set plugin.disk.capacity=\"3 MiB\" (or more)"));
  const outcome broken =
      run_large("1 MiB", disk("64 MiB", {"--workers", "2", "--set", "plugin.disk.faults.full_after_bytes=500000"}));
  EXPECT_EQ(broken.code, 7);
  EXPECT_THAT(broken.err, HasSubstr("No space left on device"));
  EXPECT_THAT(broken.err, HasSubstr("large.sialx:"));
  EXPECT_THAT(broken.err, HasSubstr("the disk has less room than it says"));
}

TEST_F(sial_memory, wrong_inputs_of_dry_runs) {
  EXPECT_EQ(run({"sial", "run", "--dry-run"}).code, 2);
  EXPECT_EQ(run({"sial", "run", at("large.sialx"), "--dry-run"}).code, 4) << "no segments";
  EXPECT_EQ(run({"sial", "run", at("none.sialx"), "--dry-run"}).code, 4);
  EXPECT_EQ(
      run({"sial", "run", at("large.sialx"), "--init", at("large.toml"), "--dry-run", "--json", "/nowhere/x"}).code, 2);
  write("wrong.sialx",
        "sial wrong\npredefined int rounds\nindex k = 1:rounds\ntemp t[k]\ndo k\nt[k] = 1.0\nenddo k\nendsial wrong\n");
  const outcome missing = run({"sial", "run", at("wrong.sialx"), "--dry-run"});
  EXPECT_EQ(missing.code, 4);
  EXPECT_THAT(missing.err, HasSubstr("the initialization data have no int 'rounds'"));
  EXPECT_EQ(missing.out, "");
}

}  // namespace
