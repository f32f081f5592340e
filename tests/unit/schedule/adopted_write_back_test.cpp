// When memory of the program gets its last versions back, and who is spared the trouble.
#include "core/schedule/adopted_write_back.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "core/task/flow.hpp"
#include "tests/unit/transfer/rig.hpp"

namespace tessera::schedule {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

/// Two blocks in memory of the program, beside a device.
struct adopted_blocks {
  adopted_blocks() {
    for (std::vector<std::int64_t>& own : memory) {
      blocks.push_back(&machine.make());
      machine.is->adopted().adopt({&blocks.back(), 1}, own.data(), 0);
    }
  }
  ~adopted_blocks() { machine.end(); }
  /// The blocks that reads at home are asked for.
  std::vector<const block::record*> begin(const transfer::memory_choice& where = {}) {
    std::vector<const block::record*> asked;
    started = back.begin(where, [&](const block::record& b) { asked.push_back(&b); });
    return asked;
  }
  void bring(std::size_t k) {
    std::vector<block::access> reads{transfer::rig::use(*blocks[k], intent::read)};
    machine.hold(reads, 0);
    machine.done(reads);
    back.note_read();
  }
  /// The task that ends a block.
  task::record& end_of(std::size_t k) {
    task::renew(end);
    end.access_count = 1;
    end.accesses[0] = {.block = blocks[k], .version = 0, .intent = intent::write, .flags = 0, .space = 0};
    return end;
  }

  std::vector<std::int64_t> memory[2]{std::vector<std::int64_t>(transfer::block_bytes / 8, 1),
                                      std::vector<std::int64_t>(transfer::block_bytes / 8, 2)};
  transfer::rig machine{{"alpha"}};
  std::vector<block::record*> blocks;
  adopted_write_back back{*machine.is};
  class failures failed;
  transfer::acquisition got;
  task::record end;
  bool started = false;
};

TEST(adopted_write_back, asks_for_nothing_where_all_is_at_home) {
  adopted_blocks a;
  EXPECT_THAT(a.begin(), IsEmpty());
  EXPECT_FALSE(a.started);
}

TEST(adopted_write_back, asks_once_for_each_block_whose_last_version_is_elsewhere) {
  adopted_blocks a;
  a.machine.put(*a.blocks[0], 1, 5);
  a.machine.put(*a.blocks[0], 1, 6);
  EXPECT_THAT(a.begin(), ElementsAre(a.blocks[0]));
  EXPECT_TRUE(a.started);
  EXPECT_THAT(a.begin(), IsEmpty());
  EXPECT_TRUE(a.started) << "a fence waits for what another one has begun";
  a.bring(0);
  EXPECT_THAT(a.begin(), IsEmpty());
  EXPECT_FALSE(a.started);
  EXPECT_EQ(a.memory[0][0], 6);
}

TEST(adopted_write_back, brings_the_memory_that_is_asked_for_and_the_rest_later) {
  adopted_blocks a;
  for (block::record* const b : a.blocks) a.machine.put(*b, 1, 7);
  const std::int64_t* const first = a.memory[0].data();
  EXPECT_THAT(a.begin([&](const void* p) { return p == first; }), ElementsAre(a.blocks[0]));
  a.bring(0);
  EXPECT_THAT(a.begin(), ElementsAre(a.blocks[1]));
  a.bring(1);
}

TEST(adopted_write_back, of_an_array_that_ends_no_read_is_begun) {
  adopted_blocks a;
  for (block::record* const b : a.blocks) a.machine.put(*b, 1, 7);
  a.back.end(*a.blocks[0]);
  EXPECT_THAT(a.begin(), UnorderedElementsAre(a.blocks[1]));
  a.bring(1);
}

TEST(adopted_write_back, the_end_of_a_block_that_is_at_home_waits_for_nothing) {
  adopted_blocks a;
  EXPECT_EQ(a.back.before_end(a.end_of(0), 0, a.got, a.failed), adopted_write_back::progress::home);
  EXPECT_EQ(a.machine.copies(1, 0), 0u);
}

TEST(adopted_write_back, the_end_of_a_block_that_is_elsewhere_waits_for_its_copy) {
  adopted_blocks a;
  a.machine.put(*a.blocks[0], 1, 7);
  task::record& end = a.end_of(0);
  ASSERT_EQ(a.back.before_end(end, 0, a.got, a.failed), adopted_write_back::progress::copying);
  EXPECT_THAT(a.got.waits, ::testing::Not(IsEmpty()));
  EXPECT_EQ(a.memory[0][0], 1);
  a.machine.settle();
  EXPECT_EQ(a.back.before_end(end, 0, a.got, a.failed), adopted_write_back::progress::home);
  EXPECT_EQ(a.memory[0][0], 7);
  EXPECT_EQ(a.machine.pins(*a.blocks[0], 0), 0u) << "it holds nothing any more";
  EXPECT_EQ(end.flags & task::flag_acquired, 0);
}

TEST(adopted_write_back, a_copy_that_failed_is_tried_again_and_then_given_up) {
  adopted_blocks a;
  a.machine.put(*a.blocks[0], 1, 7);
  for (const auto& device : a.machine.devices) device->state().fail_copy_work = TSR_INTERNAL;
  task::record& end = a.end_of(0);
  auto now = adopted_write_back::progress::copying;
  int tries = 0;
  for (; now == adopted_write_back::progress::copying && tries < 20; ++tries) {
    now = a.back.before_end(end, 0, a.got, a.failed);
    a.machine.settle();
  }
  EXPECT_EQ(now, adopted_write_back::progress::failed);
  EXPECT_GT(tries, 1) << "once is no reason to give up";
  ASSERT_NE(a.got.cause, nullptr);
  EXPECT_EQ(a.memory[0][0], 1);
  for (const auto& device : a.machine.devices) device->state().fail_copy_work = TSR_OK;
}

TEST(adopted_write_back, the_end_of_a_cancelled_run_brings_nothing_home) {
  adopted_blocks a;
  a.machine.put(*a.blocks[0], 1, 7);
  a.failed.cancel("enough", error_kind::interrupted);
  EXPECT_EQ(a.back.before_end(a.end_of(0), 0, a.got, a.failed), adopted_write_back::progress::home);
  EXPECT_EQ(a.memory[0][0], 1);
}

}  // namespace
}  // namespace tessera::schedule
