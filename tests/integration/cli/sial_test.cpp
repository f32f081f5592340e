// `tessera sial` as a user runs it: jobs of several programs, what they leave, what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/integration/cli/program.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* first_program = R"(sial first
predefined int rounds
aoindex i = 1:3
aoindex j = 1:3
index k = 1:rounds
distributed d[i,j]
static s[i,j]
temp t[i,j]
scalar x
pardo i,j
  t[i,j] = (scalar)(10*i + j)
  put d[i,j] = t[i,j]
  do k
    put d[i,j] += 1.0
  enddo k
endpardo i,j
sip_barrier
do i
do j
  get d[i,j]
  s[i,j] = d[i,j]
enddo j
enddo i
x = 2.5
println "first"
set_persistent d "d"
set_persistent s "s"
set_persistent x "x"
endsial first
)";
constexpr const char* second_program = R"(sial second
aoindex i = 1:3
aoindex j = 1:3
distributed d[i,j]
static s[i,j]
scalar x
scalar mine
scalar all
restore_persistent d "d"
restore_persistent s "s"
restore_persistent x "x"
pardo i,j
  get d[i,j]
  mine += d[i,j] * s[i,j]
endpardo i,j
collective all += mine
print all
print x
endsial second
)";

/// Two programs and their initialization data.
class sial : public testing::Test {
 protected:
  sial() {
    write("first.sialx", first_program);
    write("second.sialx", second_program);
    job(2);
  }
  void job(int rounds) {
    write("job.toml", "programs = [\"first.siox\", \"second.siox\"]\n[ints]\nrounds = " + std::to_string(rounds) + "\n[segments]\nao = [1, 2, 3]\n");
  }
  void write(const std::string& name, const std::string& text) { std::ofstream(at(name)) << text; }
  std::string at(const std::string& name) { return (m_folder.path() / name).string(); }
  outcome run_job(std::vector<std::string> more = {}) {
    std::vector<std::string> words{"sial", "run", "--init", at("job.toml"), "--sial-dir", m_folder.path().string(), "--workers", "3", "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  /// sum over blocks of l_i l_j (10 i + j + rounds)^2, l the lengths 1, 2, 3.
  static std::string output(int rounds) {
    double sum = 0;
    for (int i = 1; i <= 3; ++i)
      for (int j = 1; j <= 3; ++j) sum += i * j * (10.0 * i + j + rounds) * (10.0 * i + j + rounds);
    char text[200];
    std::snprintf(text, sizeof text, "17:  all = %.14f\n18:  x = 2.50000000000000\n", sum);
    return text;
  }

  plugin_test::folder m_folder;
};

TEST_F(sial, programs_of_a_job_hand_on_what_they_keep) {
  const outcome done = run_job();
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.out, "first\n\n" + output(2));
}

TEST_F(sial, the_form_of_the_data_does_not_matter) {
  ASSERT_EQ(run({"sial", "init", at("job.toml"), at("job.dat")}).code, 0);
  const outcome done = run({"sial", "run", "--init", at("job.dat"), "--sial-dir", m_folder.path().string(), "--quiet"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.out, "first\n\n" + output(2));
  EXPECT_EQ(run({"sial", "init", at("job.dat")}).out, run({"sial", "init", at("job.toml")}).out);
}

TEST_F(sial, statements_that_ran_on_devices_are_counted) {
  const outcome done = run_job({"--config", source("configs/sim_one.toml"), "--devices", "always", "--stats", "--profile", at("profile.html")});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.out.find("first\n\n" + output(2)), 0u) << done.out;
  EXPECT_NE(done.err.find("block statements ran on devices"), std::string::npos) << done.err;
  EXPECT_NE(contents(at("profile.html")).find("<th>on devices"), std::string::npos);
  const outcome none = run_job({"--config", source("configs/sim_one.toml"), "--devices", "never", "--stats"});
  EXPECT_EQ(none.err.find("ran on devices"), std::string::npos) << none.err;
  EXPECT_NE(run_job({"--devices", "somewhere"}).code, 0);
}

TEST_F(sial, a_job_goes_on_behind_the_last_completed_program) {
  write("second.sialx", std::string("sial second\nstop\nendsial second\n"));
  const outcome failed = run_job({"--checkpoint", at("kept")});
  EXPECT_EQ(failed.code, 8);
  EXPECT_THAT(failed.err, HasSubstr("second.sialx:2"));
  write("second.sialx", second_program);
  const outcome done = run_job({"--checkpoint", at("kept"), "--resume"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.out, output(2));
}

TEST_F(sial, a_job_that_was_killed_goes_on_too) {
  write("second.sialx", "sial second\nindex k = 1:2000000000\nindex l = 1:1000\nscalar x\ndo l\ndo k\nx += 1.0\nenddo k\nenddo l\nendsial second\n");
  {
    program killed({"sial", "run", "--init", at("job.toml"), "--sial-dir", m_folder.path().string(), "--checkpoint", at("kept"), "--quiet"});
    for (int k = 0; k < 600 && !fs::exists(m_folder.path() / "kept" / "after-1"); ++k) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    killed.signal(SIGKILL);
    EXPECT_EQ(killed.wait().code, 1000 + SIGKILL);
  }
  write("second.sialx", second_program);
  const outcome done = run_job({"--checkpoint", at("kept"), "--resume"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.out, output(2));
}

TEST_F(sial, checkpoints_that_are_damaged_or_of_another_job_are_refused) {
  ASSERT_EQ(run_job({"--checkpoint", at("kept")}).code, 0);
  job(3);
  const outcome other = run_job({"--checkpoint", at("kept"), "--resume"});
  EXPECT_EQ(other.code, 4);
  EXPECT_THAT(other.err, HasSubstr("of another job"));
  job(2);
  const fs::path elements = m_folder.path() / "kept" / "after-2" / "elements";
  {
    std::fstream file(elements, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(16);
    file.put('\x7f');
  }
  const outcome damaged = run_job({"--checkpoint", at("kept"), "--resume"});
  EXPECT_EQ(damaged.code, 4);
  EXPECT_THAT(damaged.err, HasSubstr("damaged"));
  fs::resize_file(elements, 8);
  const outcome cut = run_job({"--checkpoint", at("kept"), "--resume"});
  EXPECT_EQ(cut.code, 4);
  EXPECT_THAT(cut.err, HasSubstr("behind its end"));
  std::ofstream(m_folder.path() / "kept" / "after-2" / "manifest.json") << "{";
  EXPECT_EQ(run_job({"--checkpoint", at("kept"), "--resume"}).code, 4);
}

TEST_F(sial, what_is_left_is_dumped) {
  ASSERT_EQ(run_job({"--dump-final", at("left.json")}).code, 0);
  const nlohmann::json left = json_of(contents(at("left.json")));
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0]["program"], "first");
  EXPECT_EQ(left[0]["ints"]["rounds"], 2);
  EXPECT_EQ(left[0]["scalars"]["x"], 2.5);
  const nlohmann::json& blocks = left[0]["arrays"][0]["blocks"];
  ASSERT_EQ(blocks.size(), 9u);
  EXPECT_EQ(blocks[5]["segments"], nlohmann::json({3, 2}));
  EXPECT_EQ(blocks[5]["shape"], nlohmann::json({3, 2}));
  EXPECT_EQ(blocks[5]["values"], nlohmann::json(std::vector<double>(6, 34.0)));
  EXPECT_EQ(left[0]["arrays"][1]["extents"], nlohmann::json({6, 6}));
  ASSERT_EQ(run_job({"--dump-final", at("left.json"), "--dump-checksums"}).code, 0);
  EXPECT_EQ(json_of(contents(at("left.json")))[0]["arrays"][0]["blocks"][5]["sum"], 6 * 34.0);
}

TEST_F(sial, profiles_name_every_line) {
  const outcome done = run_job({"--profile", at("p.txt")});
  ASSERT_EQ(done.code, 0) << done.err;
  const std::string text = contents(at("p.txt"));
  EXPECT_THAT(text, testing::ContainsRegex("\n +9 .* 12    put d.i,j. = t.i,j.\n"));
  EXPECT_THAT(text, testing::ContainsRegex("\n +18 .* 14      put d.i,j. .= 1.0\n"));
  ASSERT_EQ(run_job({"--profile", at("p.html")}).code, 0);
  EXPECT_THAT(contents(at("p.html")), HasSubstr("<td class=l>12<td class=s>  put d[i,j] = t[i,j]"));
}

TEST_F(sial, a_capped_memory_spills_to_the_disk) {
  write("large.sialx", R"(sial large
aoindex i = 1:6
aoindex j = 1:6
index n = 1:2
served a[i,j]
temp t[i,j]
scalar mine
scalar all
pardo i,j
  t[i,j] = (scalar)(i + j)
  prepare a[i,j] = t[i,j]
endpardo i,j
sip_barrier
do n
  pardo i,j
    request a[i,j]
    t[i,j] = 1.0
    mine += a[i,j] * t[i,j]
  endpardo i,j
  sip_barrier
enddo n
collective all += mine
print all
endsial large
)");
  write("large.toml", "[segments]\nao = [100, 100, 100, 100, 100, 100]\n");
  const std::vector<std::string> words{"sial", "run", at("large.sialx"), "--init", at("large.toml"), "--workers", "2", "--set", "runtime.plugins=[\"host\", \"disk\"]",
                                       "--set", "memory.host_limit=1 MiB", "--set", "memory.slab_bytes=256 KiB", "--set", "plugin.disk.capacity=64 MiB", "--json", "-"};
  const outcome done = run(words);
  ASSERT_EQ(done.code, 0) << done.err;
  const nlohmann::json told = json_of(done.out);
  EXPECT_EQ(told["output"], "23:  all = 5040000.00000000000000\n");
  EXPECT_GT(told["bytes_transferred"].get<double>(), 0) << "nothing was spilled: the test tests nothing";
  EXPECT_GT(told["programs"][0]["asked_early"].get<int>(), 0);
}

TEST_F(sial, wrong_words_are_told) {
  EXPECT_EQ(run({"sial", "run"}).code, 2);
  EXPECT_EQ(run({"sial", "run", at("none.sialx")}).code, 4);
  EXPECT_EQ(run({"sial", "run", m_folder.path().string()}).code, 4);
  EXPECT_EQ(run({"sial", "run", "--init", at("none.dat")}).code, 4);
  EXPECT_EQ(run({"sial", "check", "/dev/zero"}).code, 4);
  const outcome missing = run({"sial", "run", "--init", at("job.toml"), "--sial-dir", "/nowhere"});
  EXPECT_EQ(missing.code, 4);
  EXPECT_THAT(missing.err, HasSubstr("first.sialx"));
  EXPECT_THAT(missing.err, HasSubstr("/nowhere"));
  write("wrong.sialx", "sial wrong\nscalar x\nx = 1\ny = 2.0\nendsial wrong\n");
  const outcome wrong = run({"sial", "run", at("wrong.sialx")});
  EXPECT_EQ(wrong.code, 4);
  EXPECT_THAT(wrong.err, HasSubstr("wrong.sialx:3:"));
  EXPECT_THAT(wrong.err, HasSubstr("wrong.sialx:4:"));
  EXPECT_EQ(run({"sial", "list", at("wrong.sialx")}).code, 4);
  const outcome listed = run({"sial", "list", at("first.sialx")});
  EXPECT_EQ(listed.code, 0);
  EXPECT_THAT(listed.out, HasSubstr("pardo_begin"));
}

}  // namespace
