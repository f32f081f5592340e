// Plugins that break one promise each are found, by the check that is about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/conformance/faults/planted.hpp"
#include "tests/conformance/faults/requests.hpp"
#include "tests/support/slow_down.hpp"

namespace tessera::conformance {
namespace {

/// Whether what is planted is a race between threads, which the thread sanitizer would report before the suite does.
bool is_hidden_by_sanitizer([[maybe_unused]] const fault& one) {
#if defined(__SANITIZE_THREAD__)
  for (const char* racing : {"operations_shared", "policy_shared", "waits", "restless"})
    if (one.planted == std::string_view(racing)) return true;
#endif
  return false;
}

void expect_found(const fault& one, const request& faulty_one, const request& sound_one) {
  const result faulty = outcome_of(faulty_one, one.check), sound = outcome_of(sound_one, one.check);
  EXPECT_EQ(faulty.name, one.check) << faulty.message;
  EXPECT_EQ(faulty.how, outcome::failed) << faulty.message;
  EXPECT_FALSE(faulty.message.empty());
  EXPECT_EQ(sound.how, outcome::passed) << sound.message;
}

/// The checks that fail, of all but those groups that compute with random shapes for long and know nothing of what is
/// wrong.
[[maybe_unused]] std::vector<std::string> failing(request asked) {
  std::vector<std::string> found;
  std::string group;
  for (const std::string& name : names(asked)) {
    const std::string its_group = name.substr(0, name.find('.') + 1);
    if (its_group == group || its_group == "tensor." || its_group == "sparse." || its_group == "jit." ||
        its_group == "ipc.")
      continue;
    asked.filter = group = its_group;
    for (const result& one : run(asked).results)
      if (one.how == outcome::failed) found.push_back(one.name);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::string name_of_test(const ::testing::TestParamInfo<fault>& test) {
  std::string name = std::string(test.param.planted) + "_" + test.param.check;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

/// Expects that of all checks this one alone fails. Under a sanitizer it is asked alone: what else fails is the same.
void expect_failing_alone(const request& asked, const std::string& check) {
  if constexpr (tessera::testing::is_slow) {
    EXPECT_EQ(outcome_of(asked, check).how, outcome::failed) << check;
  } else {
    EXPECT_THAT(failing(asked), ::testing::ElementsAre(check));
  }
}

class faults : public ::testing::TestWithParam<fault> {};
TEST_P(faults, are_found) { expect_found(GetParam(), asked_of(GetParam().planted), asked_of("mini")); }
INSTANTIATE_TEST_SUITE_P(mini, faults, ::testing::ValuesIn(of_devices), name_of_test);

/// Promises about queued work: a layer breaks one of them around a device whose streams run by themselves.
class queued : public ::testing::TestWithParam<fault> {};
TEST_P(queued, faults_are_found) {
  if (is_hidden_by_sanitizer(GetParam())) GTEST_SKIP() << "a race is planted";
  expect_found(GetParam(), asked_behind(GetParam().planted, 2), asked_behind("", 2));
}
INSTANTIATE_TEST_SUITE_P(careless, queued, ::testing::ValuesIn(of_streams), name_of_test);

/// Whether the check that must find it has nothing to look at here.
bool cannot_be_seen(const fault& one) {
  if (std::string_view(one.planted) == "unbound") return std::thread::hardware_concurrency() < 2;
#if defined(__SANITIZE_ADDRESS__)
  return std::string_view(one.planted) == "hoarding";
#else
  return false;
#endif
}

/// What is waited for in vain is waited for 2 seconds.
class called : public ::testing::TestWithParam<fault> {};
TEST_P(called, faults_are_found) {
  if (cannot_be_seen(GetParam())) GTEST_SKIP() << "on one CPU no thread is outside; a sanitizer keeps what is freed";
  request faulty = asked_behind(GetParam().planted, 2);
  faulty.patience = std::chrono::seconds(2);
  expect_found(GetParam(), faulty, asked_behind("", 2));
}
INSTANTIATE_TEST_SUITE_P(careless, called, ::testing::ValuesIn(of_calls), name_of_test);

class kinds : public ::testing::TestWithParam<fault> {};
TEST_P(kinds, faults_are_found_by_one_check_alone) {
  if (is_hidden_by_sanitizer(GetParam())) GTEST_SKIP() << "a race is planted";
  const std::string planted = GetParam().planted, family = planted.substr(0, planted.find('_'));
  expect_found(GetParam(), asked_of(planted), asked_of(family == "table" ? "operations" : family));
  expect_failing_alone(asked_of(planted), GetParam().check);
}
INSTANTIATE_TEST_SUITE_P(tables, kinds, ::testing::ValuesIn(of_kinds), name_of_test);

/// What only a whole job, a row of failures or a lost device shows.
class rare : public ::testing::TestWithParam<fault> {};
TEST_P(rare, faults_are_found_by_one_check_alone) {
  if (is_hidden_by_sanitizer(GetParam())) GTEST_SKIP() << "a race is planted";
  const int devices = std::string(GetParam().planted) == "contagious" ? 2 : 1;
  expect_failing_alone(asked_behind(GetParam().planted, devices), GetParam().check);
}
std::vector<fault> rare_faults() {
  std::vector<fault> some;
  for (const fault& one : of_streams)
    if (!std::string_view(one.check).starts_with("enqueueing.")) some.push_back(one);
  return some;
}
INSTANTIATE_TEST_SUITE_P(careless, rare, ::testing::ValuesIn(rare_faults()), name_of_test);

/// Limits: a layer states others than the device keeps.
class stated : public ::testing::TestWithParam<fault> {};

result outcome_of_limits(const std::string& untrue_about, const std::string& check) {
  const report done = run({.plugin = TESSERA_BINARY_DIR "/lib/tessera/plugins/tessera_sim.so",
                           .options = {{"device[0].max_allocation", std::string("2 MiB"), "test"},
                                       {"device[0].max_copy", std::string("1 MiB"), "test"},
                                       {"device[0].max_streams", std::int64_t{5}, "test"}},
                           .only = check,
                           .layer = built("boastful"),
                           .layer_options = {{"about", untrue_about, "test"}}});
  return done.results.empty() ? result{check, outcome::skipped, "did not run", 0} : done.results.front();
}

TEST_P(stated, limits_are_tried) {
  const result untrue = outcome_of_limits(GetParam().planted, GetParam().check);
  EXPECT_EQ(untrue.name, GetParam().check) << untrue.message;
  EXPECT_EQ(untrue.how, outcome::failed) << untrue.message;
  const result sound = outcome_of_limits("", GetParam().check);
  EXPECT_EQ(sound.how, outcome::passed) << sound.message;
}

INSTANTIATE_TEST_SUITE_P(boastful, stated, ::testing::ValuesIn(of_limits),
                         [](const auto& test) { return std::string(test.param.planted); });

}  // namespace
}  // namespace tessera::conformance
