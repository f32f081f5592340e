// Which checks run, and what a run reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/conformance/faults/requests.hpp"

namespace tessera::conformance {
namespace {

/// Checks that use memory as only a plugin stands that passes what they rely on do not run when it fails, and the run
/// does not crash; whatever was asked for.
TEST(foundations, that_fail_end_the_run) {
  for (const auto& [planted, check] :
       {std::pair{"signals", "ordering.signals_wait_for_work"}, std::pair{"repeats", "ordering.timelines_increase"},
        std::pair{"structs", "enqueueing.copies_are_read_at_once"}}) {
    const report all = run(asked_behind(planted));
    EXPECT_EQ(all.count(outcome::failed), 1u) << planted;
    EXPECT_GT(all.count(outcome::not_run), 60u) << planted;
    EXPECT_FALSE(all.passed());
    for (const result& one : all.results) {
      EXPECT_EQ(one.how == outcome::failed, one.name == check) << one.name << ": " << one.message;
      if (one.how == outcome::not_run) {
        EXPECT_EQ(one.message, std::string("it relies on ") + check + ", which fails");
      }
    }
    EXPECT_THAT(to_json(all), ::testing::HasSubstr("\"not_run\": " + std::to_string(all.count(outcome::not_run))));
    request some = asked_behind(planted);
    some.filter = "copies.";
    const report of_copies = run(some);
    ASSERT_EQ(of_copies.results.size(), 5u) << planted;
    EXPECT_EQ(of_copies.results.front().name, check);
    EXPECT_EQ(of_copies.results.front().how, outcome::failed);
    EXPECT_EQ(of_copies.count(outcome::not_run), 4u);
  }
  EXPECT_EQ(outcome_of("mini", "copies.fills").how, outcome::skipped) << "those that pass are not told";
  request one = asked_of("mini");
  one.only = "copies.every_pair";
  EXPECT_EQ(run(one).results.size(), 1u);
}

TEST(layers, are_checked_around_a_device) {
  const request asked{
      .plugin = built("careless"), .options = {{"about", std::string("patterns"), "test"}}, .inner = sim};
  EXPECT_EQ(outcome_of(asked, "enqueueing.patterns_are_read_at_once").how, outcome::failed);
  EXPECT_EQ(outcome_of(asked, "copies.every_pair").how, outcome::passed);
  EXPECT_EQ(outcome_of(asked, "layer.keeps_the_header").how, outcome::passed);
}

TEST(layers, alone_have_an_inner_plugin) {
  request asked = asked_of("mini");
  asked.inner = sim;
  const result done = outcome_of(asked, "copies.every_pair");
  EXPECT_EQ(done.name, "load");
  EXPECT_THAT(done.message, ::testing::HasSubstr("no layer"));
  asked = asked_of("layer");
  asked.inner = built("policy");  // which it cannot wrap
  const result refused = outcome_of(asked, "policy.is_a_pure_function");
  EXPECT_EQ(refused.name, "load");
  EXPECT_THAT(refused.message, ::testing::HasSubstr("this layer wraps devices alone"));
}

TEST(groups, follow_the_kind_of_the_plugin) {
  const auto of = [](const char* plugin) { return names(asked_of(plugin)); };
  EXPECT_THAT(of("policy"),
              ::testing::AllOf(::testing::Contains("policy.extreme_values"), ::testing::Contains("plugin.opens_again"),
                               ::testing::Not(::testing::Contains("copies.every_pair")),
                               ::testing::Not(::testing::Contains("operations.names"))));
  EXPECT_THAT(of("mini"), ::testing::AllOf(::testing::Contains("copies.every_pair"),
                                           ::testing::Not(::testing::Contains("storage.computes_nothing")),
                                           ::testing::Not(::testing::Contains("layer.keeps_the_header"))));
  EXPECT_THAT(of("layer"), ::testing::AllOf(::testing::Contains("layer.keeps_the_header"),
                                            ::testing::Contains("copies.every_pair")));
  const result foreign = outcome_of("policy", "copies.every_pair");
  EXPECT_EQ(foreign.how, outcome::skipped);
  EXPECT_THAT(foreign.message, ::testing::HasSubstr("policy"));
}

TEST(vacuous, checks_that_find_nothing_to_look_at_are_skipped) {
  const result done = outcome_of(request{.plugin = sim}, "memory.alignment_is_kept");  // its memory has no addresses
  EXPECT_EQ(done.how, outcome::skipped);
  EXPECT_THAT(done.message, ::testing::HasSubstr("no space is addressable"));
  EXPECT_EQ(outcome_of("mini", "memory.alignment_is_kept").how, outcome::passed);
  // A check of two extensions of which one is there.
  request without_graphs{
      .plugin = sim, .layer = built("without"), .layer_options = {{"leave_out", std::string("GRAPH"), "test"}}};
  EXPECT_EQ(outcome_of(without_graphs, "sparse.recorded").how, outcome::skipped);
  without_graphs.layer_options.clear();
  EXPECT_EQ(outcome_of(without_graphs, "sparse.recorded").how, outcome::passed);
}

TEST(arguments, are_the_usual_ones_or_those_that_are_named) {
  const std::string check = "operations.blocks_of_every_size";
  request asked = asked_of("operations_five_more");
  const result unnamed = outcome_of(asked, check);
  EXPECT_EQ(unnamed.how, outcome::skipped);
  EXPECT_THAT(unnamed.message, ::testing::HasSubstr("--arguments"));
  asked.arguments = {{"test.scale", std::vector<unsigned char>(13)}};
  EXPECT_EQ(outcome_of(asked, check).how, outcome::passed);
  asked.arguments = {{"test.scales", {}}};
  EXPECT_THAT(outcome_of(asked, check).message, ::testing::HasSubstr("no such operation"));
}

TEST(losses, are_had_by_named_options_or_not_at_all) {
  const auto with = [](const char* every) {
    return request{.plugin = built("mini"),
                   .layer = TESSERA_PLUGIN_DIR "/tessera_fault.so",
                   .lose_with = {{"inject[0].kind", std::string("lost"), "test"},
                                 {"inject[0].every", std::string(every), "test"}}};
  };
  const result unnamed = outcome_of("mini", "loss.is_sticky");
  EXPECT_EQ(unnamed.how, outcome::skipped);
  EXPECT_THAT(unnamed.message, ::testing::HasSubstr("--lose-with"));
  const result named = outcome_of(with("50"), "loss.is_sticky");
  EXPECT_EQ(named.how, outcome::passed) << named.message;
  const result never = outcome_of(with("1000000"), "loss.is_sticky");
  EXPECT_EQ(never.how, outcome::failed);
  EXPECT_THAT(never.message, ::testing::HasSubstr("lose no device"));
}

/// What cannot be opened is told once.
TEST(unopened, plugins_fail_once) {
  for (const auto& [plugin, reason] :
       {std::pair{"open_fails", "the driver refused"}, std::pair{"device_open_fails", "the cable is not plugged in"}}) {
    const report done = run({.plugin = built(plugin)});
    EXPECT_EQ(done.count(outcome::failed), 1u) << plugin;
    EXPECT_GT(done.count(outcome::not_run), 50u) << plugin;
    EXPECT_FALSE(done.passed());
    std::size_t told = 0;
    for (const result& one : done.results) {
      told += one.message.find(reason) != std::string::npos ? 1 : 0;
      EXPECT_EQ(one.how == outcome::failed, one.name == "open") << one.name;
    }
    EXPECT_EQ(told, 1u) << plugin;
    EXPECT_THAT(to_json(done), ::testing::HasSubstr("\"outcome\": \"not run\""));
  }
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
}  // namespace tessera::conformance
