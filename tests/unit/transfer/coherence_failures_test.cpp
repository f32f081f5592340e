// What the version table does when a copy, a plugin or a task fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/transfer/rig.hpp"

namespace tessera::transfer {
namespace {

using ::testing::HasSubstr;
using accesses = std::vector<block::access>;

TEST(coherence_failures, what_was_never_written_cannot_be_read) {
  rig r({"fake"});
  block::record& b = r.table.create(element_type::i64, shape{4}, r.table.make_origin("v", {9}), 3);
  for (const intent how : {intent::read, intent::update}) {
    accesses task{rig::use(r.make(), intent::write), rig::use(b, how)};
    const acquisition got = r.acquire(task, 1);
    EXPECT_EQ(got.outcome, outcome::failed);
    EXPECT_THAT(got.cause->text, HasSubstr(how == intent::read ? "v(3) is read before" : "v(3) is updated before"));
    EXPECT_EQ(r.spaces[1]->statistics().used_bytes, 0u) << "nothing is held";
  }
  r.end();
}

TEST(coherence_failures, a_copy_that_a_plugin_refuses_fails_the_acquisition_alone) {
  rig r({"fake"});
  block::record &b = r.make(), &c = r.make();
  r.put(b, 0, 3);
  r.put(c, 0, 4);
  r.devices[1]->state().fail_copy_call = TSR_INTERNAL;
  accesses task{rig::use(b, intent::read), rig::use(c, intent::read)};
  const acquisition got = r.acquire(task, 1);
  EXPECT_EQ(got.outcome, outcome::failed);
  EXPECT_EQ(got.cause->kind, error_kind::device);
  EXPECT_THAT(got.cause->text, HasSubstr("copy of 256 bytes"));
  EXPECT_EQ(r.pins(b, 0) + r.pins(b, 1) + r.pins(c, 0) + r.pins(c, 1), 0u);
  EXPECT_FALSE(b.valid_in(1));
  r.devices[1]->state().fail_copy_call = TSR_OK;
  EXPECT_EQ(r.get(b, 1), 3) << "the data were not harmed";
  r.end();
}

TEST(coherence_failures, a_copy_that_fails_under_way_is_told_and_tried_again) {
  rig r({"fake"});
  block::record& b = r.make();
  r.put(b, 0, 3);
  r.devices[1]->state().fail_copy_work = TSR_INTERNAL;
  accesses task{rig::use(b, intent::read)};
  EXPECT_EQ(r.acquire(task, 1).outcome, outcome::ready) << "nobody knows yet";
  r.settle();
  r.devices[1]->state().fail_copy_work = TSR_OK;
  EXPECT_FALSE(b.valid_in(1));
  EXPECT_TRUE(b.valid_in(0)) << "its source is as it was";
  EXPECT_FALSE(r.is->arrived(task));
  r.is->finish(task);
  EXPECT_EQ(r.get(b, 1), 3);
  EXPECT_EQ(r.is->failed_copies().statistics().failed_copies, 1u);
  EXPECT_EQ(r.is->failed_copies().statistics().retried_copies, 1u);
  r.end();
}

TEST(coherence_failures, a_copy_that_fails_each_time_is_given_up) {
  rig r({"fake"});
  block::record& b = r.make();
  r.put(b, 0, 3);
  r.devices[1]->state().fail_copy_work = TSR_DATA_LOSS;
  for (int attempt = 0; attempt < 2; ++attempt) {
    accesses task{rig::use(b, intent::read)};
    EXPECT_EQ(r.acquire(task, 1).outcome, outcome::ready) << attempt;
    r.settle();
    r.is->finish(task);
  }
  r.devices[1]->state().fail_copy_work = TSR_OK;
  accesses next{rig::use(b, intent::read)};
  const acquisition got = r.acquire(next, 1);
  EXPECT_EQ(got.outcome, outcome::failed) << "wrong contents are believed the second time";
  EXPECT_THAT(got.cause->text, HasSubstr("from host:memory to fake1:memory failed: DATA_LOSS"));
  r.put(b, 1, 8);
  EXPECT_EQ(r.get(b, 0), 8) << "written anew";
  r.end();
}

TEST(coherence_failures, a_write_back_that_fails_under_way_keeps_the_sole_copy) {
  rig r({"fake"}, 2);
  block::record& b = r.make();
  r.put(b, 1, 12);
  r.devices[1]->state().fail_copy_work = TSR_DATA_LOSS;
  EXPECT_TRUE(r.is->evict(1, block_bytes));
  r.settle();
  r.devices[1]->state().fail_copy_work = TSR_OK;
  EXPECT_TRUE(b.only_valid_in(1));
  EXPECT_EQ(b.poison, nullptr);
  EXPECT_EQ(r.pins(b, 0) + r.pins(b, 1), 0u);
  EXPECT_EQ(r.get(b, 0), 12);
  r.end();
}

TEST(coherence_failures, a_write_back_that_a_plugin_refuses_keeps_the_sole_copy) {
  rig r({"fake"}, 2);
  block::record& b = r.make();
  r.put(b, 1, 12);
  r.devices[1]->state().fail_copy_call = TSR_INTERNAL;
  EXPECT_FALSE(r.is->evict(1, block_bytes));
  r.devices[1]->state().fail_copy_call = TSR_OK;
  EXPECT_TRUE(b.only_valid_in(1));
  EXPECT_EQ(r.pins(b, 0) + r.pins(b, 1), 0u);
  EXPECT_EQ(r.get(b, 0), 12);
  r.end();
}

TEST(coherence_failures, failed_tasks_poison_what_they_make_and_nothing_else) {
  rig r({"fake"});
  block::record &in = r.make(), &out = r.make(), &never = r.make();
  r.put(in, 0, 1);
  r.put(out, 0, 2);
  const auto why = std::make_shared<const block::failure>(block::failure{"it broke"});
  accesses task{rig::use(in, intent::read), rig::use(out, intent::update)};
  r.hold(task, 0);
  r.is->publish(task, {});
  r.is->finish(task, why);
  EXPECT_EQ(r.get(in, 1), 1);
  for (const intent how : {intent::read, intent::update}) {
    accesses reader{rig::use(out, how)};
    const acquisition got = r.acquire(reader, 1);
    EXPECT_EQ(got.outcome, outcome::failed);
    EXPECT_EQ(got.cause, why) << "the first cause, not a new one";
  }
  accesses unstarted{rig::use(in, intent::read), rig::use(never, intent::write)};
  r.is->poison(unstarted, why);
  r.is->poison(unstarted, why);
  EXPECT_EQ(in.poison, nullptr);
  accesses reader{rig::use(never, intent::read)};
  EXPECT_EQ(r.acquire(reader, 0).cause, why);
  r.put(never, 0, 4);
  EXPECT_EQ(r.get(never, 1), 4);
  r.put(out, 1, 5);
  EXPECT_EQ(r.get(out, 0), 5);
  r.end();
}

}  // namespace
}  // namespace tessera::transfer
