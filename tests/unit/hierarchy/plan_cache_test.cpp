// What regions have been planned before: found again for the same tree, forgotten with it, and bounded.
#include "hierarchy/region/plan_cache.hpp"

#include <gtest/gtest.h>

namespace tessera::hierarchy {
namespace {

std::shared_ptr<const location::tree> some_tree() {
  location::properties root;
  root.name = "machine";
  return std::make_shared<const location::tree>(root);
}

std::shared_ptr<const policy> some_policy() { return std::make_shared<const policy>(policy::parse("static")); }

TEST(plan_cache, reads_a_policy_once) {
  plan_cache cache;
  int made = 0;
  const auto make = [&] {
    ++made;
    return some_policy();
  };
  const auto first = cache.policy_of("static", make);
  EXPECT_EQ(cache.policy_of("static", make), first);
  EXPECT_EQ(made, 1);
  EXPECT_NE(cache.policy_of("flatten", make), first);
  EXPECT_EQ(made, 2);
}

TEST(plan_cache, keeps_nothing_of_a_text_that_was_refused) {
  plan_cache cache;
  EXPECT_THROW(
      (void)cache.policy_of("statik", []() -> std::shared_ptr<const policy> { throw std::runtime_error("no"); }),
      std::runtime_error);
  EXPECT_NE(cache.policy_of("statik", some_policy), nullptr);
}

TEST(plan_cache, plans_and_leaves_are_those_of_one_tree_and_policies_of_all) {
  plan_cache cache;
  const auto tree = some_tree(), other = some_tree();
  const auto rule = cache.policy_of("static", some_policy);
  const std::vector<location::node_id> none;
  const executors who{.devices = false, .without = none};
  const plan_cache::plan_key key{rule, 100, 0, false, nullptr};
  int plans = 0, leaves = 0;
  const auto ask = [&] {
    (void)cache.plan_of(key, [&] { return ++plans, std::make_shared<const plan>(); });
    (void)cache.leaves_of(0, who, [&] { return ++leaves, std::vector<location::node_id>{1}; });
  };
  cache.use(tree);
  ask(), ask();
  EXPECT_EQ(plans, 1);
  EXPECT_EQ(leaves, 1);
  cache.use(tree);
  ask();
  EXPECT_EQ(plans, 1);
  cache.use(other);
  ask();
  EXPECT_EQ(plans, 2);
  EXPECT_EQ(leaves, 2);
  EXPECT_EQ(cache.policy_of("static", [] { return std::shared_ptr<const policy>(); }), rule);
}

TEST(plan_cache, tells_plans_apart_by_all_that_they_depend_on) {
  plan_cache cache;
  cache.use(some_tree());
  const auto rule = some_policy(), equal_rule = some_policy();
  const location::node_id without = 3;
  const plan_cache::plan_key keys[] = {{rule, 100, 0, false, nullptr},       {rule, 101, 0, false, nullptr},
                                       {rule, 100, 1, false, nullptr},       {rule, 100, 0, true, nullptr},
                                       {equal_rule, 100, 0, false, nullptr}, {rule, 100, 0, true, &without}};
  int made = 0;
  for (int round = 0; round < 2; ++round)
    for (const auto& key : keys) (void)cache.plan_of(key, [&] { return ++made, std::make_shared<const plan>(); });
  EXPECT_EQ(made, 6);
}

TEST(plan_cache, is_bounded) {
  plan_cache cache;
  cache.use(some_tree());
  const auto rule = some_policy();
  int made = 0;
  const auto ask = [&](std::uint64_t iterations) {
    return cache.plan_of({rule, iterations, 0, false, nullptr}, [&] { return ++made, std::make_shared<const plan>(); });
  };
  const auto first = ask(0);
  for (std::uint64_t k = 1; k <= plan_cache::max_plans; ++k) (void)ask(k);
  const int so_far = made;
  EXPECT_NE(ask(0), first) << "it was forgotten when the cache was full";
  EXPECT_EQ(made, so_far + 1);
}

}  // namespace
}  // namespace tessera::hierarchy
