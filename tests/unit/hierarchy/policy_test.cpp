// The table of the policies, as the design has it, on trees drawn by hand.
#include "hierarchy/policy/policy.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "core/base/error.hpp"
#include "hierarchy/policy/split.hpp"
#include "tests/support/error_of.hpp"

namespace tessera::hierarchy {
namespace {

using location::kind;
using location::node_id;

location::properties made(kind what, std::string name) {
  location::properties is;
  is.kind = what;
  is.name = std::move(name);
  return is;
}

/// LocA { LocB { c0, c1, c2 }, LocG { g0 }, disk, empty }
struct policies : testing::Test {
  location::tree t{made(kind::memory, "LocA")};
  node_id b = t.add(0, made(kind::virtual_group, "LocB")), g = t.add(0, made(kind::virtual_group, "LocG"));
  node_id c0 = t.add(b, made(kind::worker, "c0")), c1 = t.add(b, made(kind::worker, "c1"));
  node_id c2 = t.add(b, made(kind::worker, "c2"));
  node_id g0 = t.add(g, [] {
    auto is = made(kind::worker, "g0");
    is.space = location::space_key{1, 0};
    return is;
  }());
  node_id disk = t.add(0, made(kind::storage, "disk")), empty = t.add(0, made(kind::virtual_group, "empty"));

  std::vector<chunk> by(const char* text, std::uint64_t n, split_context context = {}) {
    return split(policy::parse(text), n, t, 0, context);
  }
};

using test_support::message_of;

using list = std::vector<chunk>;

TEST_F(policies, static_halves_at_each_level) {
  EXPECT_EQ(by("static", 100), (list{{c0, 0, 16}, {c1, 16, 33}, {c2, 33, 50}, {g0, 50, 100}}));
  EXPECT_EQ(by("static", 3), (list{{c2, 0, 1}, {g0, 1, 3}}));  // floor(3/2) = 1 on the left; floor(k/3) puts it last
  EXPECT_EQ(by("static", 0), list{});
  EXPECT_EQ(split(policy{}, 10, t, b), (list{{c0, 0, 3}, {c1, 3, 6}, {c2, 6, 10}}));
  EXPECT_EQ(split(policy{}, 10, t, c1), (list{{c1, 0, 10}}));
}

TEST_F(policies, flatten_knows_only_leaves) {
  EXPECT_EQ(by("flatten", 100), (list{{c0, 0, 25}, {c1, 25, 50}, {c2, 50, 75}, {g0, 75, 100}}));
  EXPECT_EQ(by("flatten", 6), (list{{c0, 0, 1}, {c1, 1, 3}, {c2, 3, 4}, {g0, 4, 6}}));
}

TEST_F(policies, percentages_round_their_boundaries) {
  EXPECT_EQ(by("percentage:[50,25,12.5,12.5]", 100), (list{{c0, 0, 50}, {c1, 50, 75}, {c2, 75, 88}, {g0, 88, 100}}));
  EXPECT_EQ(by("percentage:[33.33,33.33,33.34]", 10), (list{{c0, 0, 3}, {c1, 3, 7}, {c2, 7, 10}}));  // g0 idles
  EXPECT_EQ(by("percentage:[20,20,20,20,10,10]", 10),
            (list{{c0, 0, 2}, {c1, 2, 4}, {c2, 4, 6}, {g0, 6, 8}, {c0, 8, 9}, {c1, 9, 10}}));
  EXPECT_EQ(by("percentage:[0,100]", 7), (list{{c1, 0, 7}}));
  EXPECT_EQ(by("percentage:[99.995]", 1000), (list{{c0, 0, 1000}}));              // the last boundary is N
  EXPECT_EQ(by("percentage:[99.995,0]", 1'000'000), (list{{c0, 0, 1'000'000}}));  // nor has one of 0 the rest
  EXPECT_EQ(by("percentage:[49.995,50,0,0]", 1'000'000), (list{{c0, 0, 499'950}, {c1, 499'950, 1'000'000}}));
}

TEST_F(policies, ranges_must_sum_to_the_loop) {
  EXPECT_EQ(by("range:[1,2,3,4]", 10), (list{{c0, 0, 1}, {c1, 1, 3}, {c2, 3, 6}, {g0, 6, 10}}));
  EXPECT_EQ(by("range:[0,10]", 10), (list{{c1, 0, 10}}));
  EXPECT_EQ(by("range:[4,1,1,1,3]", 10), (list{{c0, 0, 4}, {c1, 4, 5}, {c2, 5, 6}, {g0, 6, 7}, {c0, 7, 10}}));
  const auto text = message_of([&] { by("range:[1,2]", 10, {"axpy at solver.cpp:40"}); });
  EXPECT_NE(text.find("sum to 3, but the loop has 10"), std::string::npos) << text;
  EXPECT_NE(text.find("region axpy at solver.cpp:40"), std::string::npos) << text;
  EXPECT_NE(text.find("percentage gives loops of all lengths the same shares"), std::string::npos) << text;
  message_of([&] { by("range:[18446744073709551615,11]", 10); });
}

TEST_F(policies, any_takes_the_first_idle_or_the_first_to_finish) {
  EXPECT_EQ(by("any", 9), (list{{c0, 0, 9}}));
  std::vector<leaf_state> states(4);
  states[0].idle = states[1].idle = false;
  EXPECT_EQ(by("any", 9, {"r", states}), (list{{c2, 0, 9}}));
  for (std::size_t i = 0; i < 4; ++i) states[i] = {false, i == 1 ? 0.5 : 2.0, {}};
  EXPECT_EQ(by("any", 9, {"r", states}), (list{{c1, 0, 9}}));
  states.pop_back();
  EXPECT_NE(message_of([&] { by("any", 9, {"r", states}); }).find("3 leaf states for 4 leaves"), std::string::npos);
}

TEST_F(policies, automatic_follows_what_leaves_take) {
  EXPECT_EQ(by("auto", 100), by("flatten", 100));
  const std::vector<leaf_state> states{{true, 0, {0, 6}}, {true, 0, {0, 6}}, {true, 0, {0, 3}}, {true, 0, {0, 1}}};
  EXPECT_EQ(by("auto", 100, {"r", states}), (list{{c0, 0, 10}, {c1, 10, 20}, {c2, 20, 40}, {g0, 40, 100}}));
  const std::vector<leaf_state> one{{true, 0, {0, 6}}, {}, {}, {}};
  EXPECT_EQ(by("auto", 100, {"r", one}), by("flatten", 100));  // the unmeasured count as the mean
}

TEST_F(policies, a_team_of_cores_is_one_leaf_when_asked) {
  EXPECT_EQ(executing_leaves(t, 0, leaf_rule::cores), (std::vector{c0, c1, c2, g0}));
  EXPECT_EQ(executing_leaves(t, 0, leaf_rule::teams), (std::vector{b, g0}));
  EXPECT_EQ(by("percentage:[40,60]", 10, {"r", {}, leaf_rule::teams}), (list{{b, 0, 4}, {g0, 4, 10}}));
}

TEST_F(policies, nothing_that_executes_is_an_error_with_the_region) {
  const auto text = message_of([&] { split(policy{}, 5, t, disk, {"scan"}); });
  EXPECT_NE(text.find("'disk'"), std::string::npos);
  EXPECT_NE(text.find("region scan"), std::string::npos);
  message_of([&] { split(policy{}, 5, t, empty); });
  message_of([&] { by("runtime", 5); });
  message_of([&] { split(policy{policy_kind::percentage, {50, 20}, {}}, 5, t, 0); });
  message_of([&] { split(policy{policy_kind::percentage, {150, -50}, {}}, 5, t, 0); });
  message_of([&] { split(policy{policy_kind::percentage, {}, {}}, 5, t, 0); });
}

TEST(policy_text, reads_what_it_writes) {
  for (const char* text : {"static", "flatten", "any", "auto", "runtime", "percentage:[50,25,25]", "range:[1000,24]",
                           "percentage:[33.33,33.33,33.34]"})
    EXPECT_EQ(to_text(policy::parse(text)), text);
  EXPECT_EQ(policy::parse(" percentage : [ 50 , 50 ] "), policy::parse("percentage:50,50"));
  EXPECT_EQ(policy::parse("range[3,4]"), policy::parse("range:[3,4]"));
}

TEST(policy_text, refuses_with_reasons) {
  EXPECT_NE(message_of([] { policy::parse("flaten"); }).find("did you mean 'flatten'"), std::string::npos);
  EXPECT_NE(message_of([] { policy::parse("percentage:[50,25]", "run.toml:3:1"); }).find("run.toml:3:1"),
            std::string::npos);
  for (const char* text :
       {"", "percentage", "percentage:", "percentage:[]", "range:[]", "static:[1]", "range:[1,-2]", "range:[1.5]",
        "percentage:[50,50", "percentage:50,50]", "percentage:[nan]", "range:[1,,2]", "percentage:[100.02]",
        "percentage:[-1,101]", "range:[99999999999999999999]", "range:[1,2,]"})
    message_of([&] { policy::parse(text); });
  EXPECT_NE(message_of([] { policy::parse("percentage:50,50,"); }).find("entry 3 is empty"), std::string::npos);
  EXPECT_NE(message_of([] { policy::parse("range:1,,2"); }).find("entry 2 is empty"), std::string::npos);
  EXPECT_NE(message_of([] { policy::parse("range:50.5,49.5"); }).find("'50.5' is not a whole number"),
            std::string::npos);
  const auto column_of = [&](const char* text) {
    const std::string found = message_of([&] { policy::parse(text, "--policy"); });
    const std::string before = "--policy, column ", behind = " of policy '";
    const std::size_t begin = found.find(before), end = found.find(behind);
    return end != std::string::npos ? found.substr(begin + before.size(), end - begin - before.size()) : found;
  };
  EXPECT_EQ(column_of(" flaten"), "2");
  EXPECT_EQ(column_of(""), "1");
  EXPECT_EQ(column_of("static:1"), "7");
  EXPECT_EQ(column_of("percentage"), "11");
  EXPECT_EQ(column_of("percentage: [50,50"), "13");
  EXPECT_EQ(column_of("percentage:60,x,40"), "15");
  EXPECT_EQ(column_of("percentage:60, ,40"), "16");
  EXPECT_EQ(column_of("percentage:60,30"), "12");
  EXPECT_EQ(column_of("range:[ ]"), "9");
  policy::parse("percentage:[99.99]");
  policy::parse("percentage:[100.01]");
}

TEST(policy_text, runtime_is_resolved_by_the_configuration) {
  EXPECT_EQ(resolve(policy::parse("runtime"), "percentage:[10,90]"), policy::parse("percentage:[10,90]"));
  EXPECT_EQ(resolve(policy::parse("any"), "nonsense"), policy::parse("any"));
  message_of([] { resolve(policy::parse("runtime"), "runtime"); });
  message_of([] { resolve(policy::parse("runtime"), "nonsense", "environment GECKO_POLICY"); });
}

}  // namespace
}  // namespace tessera::hierarchy
