// --trace, --report and `tessera trace summary` as a user meets them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/integration/cli/program.hpp"

namespace {

using namespace cli_test;
using ::testing::HasSubstr;
using ::testing::StartsWith;
namespace fs = std::filesystem;

class trace_command : public ::testing::Test {
 protected:
  trace_command() : m_folder(fs::path(::testing::TempDir()) / ("tessera_trace_" + std::to_string(getpid()))) {
    fs::create_directories(m_folder);
  }
  ~trace_command() override { fs::remove_all(m_folder); }
  std::string file(const std::string& name) const { return (m_folder / name).string(); }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
  }

 private:
  fs::path m_folder;
};

TEST_F(trace_command, a_run_leaves_a_trace_and_a_page) {
  const outcome made = run({"gemm", "--n", "400", "--tile", "100", "--config", source("configs/sim_one.toml"),
                            "--trace", file("run.json"), "--report", file("run.html")});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("GFLOP/s"));  // the report on the terminal is as ever

  const nlohmann::json trace = json_of(contents(file("run.json")));
  std::size_t tasks = 0, transfers = 0, counters = 0;
  for (const auto& e : trace.at("traceEvents")) {
    ASSERT_TRUE(e.contains("ph") && e.contains("pid")) << e;
    const std::string category = e.value("cat", "");
    tasks += category == "task", transfers += category == "transfer", counters += category == "memory";
    if (e["ph"] != "X") continue;
    EXPECT_TRUE(e.at("ts").is_number() && e.at("dur").is_number() && e.contains("tid") && e.contains("name")) << e;
  }
  EXPECT_EQ(tasks, 64u + 32u);  // products, and the tasks that make noise
  EXPECT_GT(counters, 0u);
  EXPECT_THAT(contents(file("run.html")),
              ::testing::AllOf(::testing::StartsWith("<!doctype html>"), HasSubstr("tessera gemm, type f64")));

  const outcome text = run({"trace", "summary", file("run.json")});
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out,
              ::testing::AllOf(HasSubstr("tessera gemm"), HasSubstr("96 tasks"), HasSubstr("Why tasks waited"),
                               HasSubstr("Critical path"), HasSubstr("infinite link")));
  const outcome json = run({"trace", "summary", file("run.json"), "--json", "-"});
  const nlohmann::json figures = json_of(json.out);
  EXPECT_EQ(figures["tasks"], 96);
  EXPECT_EQ(figures["transfers"], transfers);
  for (const auto& o : figures["operations"]) {
    if (o["operation"] == "gemm") {
      EXPECT_EQ(o["flops"], 2.0 * 400 * 400 * 400);
    }
    EXPECT_GT(o["bytes"].get<double>(), 0) << o;
  }
  double waits = 0;
  for (const auto& [reason, seconds] : figures["waiting"].items()) waits += seconds.get<double>();
  double parts = 0;
  for (const auto& o : figures["operations"])
    for (const auto& [reason, seconds] : o["waiting"].items()) parts += seconds.get<double>();
  EXPECT_NEAR(waits, parts, 1e-9 * figures["operations"].size() + 1e-6);

  // The page can be made again from the trace, and is the same.
  ASSERT_EQ(
      run({"trace", "summary", file("run.json"), "--report", file("again.html"), "--json", file("figures.json")}).code,
      0);
  EXPECT_EQ(contents(file("again.html")), contents(file("run.html")));
  EXPECT_EQ(json_of(contents(file("figures.json"))), figures);
}

TEST_F(trace_command, two_runs_are_compared_and_a_graph_is_written) {
  for (const char* name : {"a.json", "b.json"})
    ASSERT_EQ(run({"gemm", "--n", "200", "--tile", "100", "--quiet", "--trace", file(name)}).code, 0);
  const outcome text = run({"trace", "compare", file("a.json"), file("b.json")});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, ::testing::AllOf(HasSubstr("a.json"), HasSubstr("b.json"), HasSubstr("idle, runtime")));
  const nlohmann::json figures = json_of(run({"trace", "compare", file("a.json"), file("b.json"), "--json", "-"}).out);
  EXPECT_EQ(figures["tasks"][0], figures["tasks"][1]);
  EXPECT_EQ(figures["seconds"]["length"].size(), 2u);
  const outcome graph = run({"trace", "graph", file("a.json"), "--tasks", "5"});
  EXPECT_EQ(graph.code, 0) << graph.err;
  EXPECT_THAT(graph.out, ::testing::AllOf(HasSubstr("digraph run"), HasSubstr("the first 5 of"), HasSubstr("t4 [")));
  EXPECT_EQ(run({"trace", "graph", file("a.json"), "--dot", file("a.dot")}).code, 0);
  EXPECT_THAT(contents(file("a.dot")), HasSubstr("digraph run"));
  EXPECT_EQ(run({"trace", "compare", file("a.json")}).code, 2);
  EXPECT_EQ(run({"trace", "graph", file("none.json")}).code, 4);
}

TEST_F(trace_command, statements_of_sial_are_in_the_recording) {
  const outcome made = run({"sial", "run", source("tests/integration/sial/programs/contractions.sialx"), "--init",
                            source("tests/integration/sial/programs/common.toml"), "--workers", "2", "--quiet",
                            "--trace", file("sial.json"), "--report", file("sial.html")});
  ASSERT_EQ(made.code, 0) << made.err;
  const nlohmann::json figures = json_of(run({"trace", "summary", file("sial.json"), "--json", "-"}).out);
  EXPECT_THAT(figures["title"].get<std::string>(), StartsWith("tessera sial run contractions"));
  std::set<std::string> operations, workers;
  for (const auto& o : figures["operations"]) operations.insert(o["operation"].get<std::string>());
  for (const auto& w : figures["workers"])
    if (w["tasks"].get<int>() > 0) workers.insert(w["name"].get<std::string>());
  for (const auto& o : figures["operations"])
    if (o["operation"] == "contract") {
      EXPECT_GT(o["flops"].get<double>(), 0);
      EXPECT_GT(o["bound_seconds"].get<double>(), 0);
    }
  EXPECT_TRUE(operations.contains("contract")) << figures["operations"];
  EXPECT_TRUE(workers.contains("SIAL worker 0") && workers.contains("SIAL worker 1")) << figures["workers"];
  EXPECT_GT(figures["critical_path"]["seconds"].get<double>(), 0);
  EXPECT_THAT(contents(file("sial.html")), HasSubstr("contractions.sialx"));
}

TEST_F(trace_command, wrong_files_end_with_4_and_the_reason) {
  ASSERT_EQ(run({"gemm", "--n", "200", "--tile", "100", "--quiet", "--trace", file("run.json")}).code, 0);
  const std::string whole = contents(file("run.json"));
  const std::pair<std::string, std::string> wrong[] = {
      {file("missing.json"), "No such file"},
      {file("empty.json", ""), "empty"},
      {file("text.json", "this is no JSON\n"), "not JSON"},
      {file("other.json", R"({"traceEvents":[{"ph":"X","name":"f","ts":0,"dur":1,"pid":1,"tid":1}]})"),
       "no trace of Tessera"},
      {file("short.json", whole.substr(0, whole.size() * 2 / 3)), "ends in the midst"},
      {file("binary.json", std::string("\x7f"
                                       "ELF\0\0\xff\xfe",
                                       8)),
       "not JSON"},
      {source("configs"), "Is a directory"}};
  for (const auto& [path, reason] : wrong) {
    const outcome o = run({"trace", "summary", path});
    EXPECT_EQ(o.code, 4) << path << o.err;
    EXPECT_THAT(o.err, ::testing::AllOf(HasSubstr(reason), HasSubstr(path), HasSubstr("hint"))) << path;
    EXPECT_EQ(o.out, "");
  }
}

TEST_F(trace_command, files_that_cannot_be_written_are_refused_before_the_run) {
  for (const char* option : {"--trace", "--report"}) {
    const outcome o = run({"gemm", "--n", "200", option, "/nonexistent/folder/x"});
    EXPECT_EQ(o.code, 2) << option;
    EXPECT_THAT(o.err, HasSubstr("/nonexistent/folder/x"));
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(run({"gemm", "--n", "200", option, "-"}).code, 2);
  }
  EXPECT_EQ(run({"trace", "summary"}).code, 2);
  EXPECT_EQ(run({"trace"}).code, 2);
}

TEST_F(trace_command, a_run_that_fails_leaves_none) {
  const outcome o = run({"gemm", "--n", "200", "--config", file("missing.toml"), "--trace", file("run.json"),
                         "--report", file("run.html")});
  EXPECT_EQ(o.code, 3);
  EXPECT_FALSE(fs::exists(file("run.json")));
  EXPECT_FALSE(fs::exists(file("run.html")));
}

TEST_F(trace_command, the_environment_asks_as_options_do) {
  const std::vector<std::string> gemm{"gemm", "--n", "100", "--tile", "50", "--quiet"};
  const outcome made =
      run(gemm, {"TESSERA_REPORT=" + file("asked.html"), "TESSERA_TRACE=" + file("asked.json"), "TESSERA_STATS=1"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(contents(file("asked.html")), HasSubstr("tessera gemm, type f64"));  // the command's own title
  EXPECT_THAT(json_of(contents(file("asked.json"))).at("title").get<std::string>(),
              StartsWith("tessera gemm, type f64"));
  EXPECT_THAT(made.err, HasSubstr("statistics of tessera\n"));
  EXPECT_THAT(made.err, ::testing::Not(::testing::ContainsRegex("gemm +cpu[^ ]* +[0-9]+ +-")));  // tasks are timed
  EXPECT_EQ(made.out, "");

  // An option wins, and statistics are told once.
  std::vector<std::string> options = gemm;
  options.insert(options.end(), {"--report", file("option.html"), "--stats"});
  options.erase(std::find(options.begin(), options.end(), "--quiet"));
  const outcome both = run(options, {"TESSERA_REPORT=" + file("variable.html"), "TESSERA_STATS=1"});
  ASSERT_EQ(both.code, 0) << both.err;
  EXPECT_TRUE(fs::exists(file("option.html")));
  EXPECT_FALSE(fs::exists(file("variable.html")));
  EXPECT_THAT(both.out, HasSubstr("submitted"));
  EXPECT_THAT(both.err, ::testing::Not(HasSubstr("submitted")));

  // What cannot be written, and what something else is written to.
  EXPECT_EQ(run(gemm, {"TESSERA_REPORT=" + file("absent/run.html")}).code, 3);
  options = gemm;
  options.insert(options.end(), {"--json", file("one.json")});
  const outcome same = run(options, {"TESSERA_TRACE=" + file("one.json")});
  EXPECT_EQ(same.code, 2);
  EXPECT_THAT(same.err, HasSubstr("--json would write over a file that runtime.trace_file names"));

  // A model of what the machine can do has a runtime of its own, which leaves nothing.
  ASSERT_EQ(
      run({"stream", "--size", "10000", "--rounds", "2", "--quiet"}, {"TESSERA_TRACE=" + file("loops.json")}).code, 0);
  EXPECT_TRUE(fs::exists(file("loops.json")));
  EXPECT_FALSE(fs::exists(file("loops.2.json")));

  const outcome simulated = run({"simulate", source("configs/machines/node_8gpu.toml"), "--job", "gemm", "--n", "2000",
                                 "--tile", "500", "--quiet"},
                                {"TESSERA_REPORT=" + file("simulated.html")});
  ASSERT_EQ(simulated.code, 0) << simulated.err;
  EXPECT_THAT(contents(file("simulated.html")), HasSubstr("tessera simulate gemm"));
}

}  // namespace
