// The version table, one situation at a time. The model test beside this one mixes them at random.
#include "core/transfer/coherence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/transfer/use_log.hpp"
#include "tests/unit/transfer/rig.hpp"

namespace tessera::transfer {
namespace {

using ::testing::HasSubstr;
using accesses = std::vector<block::access>;

TEST(coherence, a_read_elsewhere_copies_once_and_leaves_both_valid) {
  rig r({"fake"});
  block::record& b = r.make();
  r.put(b, 0, 42);
  accesses task{rig::use(b, intent::read)};
  const acquisition got = r.acquire(task, 1);
  EXPECT_EQ(got.outcome, outcome::ready);
  EXPECT_EQ(got.waits.size(), 1u) << "the copy's ticket";
  EXPECT_EQ(task[0].space, 1);
  EXPECT_EQ(r.pins(b, 1), 1u);
  EXPECT_EQ(r.pins(b, 0), 1u) << "the source, until it is copied";
  EXPECT_TRUE(r.is->transfers_pending());
  r.settle();
  EXPECT_EQ(r.pins(b, 0), 0u);
  EXPECT_EQ(r.words(b, 1)[31], 42);
  r.done(task);
  EXPECT_TRUE(b.valid_in(0) && b.valid_in(1));
  EXPECT_EQ(r.get(b, 1), 42);
  EXPECT_EQ(r.copies(0, 1), 1u) << "the second read finds it";
  r.end();
}

TEST(coherence, a_second_reader_joins_the_transfer_in_flight) {
  rig r({"fake"});
  block::record& b = r.make();
  r.put(b, 0, 7);
  accesses one{rig::use(b, intent::read)}, two{rig::use(b, intent::read)};
  const acquisition first = r.acquire(one, 1), second = r.acquire(two, 1);
  EXPECT_EQ(second.outcome, outcome::ready);
  EXPECT_EQ(second.waits, first.waits) << "both wait for the same copy";
  EXPECT_EQ(r.copies(0, 1), 1u);
  EXPECT_EQ(r.is->statistics().joined, 1u);
  EXPECT_EQ(r.pins(b, 1), 2u);
  r.settle();
  r.done(one);
  r.done(two);
  EXPECT_EQ(r.pins(b, 1), 0u);
  r.end();
}

TEST(coherence, an_update_of_a_part_is_a_write_where_nothing_is_there) {
  rig r({"fake"});
  block::record& b = r.make();
  const auto part_at = [&](memory::space_number where) {
    accesses part{rig::use(b, intent::update)};
    part[0].flags = block::access_of_part;
    EXPECT_EQ(r.acquire(part, where).outcome, outcome::ready);
    r.settle();
    r.done(part);
    return part[0].intent;
  };
  accesses whole{rig::use(b, intent::update)};
  EXPECT_EQ(r.acquire(whole, 1).outcome, outcome::failed) << "the others are needed";
  EXPECT_EQ(part_at(1), intent::write);
  EXPECT_TRUE(b.valid_in(1));
  EXPECT_EQ(part_at(0), intent::update) << "the others stay";
  EXPECT_EQ(r.copies(1, 0), 1u);
  r.end();
}

TEST(coherence, a_write_makes_other_copies_stale_and_fetches_nothing) {
  rig r({"fake"});
  block::record& b = r.make();
  r.put(b, 0, 1);
  r.put(b, 1, 2);
  EXPECT_EQ(r.copies(0, 1), 0u);
  EXPECT_EQ(r.is->statistics().saved_fetches, 1u);
  EXPECT_EQ(r.is->statistics().saved_bytes, block_bytes);
  EXPECT_TRUE(b.only_valid_in(1));
  EXPECT_EQ(r.get(b, 0), 2) << "the stale host copy is not used";
  r.end();
}

TEST(coherence, an_update_fetches_and_then_owns) {
  rig r({"fake"});
  block::record& b = r.make();
  r.put(b, 0, 5);
  accesses task{rig::use(b, intent::update)};
  r.hold(task, 1);
  EXPECT_EQ(r.words(b, 1)[0], 5);
  std::fill_n(r.words(b, 1), block_bytes / 8, 6);
  r.done(task);
  EXPECT_TRUE(b.only_valid_in(1));
  EXPECT_EQ(r.get(b, 0), 6);
  EXPECT_EQ(r.is->statistics().versions, 2u);
  r.end();
}

TEST(coherence, a_writer_waits_for_device_work_that_still_reads) {
  rig r({"fake"});
  stream& compute = r.streams.create(r.devices[1]->device(), TSR_STREAM_COMPUTE);
  block::record& b = r.make();
  r.put(b, 1, 5);
  accesses reader{rig::use(b, intent::read)};
  EXPECT_TRUE(r.acquire(reader, 1).waits.empty());
  const block::ticket reading = compute.signal();
  r.is->publish(reader, reading);
  accesses another{rig::use(b, intent::read)};
  EXPECT_TRUE(r.acquire(another, 1).waits.empty()) << "readers do not wait for each other";
  const block::ticket later = compute.signal();
  r.is->publish(another, later);
  accesses writer{rig::use(b, intent::write)};
  const acquisition got = r.acquire(writer, 1);
  EXPECT_EQ(got.waits, (std::vector<block::ticket>{later})) << "the last of each stream";
  r.settle();
  for (auto* t : {&reader, &another}) r.is->finish(*t);
  r.done(writer);
  r.end();
}

TEST(coherence, devices_of_two_plugins_go_through_the_host_in_two_steps) {
  rig r({"alpha", "beta"});
  block::record& b = r.make();
  r.put(b, 1, 99);
  accesses task{rig::use(b, intent::read)};
  const acquisition first = r.acquire(task, 2);
  EXPECT_EQ(first.outcome, outcome::retry);
  EXPECT_FALSE(first.waits.empty());
  EXPECT_EQ(r.pins(b, 2), 0u) << "nothing is held";
  EXPECT_EQ(r.copies(1, 0), 1u);

  const acquisition early = r.acquire(task, 2);
  EXPECT_EQ(early.outcome, outcome::retry) << "beta cannot wait for alpha's stream, so the host has to";
  EXPECT_EQ(early.waits, first.waits);
  EXPECT_EQ(r.copies(1, 0), 1u) << "no second copy to the host";
  r.settle();
  const acquisition second = r.acquire(task, 2);
  EXPECT_EQ(second.outcome, outcome::ready);
  r.settle();
  EXPECT_EQ(r.words(b, 2)[0], 99);
  EXPECT_EQ(r.copies(0, 2), 1u);
  r.done(task);
  EXPECT_EQ(r.pins(b, 0) + r.pins(b, 1) + r.pins(b, 2), 0u);

  const auto cost = r.cost_of(task, 2);
  EXPECT_EQ(cost.resident_bytes, block_bytes);
  r.end();
}

TEST(coherence, the_cost_of_a_way_through_the_host_has_both_legs) {
  rig r({"alpha", "beta"});
  block::record& b = r.make();
  r.put(b, 1, 1);
  accesses task{rig::use(b, intent::read), rig::use(r.make(), intent::write)};
  const auto cost = r.cost_of(task, 2);
  EXPECT_EQ(cost.missing_bytes, block_bytes) << "what is only written costs nothing";
  EXPECT_EQ(cost.resident_bytes, 0u);
  EXPECT_NEAR(cost.seconds, 2 * (1e-6 + block_bytes / 1e10), 1e-12);
  EXPECT_DOUBLE_EQ(r.cost_of(task, 1).seconds, 0);
  r.end();
}

TEST(coherence, staged_copies_larger_than_the_ring_arrive_whole) {
  rig r({"fake", "fake"}, 4096, false, 2 * 4096);
  block::record& b = r.make(100'000 / 8 * 8);
  accesses task{rig::use(b, intent::write)};
  r.hold(task, 1);
  for (std::uint64_t k = 0; k < b.bytes / 8; ++k) r.words(b, 1)[k] = static_cast<std::int64_t>(k * k);
  r.done(task);
  accesses read{rig::use(b, intent::read)};
  r.hold(read, 2);
  for (std::uint64_t k = 0; k < b.bytes / 8; ++k) ASSERT_EQ(r.words(b, 2)[k], static_cast<std::int64_t>(k * k)) << k;
  r.done(read);
  EXPECT_EQ(r.is->links().counters(1, 2).bytes, b.bytes);
  r.end();
}

// --- memory ----------------------------------------------------------------------------------------------------------

TEST(coherence, a_working_set_that_does_not_fit_leaves_nothing_behind) {
  rig r({"fake"}, 3);
  accesses task;
  for (int k = 0; k < 4; ++k) {
    block::record& b = r.make();
    r.put(b, 0, k);
    task.push_back(rig::use(b, k % 2 == 0 ? intent::read : intent::update));
  }
  r.get(*task[1].block, 1);  // one of them is there already
  const acquisition got = r.acquire(task, 1);
  EXPECT_EQ(got.outcome, outcome::no_memory);
  EXPECT_EQ(got.lacking, 1);
  EXPECT_EQ(got.missing_bytes, 3 * block_bytes);
  EXPECT_EQ(r.spaces[1]->statistics().used_bytes, block_bytes);
  for (const auto& a : task) EXPECT_EQ(r.pins(*a.block, 0) + r.pins(*a.block, 1), 0u);
  EXPECT_FALSE(r.is->transfers_pending());
  r.end();
}

TEST(coherence, the_least_recently_used_replica_goes_first) {
  rig r({"fake"}, 3);
  std::vector<block::record*> b;
  for (int k = 0; k < 3; ++k) {
    b.push_back(&r.make());
    r.put(*b.back(), 0, k);
    r.get(*b.back(), 1);
  }
  r.get(*b[0], 1);  // used again: now b[1] is the oldest
  EXPECT_TRUE(r.is->evict(1, block_bytes));
  EXPECT_NE(b[0]->find(1), nullptr);
  EXPECT_EQ(b[1]->find(1), nullptr);
  EXPECT_NE(b[2]->find(1), nullptr);
  EXPECT_EQ(r.is->statistics().dropped, 1u);
  EXPECT_EQ(r.is->statistics().written_back, 0u) << "it was valid on the host";
  EXPECT_TRUE(r.is->evict(1, 2 * block_bytes));
  EXPECT_EQ(r.spaces[1]->statistics().used_bytes, 0u);
  EXPECT_FALSE(r.is->evict(1, 1)) << "nothing is left";
  EXPECT_EQ(r.get(*b[1], 1), 1);
  r.end();
}

TEST(coherence, pinned_replicas_are_never_evicted) {
  rig r({"fake"}, 3);
  block::record &pinned = r.make(), &loose = r.make();
  r.put(pinned, 0, 1);
  r.put(loose, 0, 2);
  accesses task{rig::use(pinned, intent::read)};
  r.hold(task, 1);
  r.get(loose, 1);
  EXPECT_TRUE(r.is->evict(1, ~std::uint64_t{0}));
  EXPECT_NE(pinned.find(1), nullptr);
  EXPECT_EQ(loose.find(1), nullptr);
  EXPECT_FALSE(r.is->evict(1, ~std::uint64_t{0}));
  r.done(task);
  EXPECT_TRUE(r.is->evict(1, ~std::uint64_t{0}));
  EXPECT_EQ(pinned.find(1), nullptr);
  r.end();
}

TEST(coherence, sole_copies_are_written_back_before_they_go) {
  rig r({"fake"}, 2);
  block::record& b = r.make();
  r.put(b, 1, 77);
  EXPECT_TRUE(r.is->evict(1, block_bytes));
  EXPECT_NE(b.find(1), nullptr) << "until the copy has arrived";
  EXPECT_EQ(r.spaces[1]->statistics().used_bytes, block_bytes);
  r.settle();
  EXPECT_EQ(b.find(1), nullptr);
  EXPECT_TRUE(b.only_valid_in(0));
  EXPECT_EQ(r.words(b, 0)[5], 77);
  EXPECT_EQ(r.is->statistics().written_back, 1u);
  EXPECT_EQ(r.spaces[1]->statistics().used_bytes, 0u);
  EXPECT_EQ(r.spaces[1]->statistics().evictions, 1u);
  r.end();
}

constexpr eviction_settings ahead{.write_ahead = 0.03};  // of the memory

TEST(coherence, the_next_to_leave_is_copied_ahead) {
  rig r({"fake"}, 70, false, 4 * 4096, 0, ahead);  // two blocks are kept ready
  std::vector<block::record*> blocks;
  for (int k = 0; k < 8; ++k) {
    blocks.push_back(&r.make());
    r.put(*blocks.back(), 1, 70 + k);
  }
  EXPECT_TRUE(r.is->evict(1, block_bytes));
  r.settle();
  EXPECT_EQ(blocks[0]->find(1), nullptr) << "the least recently used";
  for (const int k : {1, 2}) {
    EXPECT_TRUE(blocks[k]->valid_in(0) && blocks[k]->valid_in(1)) << k;
    EXPECT_EQ(r.words(*blocks[k], 0)[5], 70 + k);
  }
  for (int k = 3; k < 8; ++k) EXPECT_TRUE(blocks[k]->only_valid_in(1)) << k;
  EXPECT_EQ(r.is->statistics().written_ahead, 2u);
  EXPECT_EQ(r.is->statistics().written_back, 1u);
  EXPECT_TRUE(r.is->evict(1, 2 * block_bytes));
  EXPECT_EQ(blocks[1]->find(1), nullptr) << "leaves at once";
  EXPECT_EQ(blocks[2]->find(1), nullptr);
  EXPECT_EQ(r.is->statistics().dropped, 2u);
  r.settle();
  r.end();
}

TEST(coherence, what_will_be_written_again_is_not_copied_ahead) {
  rig r({"fake"}, 40, false, 4 * 4096, 0, ahead);
  use_log log;
  std::vector<block::record*> blocks;
  for (int k = 0; k < 3; ++k) {
    blocks.push_back(&r.make());
    r.put(*blocks.back(), 1, 70 + k);
  }
  log.note(*blocks[1], 9, true);
  log.note(*blocks[2], 8, false);
  EXPECT_TRUE(r.is->evict(1, block_bytes));
  EXPECT_EQ(blocks[0]->find(1)->state, block::replica_state::draining) << "nobody is known to use it";
  EXPECT_EQ(blocks[1]->find(1)->state, block::replica_state::valid);
  EXPECT_EQ(blocks[2]->find(1)->state, block::replica_state::cleaning);
  r.settle();
  r.end();
}

TEST(coherence, a_copy_ahead_may_become_one_that_leaves) {
  rig r({"fake"}, 40, false, 4 * 4096, 0, ahead);
  block::record &first = r.make(), &second = r.make();
  r.put(first, 1, 1);
  r.put(second, 1, 2);
  EXPECT_TRUE(r.is->evict(1, block_bytes));
  ASSERT_EQ(second.find(1)->state, block::replica_state::cleaning);
  EXPECT_TRUE(r.is->evict(1, block_bytes));
  EXPECT_EQ(second.find(1)->state, block::replica_state::draining);
  r.settle();
  EXPECT_EQ(second.find(1), nullptr);
  EXPECT_EQ(r.words(second, 0)[5], 2);
  EXPECT_EQ(r.is->statistics().written_back, 2u);
  r.end();
}

TEST(coherence, what_is_written_while_it_is_copied_ahead_stays_the_only_one) {
  rig r({"fake"}, 40, false, 4 * 4096, 0, ahead);
  block::record &first = r.make(), &second = r.make();
  r.put(first, 1, 1);
  r.put(second, 1, 2);
  EXPECT_TRUE(r.is->evict(1, block_bytes));
  r.put(second, 1, 3);
  r.settle();
  EXPECT_TRUE(second.only_valid_in(1));
  EXPECT_EQ(r.words(second, 1)[5], 3);
  EXPECT_EQ(r.is->statistics().written_back, 1u);
  r.end();
}

TEST(coherence, nothing_leaves_the_parent_for_a_copy_ahead) {
  rig r({"fake"}, 40, false, 4 * 4096, 1, ahead);
  block::record &first = r.make(), &second = r.make();
  r.put(first, 1, 1);
  r.put(second, 1, 2);
  EXPECT_TRUE(r.is->evict(1, block_bytes));
  r.settle();
  EXPECT_EQ(first.find(1), nullptr);
  EXPECT_TRUE(second.only_valid_in(1));
  EXPECT_EQ(r.is->statistics().written_ahead, 0u);
  r.end();
}

TEST(coherence, a_block_wanted_again_while_it_leaves_stays) {
  rig r({"fake"}, 2);
  block::record& b = r.make();
  r.put(b, 1, 77);
  EXPECT_TRUE(r.is->evict(1, block_bytes));
  accesses task{rig::use(b, intent::read)};
  EXPECT_EQ(r.acquire(task, 1).outcome, outcome::ready);
  r.settle();
  EXPECT_EQ(r.words(b, 1)[0], 77);
  r.done(task);
  EXPECT_TRUE(b.valid_in(0) && b.valid_in(1));
  EXPECT_EQ(r.is->statistics().written_back, 0u);
  r.end();
}

TEST(coherence, eviction_wakes_who_waits_for_memory) {
  rig r({"fake"}, 1);
  block::record& b = r.make();
  r.put(b, 0, 1);
  r.get(b, 1);
  struct waiter : memory::memory_waiter {
    int woken = 0;
  } me;
  me.wake = [](memory::memory_waiter* self) { ++static_cast<waiter*>(self)->woken; };
  accesses task{rig::use(r.make(), intent::write)};
  const acquisition got = r.acquire(task, 1);
  ASSERT_EQ(got.outcome, outcome::no_memory);
  ASSERT_TRUE(r.spaces[1]->waiters().wait(me, got.memory_events));
  r.is->evict(1, block_bytes);
  EXPECT_EQ(me.woken, 1);
  EXPECT_EQ(r.acquire(task, 1).outcome, outcome::ready);

  // Full again, and pinned: the end of the task that pins is the event.
  accesses next{rig::use(r.make(), intent::write)};
  const acquisition full = r.acquire(next, 1);
  ASSERT_EQ(full.outcome, outcome::no_memory);
  ASSERT_TRUE(r.spaces[1]->waiters().wait(me, full.memory_events));
  r.done(task);
  EXPECT_EQ(me.woken, 2);
  r.end();
}

TEST(coherence, dropping_waits_for_device_work_and_spares_the_users_memory) {
  rig r({"fake"});
  stream& compute = r.streams.create(r.devices[1]->device(), TSR_STREAM_COMPUTE);
  block::record& b = r.make();
  r.put(b, 1, 5);
  accesses reader{rig::use(b, intent::read)};
  r.hold(reader, 1);
  const block::ticket reading = compute.signal();
  r.is->publish(reader, reading);
  std::vector<block::ticket> waits;
  EXPECT_FALSE(r.is->try_drop(b, waits));
  EXPECT_EQ(waits, (std::vector<block::ticket>{reading}));
  r.settle();
  waits.clear();
  EXPECT_FALSE(r.is->try_drop(b, waits)) << "pinned until the task is finished";
  EXPECT_TRUE(waits.empty());
  r.is->finish(reader);
  EXPECT_TRUE(r.is->try_drop(b, waits));
  EXPECT_EQ(r.spaces[1]->statistics().used_bytes, 0u);
  r.end();
}

TEST(coherence, scratch_has_no_contents_before_or_after) {
  rig r({"fake"});
  block::record& b = r.make();
  accesses fresh{rig::use(b, intent::scratch)};
  r.hold(fresh, 1);
  EXPECT_EQ(r.pins(b, 1), 1u);
  r.done(fresh);
  EXPECT_TRUE(b.valid_spaces.empty());
  r.put(b, 1, 5);
  accesses again{rig::use(b, intent::scratch)};
  r.hold(again, 0);
  EXPECT_EQ(r.copies(1, 0), 0u) << "nothing is fetched";
  r.done(again);
  accesses reader{rig::use(b, intent::read)};
  EXPECT_EQ(r.acquire(reader, 1).outcome, outcome::failed);
  EXPECT_TRUE(r.is->evict(1, block_bytes)) << "what is left there is stale";
  r.end();
}

TEST(coherence, one_block_twice_in_a_task_is_copied_and_pinned_consistently) {
  rig r({"fake"});
  block::record& b = r.make();
  r.put(b, 0, 9);
  accesses task{rig::use(b, intent::read), rig::use(b, intent::update)};
  EXPECT_EQ(r.acquire(task, 1).outcome, outcome::ready);
  EXPECT_EQ(r.copies(0, 1), 1u);
  EXPECT_EQ(r.pins(b, 1), 2u);
  EXPECT_EQ(r.spaces[1]->statistics().used_bytes, block_bytes);
  r.settle();
  EXPECT_EQ(r.words(b, 1)[0], 9);
  r.done(task);
  EXPECT_EQ(r.pins(b, 1), 0u);
  r.end();
}

TEST(coherence, a_ring_needs_room_in_host_memory) {
  testing::fake_world world;
  testing::fake_device host(world, 0, true, 0);
  memory::space_setup setup;
  setup.device = &host.device();
  setup.limit = 8192;
  setup.slab_bytes = 8192;
  memory::space space(setup);
  EXPECT_NO_THROW(staging_ring(space, 8192, 2));
  EXPECT_EQ(space.statistics().used_bytes, 0u) << "given back";
  try {
    const staging_ring ring(space, 1 << 20);
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::memory);
    EXPECT_THAT(e.hint(), HasSubstr("memory.staging_bytes"));
  }
}

}  // namespace
}  // namespace tessera::transfer
