// Operations and placement policies that plugins bring, through the whole runtime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machines.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using test_support::error_of;
using ::testing::HasSubstr;

std::string built(const std::string& name) { return std::string(TESSERA_TEST_PLUGINS) + "/tessera_" + name + ".so"; }

/// Host, one simulated device, and a plugin of the tests; `placement` as in TOML.
machine with_plugin(const std::string& name, const std::string& placement) {
  return testing::machine_of("plugins = [\"host\", \"sim\", \"" + built(name) + "\"]\nplacement = \"" + placement +
                             "\"\nhistory = \"off\"\n");
}

std::uint64_t tasks_at(const runtime& rt, const std::string& operation, const std::string& place) {
  std::uint64_t sum = 0;
  for (const auto& row : rt.statistics().operations)
    if (row.operation == operation && row.place.starts_with(place)) sum += row.tasks;
  return sum;
}

TEST(operations_plugin, its_operations_are_in_the_catalogue_and_run) {
  runtime rt(with_plugin("operations", "locality"));
  const operation::definition* scale = rt.operations().find("test.scale");
  ASSERT_NE(scale, nullptr);
  auto a = rt.make_array<double>("a", {3, 4}, {3, 4});
  fill(rt, a(0, 0), 2.0);
  const double factor = 1.5;
  rt.submit_operation(*scale, &factor, sizeof factor, std::array<block::access, 1>{update(a(0, 0))});
  {
    const auto seen = a.read_host(a(0, 0));
    for (int i = 0; i < 12; ++i) EXPECT_EQ(seen.data()[i], 3.0) << i;
  }
  EXPECT_EQ(tasks_at(rt, "test.scale", "cpu:"), 1u) << "it has a host implementation only";
}

TEST(operations_plugin, a_refusal_carries_the_plugins_words) {
  runtime rt(with_plugin("operations", "locality"));
  auto a = rt.make_array<float>("a", {3}, {3});
  fill(rt, a(0), 2.0F);
  const double factor = 1.5;
  rt.submit_operation(*rt.operations().find("test.scale"), &factor, sizeof factor,
                      std::array<block::access, 1>{update(a(0))});
  const error e = error_of([&] { rt.fence(); });
  EXPECT_EQ(e.kind(), error_kind::task);
  EXPECT_THAT(
      e.what(),
      HasSubstr("plugin \"operations\" answers INVALID_ARGUMENT: scale takes one block of float64 and one double"));
  EXPECT_THAT(e.where(), HasSubstr("plugin_kinds_test.cpp"));
}

TEST(operations_plugin, its_signature_is_enforced) {
  runtime rt(with_plugin("operations", "locality"));
  auto a = rt.make_array<double>("a", {3}, {3});
  const auto read_it = std::array<block::access, 1>{read(a(0))};
  EXPECT_EQ(error_of([&] { rt.submit_operation(*rt.operations().find("test.scale"), nullptr, 0, read_it); }).kind(),
            error_kind::usage);
}

TEST(policy_plugin, decides_where_tasks_run) {
  for (const std::string policy : {"policy", "policy_last"}) {  // the least transfer time; the last place
    runtime rt(with_plugin(policy, "plugin:" + policy));
    auto a = rt.make_array<double>("a", {64, 64}, {16, 16});
    for (std::size_t k = 0; k < a.size(); ++k) {
      rt.submit(
          "on the host",
          [](view<double> x) {
            for (double& v : x) v = 1.0;
          },
          write(a.block(k)));
      scal(rt, 2.0, a.block(k));
    }
    rt.fence();
    EXPECT_EQ(tasks_at(rt, "on the host", "cpu:"), 16u) << "a policy chooses among the places that can run the task";
    EXPECT_EQ(tasks_at(rt, "scal", "sim0"), policy == "policy" ? 0u : 16u) << policy;
    for (std::size_t k = 0; k < a.size(); ++k) EXPECT_EQ(a.read_host(a.block(k)).data()[5], 2.0);
  }
}

TEST(policy_plugin, sees_only_the_places_that_a_hint_allows) {
  runtime rt(with_plugin("policy_last", "plugin:policy_last"));
  auto a = rt.make_array<double>("a", {16}, {16});
  const location::node_id host = rt.at("numa0");
  const operation::fill_arguments three{std::complex<double>(3)};
  rt.submit_operation(*rt.builtin().fill, &three, sizeof three, std::array<block::access, 1>{write(a(0))},
                      {.priority = 0, .at = host});
  rt.fence();
  EXPECT_EQ(tasks_at(rt, "fill", "cpu:"), 1u);
  EXPECT_EQ(tasks_at(rt, "fill", "sim0"), 0u);
}

TEST(policy_plugin, a_choice_that_was_not_offered_fails_the_task) {
  runtime rt(with_plugin("policy_wrong", "plugin:policy_wrong"));
  auto a = rt.make_array<double>("a", {16}, {16});
  fill(rt, a(0), 1.0);
  const error e = error_of([&] { rt.fence(); });
  EXPECT_EQ(e.kind(), error_kind::plugin);
  EXPECT_THAT(e.what(), HasSubstr("policy plugin \"policy_wrong\" chose candidate 2 of 2 for 'fill'"));
}

TEST(policy_plugin, must_be_open) {
  const error e = error_of([] { runtime rt(with_plugin("policy", "plugin:polcy")); });
  EXPECT_EQ(e.kind(), error_kind::configuration);
  EXPECT_EQ(e.where(), "runtime.placement");
  EXPECT_THAT(e.hint(), HasSubstr("did you mean 'policy'?"));
  EXPECT_THAT(error_of([] { runtime rt(testing::machine_of("placement = \"plugin:mine\"\n")); }).hint(),
              HasSubstr("add \"mine\" to runtime.plugins"));
}

}  // namespace
}  // namespace tessera
