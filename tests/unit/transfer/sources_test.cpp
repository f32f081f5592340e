// From where a block is copied: the cheapest usable replica, and the reason when there is none.
#include "core/transfer/sources.hpp"

#include <gtest/gtest.h>

#include "tests/unit/transfer/rig.hpp"

namespace tessera::transfer {
namespace {

/// The rules over the memories of a rig, whose own are inside its coherence.
struct choice {
  explicit choice(rig& r, std::uint32_t retries = 3)
      : all(r.spaces, std::vector<memory::space_number>(r.spaces.size(), memory::no_space), r.streams),
        rules(all, lost),
        failures(retries),
        from(all, rules, failures) {}
  memories all;
  lost_blocks lost;
  replicas rules;
  copy_failures failures;
  sources from;
};

TEST(sources, the_cheapest_replica_is_taken) {
  rig r({"alpha", "alpha"}, 16, true);  // linked
  block::record& b = r.make();
  r.put(b, 1, 7);
  choice c(r);
  const block::replica* only = c.from.cheapest(b, 2);
  ASSERT_NE(only, nullptr);
  EXPECT_EQ(only->space, 1);
  r.get(b, 0);
  const route &peer = c.all.links().between(1, 2), &host = c.all.links().between(0, 2);
  const block::replica* const best = c.from.cheapest(b, 2);
  ASSERT_NE(best, nullptr);
  EXPECT_EQ(best->space, peer.seconds(block_bytes) <= host.seconds(block_bytes) ? 1 : 0);
  r.end();
}

TEST(sources, a_stale_replica_is_none) {
  rig r({"alpha"});
  block::record& b = r.make();
  r.put(b, 1, 7);
  r.get(b, 0);
  r.put(b, 0, 8);
  choice c(r);
  EXPECT_EQ(c.from.cheapest(b, 1)->space, 0) << "the device's own is stale";
  r.end();
}

TEST(sources, what_has_failed_comes_last_and_then_not_at_all) {
  rig r({"alpha", "alpha"}, 16, true);
  block::record& b = r.make();
  r.put(b, 1, 7);
  r.get(b, 0);
  choice c(r, 1);
  const memory::space_number first = c.from.cheapest(b, 2)->space;
  c.failures.note({.block = &b, .from = first, .to = 2, .version = b.committed, .status = TSR_INTERNAL, .text = "one"});
  const memory::space_number second = c.from.cheapest(b, 2)->space;
  EXPECT_NE(second, first);
  for (const memory::space_number from : {first, second, second})
    c.failures.note(
        {.block = &b, .from = from, .to = 2, .version = b.committed, .status = TSR_INTERNAL, .text = "again"});
  EXPECT_EQ(c.from.cheapest(b, 2), nullptr);
  EXPECT_EQ(c.from.why_none(b, 2), no_source::exhausted);
  EXPECT_NE(c.from.gave_up(b, 2)->text.find("again (2 times)"), std::string::npos) << c.from.gave_up(b, 2)->text;
  r.end();
}

TEST(sources, two_plugins_meet_in_a_space_between) {
  rig r({"alpha", "beta"});
  block::record& b = r.make();
  r.put(b, 1, 7);
  choice c(r);
  EXPECT_EQ(c.from.cheapest(b, 2), nullptr);
  EXPECT_EQ(c.from.why_none(b, 2), no_source::far);
  EXPECT_EQ(c.from.stop_towards(b, 2), 0);
  r.end();
}

TEST(sources, what_only_a_lost_device_has_is_lost) {
  rig r({"alpha", "alpha"});
  block::record& b = r.make();
  r.put(b, 1, 7);
  choice c(r);
  c.all.note_lost(1);
  EXPECT_EQ(c.from.cheapest(b, 2), nullptr);
  EXPECT_EQ(c.from.why_none(b, 2), no_source::lost);
  EXPECT_EQ(c.from.stop_towards(b, 2), memory::no_space);
  const auto why = c.rules.give_up_contents(b);
  EXPECT_TRUE(why->by_loss);
  EXPECT_NE(why->text.find("its only copy was on"), std::string::npos) << why->text;
  b.clear_poison();
  r.end();
}

}  // namespace
}  // namespace tessera::transfer
