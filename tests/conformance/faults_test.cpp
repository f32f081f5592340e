// The suite finds what it looks for: plugins that break one promise each, and the check that must notice. Also the
// rules of known failures.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/base/error.hpp"
#include "tests/conformance/suite/conformance.hpp"
#include "tests/conformance/suite/known_failures.hpp"

namespace {

using namespace tessera;
using namespace tessera::conformance;

struct fault {
  const char* plugin;
  const char* check;  // that must fail
};

std::string built(const std::string& name) { return TESSERA_BINARY_DIR "/tests/plugins/tessera_" + name + ".so"; }

/// The result of one check on one plugin.
result outcome_of(const std::string& plugin, const std::string& check, const std::filesystem::path& known = {}) {
  const report done =
      run({.plugin = built(plugin),
           .options = {{"count", std::int64_t{2}, "test"}, {"device[0].memory", std::string("1 MiB"), "test"}},
           .only = check,
           .known_failures = known});
  for (const result& one : done.results)
    if (one.name == check) return one;
  return done.results.empty() ? result{check, outcome::skipped, "did not run", 0} : done.results.front();
}

class faults : public testing::TestWithParam<fault> {};

TEST_P(faults, are_found) {
  const result faulty = outcome_of(std::string("fault_") + GetParam().plugin, GetParam().check);
  EXPECT_EQ(faulty.name, GetParam().check) << faulty.message;
  EXPECT_EQ(faulty.how, outcome::failed) << faulty.message;
  EXPECT_FALSE(faulty.message.empty());
  const result sound = outcome_of("mini", GetParam().check);
  EXPECT_EQ(sound.how, outcome::passed) << sound.message;
}

INSTANTIATE_TEST_SUITE_P(
    mini, faults,
    testing::Values(fault{"silent", "failure.failures_are_explained"}, fault{"alignment", "memory.alignment_is_kept"},
                    fault{"null_memory", "memory.alignment_is_kept"}, fault{"writes_on_failure", "memory.absurd_sizes_are_exhaustion"},
                    fault{"alloc_of_nothing", "failure.alloc_of_nothing"},
                    fault{"exhaustion", "memory.exhaustion_answers_and_recovers"},
                    fault{"timeline", "ordering.timelines_increase"}, fault{"ranges", "failure.copy_out_of_range"},
                    fault{"strides", "copies.every_pair"}, fault{"axpy", "blas.axpy"},
                    fault{"claim", "honesty.inline_streams"}, fault{"room", "abi.descriptions_stay_inside"},
                    fault{"array", "abi.longer_option_values"}, fault{"short", "abi.short_structs_are_respected"},
                    fault{"unterminated", "abi.texts_end"}, fault{"uuids_change", "honesty.uuids_tell_devices_apart"},
                    fault{"uuids_twice", "honesty.uuids_tell_devices_apart"}, fault{"capacity", "memory.capacity_is_there"}),
    [](const auto& test) {
      std::string name = std::string(test.param.plugin) + "_" + test.param.check;
      for (char& c : name)
        if (c == '.') c = '_';
      return name;
    });

/// Promises about queued work: a layer breaks one of them around a device whose streams run by themselves.
class queued : public testing::TestWithParam<fault> {};

result outcome_behind(const std::string& careless_about, const std::string& check) {
  const report done = run({.plugin = TESSERA_BINARY_DIR "/lib/tessera/plugins/tessera_sim.so",
                           .only = check,
                           .layer = built("careless"),
                           .layer_options = {{"about", careless_about, "test"}}});
  return done.results.empty() ? result{check, outcome::skipped, "did not run", 0} : done.results.front();
}

TEST_P(queued, faults_are_found) {
  const result faulty = outcome_behind(GetParam().plugin, GetParam().check);
  EXPECT_EQ(faulty.name, GetParam().check) << faulty.message;
  EXPECT_EQ(faulty.how, outcome::failed) << faulty.message;
  const result sound = outcome_behind("", GetParam().check);
  EXPECT_EQ(sound.how, outcome::passed) << sound.message;
}

INSTANTIATE_TEST_SUITE_P(careless, queued,
                         testing::Values(fault{"patterns", "enqueueing.patterns_are_read_at_once"},
                                         fault{"scalars", "enqueueing.arguments_are_read_at_once"},
                                         fault{"waiting", "enqueueing.operations_do_not_wait"},
                                         fault{"allocation", "enqueueing.allocation_waits_for_no_work"},
                                         fault{"destroy", "enqueueing.destroyed_streams_finish_their_work"},
                                         fault{"batches", "enqueueing.refused_batches_enqueue_nothing"}),
                         [](const auto& test) { return std::string(test.param.plugin); });

TEST(drift, sizes_that_change_by_themselves_are_none) {
  const result drifting = outcome_of("drifting", "abi.longer_option_values");
  EXPECT_EQ(drifting.how, outcome::passed) << drifting.message;
}

/// A file of known failures with one line.
class known_file {
 public:
  explicit known_file(const std::string& line)
      : m_path(std::filesystem::temp_directory_path() / ("tessera_known_" + std::to_string(::getpid()))) {
    std::ofstream(m_path) << "# a comment\n\n" << line << "\n";
  }
  ~known_file() { std::filesystem::remove(m_path); }
  const std::filesystem::path& path() const { return m_path; }

 private:
  std::filesystem::path m_path;
};

TEST(known_failures, count_until_their_day_and_not_longer) {
  const std::string check = "honesty.inline_streams";
  {
    const known_file future(check + " 2999-12-31 the driver is being repaired");
    EXPECT_EQ(outcome_of("fault_claim", check, future.path()).how, outcome::known_failure);
  }
  {
    const known_file today_counts(check + " " + today() + " last day");
    EXPECT_EQ(outcome_of("fault_claim", check, today_counts.path()).how, outcome::known_failure);
  }
  const known_file past(check + " 2020-01-31 the driver is being repaired");
  const result expired = outcome_of("fault_claim", check, past.path());
  EXPECT_EQ(expired.how, outcome::failed);
  EXPECT_NE(expired.message.find("2020-01-31"), std::string::npos);
}

TEST(known_failures, that_pass_are_failures) {
  const known_file listed("honesty.inline_streams 2999-12-31 was broken once");
  const result passing = outcome_of("mini", "honesty.inline_streams", listed.path());
  EXPECT_EQ(passing.how, outcome::failed);
  EXPECT_NE(passing.message.find("take the line out"), std::string::npos);
}

TEST(known_failures, malformed_lines_are_refused) {
  for (const char* line :
       {"blas.gemm", "blas.gemm tomorrow it hurts", "blas.gemm 2999-12-31", "blas.gmme 2999-12-31 typo"}) {
    const known_file bad(line);
    EXPECT_THROW(read_known_failures(bad.path(), names()), error) << line;
    EXPECT_EQ(outcome_of("mini", "blas.gemm", bad.path()).name, "load") << line;
  }
  EXPECT_TRUE(read_known_failures("/no/such/file", names()).empty());
}

TEST(report, json_holds_every_result) {
  const report done = run({.plugin = built("fault_claim"), .seed = 7, .filter = "honesty."});
  const std::string json = to_json(done);
  EXPECT_EQ(done.seed, 7u);
  EXPECT_FALSE(done.passed());
  for (const result& one : done.results) EXPECT_NE(json.find(one.name), std::string::npos);
  EXPECT_NE(json.find("\"failed\": 1"), std::string::npos);
}

}  // namespace
