// What a program leaves behind that the environment, or its configuration, asks for a report, a recording or
// statistics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "core/trace/chrome.hpp"
#include "tests/integration/cli/program.hpp"

namespace {

using namespace cli_test;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
namespace fs = std::filesystem;

class run_output : public testing::Test {
 protected:
  run_output() : m_folder(fs::path(testing::TempDir()) / ("tessera_output_" + std::to_string(getpid()))) {
    fs::create_directories(m_folder);
  }
  ~run_output() override { fs::remove_all(m_folder); }

  std::string file(const std::string& name) const { return (m_folder / name).string(); }
  /// The program, with variables of its own and without caches of the user.
  outcome run_some(const std::string& how, std::vector<std::string> environment) const {
    environment.push_back("XDG_CACHE_HOME=" + file("cache"));
    return program({how}, std::move(environment), {.file = TESSERA_SOME_RUNTIMES}).wait();
  }
  /// The names in the folder, without the cache.
  std::set<std::string> names() const {
    std::set<std::string> all;
    for (const auto& entry : fs::directory_iterator(m_folder))
      if (entry.path().filename() != "cache") all.insert(entry.path().filename().string());
    return all;
  }

 private:
  fs::path m_folder;
};

std::set<std::string> operations_in(const std::string& recording) {
  std::istringstream text(recording);
  const tessera::trace::timeline read = tessera::trace::read_chrome(text, "the recording");
  std::set<std::string> all;
  for (const auto& task : read.tasks) all.insert(read.operations.at(task.operation));
  return all;
}

TEST_F(run_output, a_page_a_recording_and_statistics_without_code) {
  const outcome done =
      run_some("one", {"TESSERA_REPORT=" + file("run.html"), "TESSERA_TRACE=" + file("run.json"), "TESSERA_STATS=1"});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.out, "done\n");
  EXPECT_THAT(contents(file("run.html")),
              AllOf(StartsWith("<!doctype html>"), HasSubstr("trace_some_runtimes"), HasSubstr("first_task")));
  EXPECT_EQ(operations_in(contents(file("run.json"))), (std::set<std::string>{"fill", "first_task"}));
  EXPECT_THAT(done.err, AllOf(HasSubstr("statistics of trace_some_runtimes\n"), HasSubstr("6 submitted, 6 retired"),
                              HasSubstr("first_task")));
  // Tasks are timed: "-" stands where nothing was.
  std::istringstream lines(done.err);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("first_task")) {
      EXPECT_THAT(line, Not(HasSubstr(" - "))) << line;
    }
}

TEST_F(run_output, nothing_is_written_unless_asked_for) {
  const outcome plain = run_some("one", {});
  EXPECT_EQ(plain.code, 0);
  EXPECT_EQ(plain.err, "");
  const outcome off =
      run_some("off", {"TESSERA_REPORT=" + file("run.html"), "TESSERA_TRACE=" + file("run.json"), "TESSERA_STATS=1"});
  EXPECT_EQ(off.code, 0) << off.err;
  EXPECT_EQ(off.err, "");
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(run_output, long_names_and_configurations_say_the_same) {
  std::ofstream(file("asks.toml")) << "[runtime]\nreport = \"beside.html\"\nstats = true\n";
  const outcome done =
      run_some("one", {"TESSERA_CONFIG=" + file("asks.toml"), "TESSERA_RUNTIME_TRACE_FILE=" + file("run.json")});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(names(), (std::set<std::string>{"asks.toml", "beside.html", "run.json"}));
  EXPECT_THAT(done.err, HasSubstr("first_task"));
}

TEST_F(run_output, several_runtimes_of_a_process_have_names_of_their_own) {
  for (const std::string how : {"together", "in_turn"}) {
    const outcome done = run_some(how, {"TESSERA_TRACE=" + file(how + ".x.json"), "TESSERA_STATS=1"});
    ASSERT_EQ(done.code, 0) << done.err;
    EXPECT_THAT(operations_in(contents(file(how + ".x.json"))), testing::Contains("first_task"));
    EXPECT_THAT(operations_in(contents(file(how + ".x.2.json"))), testing::Contains("second_task"));
    EXPECT_THAT(done.err,
                AllOf(HasSubstr("recording of trace_some_runtimes, runtime 2 is in " + file(how + ".x.2.json")),
                      HasSubstr("statistics of trace_some_runtimes, runtime 2\n")));
    EXPECT_EQ(fs::exists(file(how + ".x.3.json")), how == "in_turn");
  }
}

TEST_F(run_output, the_number_of_the_process_may_be_in_a_name) {
  ASSERT_EQ(run_some("one", {"TESSERA_REPORT=" + file("run-%p-100%%.html")}).code, 0);
  ASSERT_EQ(run_some("one", {"TESSERA_REPORT=" + file("run-%p-100%%.html")}).code, 0);
  EXPECT_EQ(names().size(), 2u);
  for (const std::string& name : names()) EXPECT_THAT(name, testing::MatchesRegex("run-[0-9]+-100%\\.html"));
}

TEST_F(run_output, what_cannot_be_written_is_told_at_the_start) {
  const auto refused = [&](const std::vector<std::string>& environment, const std::vector<std::string>& parts) {
    const outcome done = run_some("one", environment);
    EXPECT_EQ(done.code, 3) << done.err;
    EXPECT_EQ(done.out, "");
    for (const std::string& part : parts) EXPECT_THAT(done.err, HasSubstr(part));
  };
  refused({"TESSERA_REPORT=" + file("absent/run.html")},
          {"runtime.report: cannot write '" + file("absent/run.html") + "': No such file or directory", "hint: "});
  refused({"TESSERA_TRACE=" + file("")}, {"runtime.trace_file: cannot write", "irectory"});
  refused({"TESSERA_REPORT=-"}, {"goes to a file"});
  refused({"TESSERA_REPORT=" + file("one"), "TESSERA_TRACE=" + file("./one")},
          {"is also the file of runtime.trace_file"});
  refused({"TESSERA_TRACE=1"}, {"TESSERA_TRACE names a file, not \"1\"", "write TESSERA_TRACE=FILE"});
  refused({"TESSERA_STATS=yes"}, {"runtime.stats wants", "environment TESSERA_STATS"});
  refused({"TESSERA_REPROT=run.html"}, {"did you mean TESSERA_REPORT?"});
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(run_output, leaves_its_page_however_the_program_ends) {
  const outcome thrown = run_some("throws", {"TESSERA_REPORT=" + file("thrown.html")});
  EXPECT_EQ(thrown.code, 1);
  EXPECT_THAT(contents(file("thrown.html")), HasSubstr("first_task"));
  for (const std::string how : {"static", "exits", "forks"}) {
    const outcome done = run_some(how, {"TESSERA_REPORT=" + file(how + ".html"), "TESSERA_STATS=1"});
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_THAT(contents(file(how + ".html")), HasSubstr("first_task"));
    const std::size_t first = done.err.find("statistics of");
    EXPECT_NE(first, std::string::npos) << done.err;
    EXPECT_EQ(done.err.find("statistics of", first + 1), std::string::npos) << done.err;
  }
}

TEST_F(run_output, a_relative_name_is_that_of_the_start) {
  const fs::path before = fs::current_path();
  fs::current_path(file(""));
  const outcome done = run_some("moves", {"TESSERA_REPORT=run.html"});
  fs::current_path(before);
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(contents(file("run.html")), HasSubstr("first_task"));
}

TEST_F(run_output, a_page_that_cannot_be_written_at_the_end_is_told) {
  const outcome done = program({"one"}, {"TESSERA_REPORT=" + file("run.html"), "XDG_CACHE_HOME=" + file("cache")},
                               {.file_limit = 1000, .file = TESSERA_SOME_RUNTIMES})
                           .wait();
  EXPECT_THAT(done.err, HasSubstr("the report of trace_some_runtimes cannot be written to " + file("run.html")))
      << done.code;
}

}  // namespace
