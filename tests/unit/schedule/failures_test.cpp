// What a fence throws: facts in, error out.
#include "core/schedule/failures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::schedule {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const transfer::loss_report nothing_lost;

TEST(failures, of_several_the_first_is_kept_until_it_is_reported) {
  failures f;
  f.note({.text = "first", .where = "task 'a'"});
  f.note({.text = "second", .where = "task 'b'"});
  const failures::report told = f.take();
  ASSERT_NE(told.first, nullptr);
  EXPECT_EQ(told.first->text, "first");
  EXPECT_EQ(f.take().first, nullptr) << "reported once";
  f.note({.text = "third"});
  EXPECT_EQ(f.take().first->text, "third");
}

TEST(failures, a_reported_cause_is_reported_again_with_the_tasks_that_it_stops_later) {
  failures f;
  const failures::reason why = f.note({.text = "cause"});
  f.take();
  f.note_given_up(why, true);
  f.note_given_up(why, false);  // the runtime's own
  const failures::report told = f.take();
  EXPECT_EQ(told.first, why);
  EXPECT_EQ(told.given_up, 1u);
}

TEST(failures, what_a_view_has_thrown_no_fence_of_its_thread_throws) {
  failures f;
  const failures::reason why = f.note({.text = "told by a view"});
  const failures::reason other = std::make_shared<const block::failure>(block::failure{.text = "another"});
  f.note_told(other, 1);
  EXPECT_EQ(f.take_for(1).first, why);
  f.note_given_up(why, false);
  f.note_told(why, 1);
  EXPECT_EQ(f.take().first, nullptr);
  EXPECT_EQ(f.take_for(1).first, nullptr);
}

TEST(failures, what_a_view_has_thrown_the_fence_of_another_thread_throws_once) {
  failures f;
  const failures::reason why = f.note({.text = "told by a view"});
  f.note_told(why, 1);
  EXPECT_EQ(f.take_for(1).first, nullptr);
  EXPECT_EQ(f.take_for(2).first, why) << "a fence of the thread that was told takes it from nobody";
  EXPECT_EQ(f.take_for(2).first, nullptr);
  EXPECT_EQ(f.take_for(3).first, nullptr);
}

TEST(failures, a_failure_after_one_that_was_told_is_the_first) {
  failures f;
  const failures::reason told = f.note({.text = "told"});
  f.note_told(told, 1);
  const failures::reason next = f.note({.text = "next"});
  EXPECT_EQ(f.take_for(1).first, next);
  EXPECT_EQ(f.take_for(2).first, nullptr) << "since the last fence";
}

TEST(failures, who_was_told_by_views_of_two_threads_throws_it_in_a_third) {
  failures f;
  const failures::reason why = f.note({.text = "told"});
  f.note_told(why, 1);
  f.note_told(why, 2);
  EXPECT_EQ(f.take_for(2).first, nullptr);
  EXPECT_EQ(f.take_for(3).first, why);
}

TEST(failures, a_cancelled_run_has_one_reason_for_all_tasks) {
  failures f;
  EXPECT_FALSE(f.cancelled());
  f.cancel("interrupted", error_kind::interrupted);
  EXPECT_TRUE(f.cancelled());
  EXPECT_EQ(f.cancellation()->text, "interrupted");
  EXPECT_EQ(f.cancellation()->kind, error_kind::interrupted);
  EXPECT_EQ(f.take().first, nullptr) << "what is given up says so";
}

TEST(fence_error, nothing_failed) { EXPECT_FALSE(fence_error({}, nothing_lost, false)); }

TEST(fence_error, the_first_failure_and_how_many_tasks_it_cost) {
  const auto why = std::make_shared<const block::failure>(
      block::failure{"gemm failed: no", "task 'gemm' submitted at a.cpp:3", error_kind::task});
  const auto one = fence_error({why, 1}, nothing_lost, false), two = fence_error({why, 2}, nothing_lost, true);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->kind(), error_kind::task);
  EXPECT_EQ(one->message(), "gemm failed: no; 1 task that depended on it was given up");
  EXPECT_EQ(one->where(), "task 'gemm' submitted at a.cpp:3");
  EXPECT_EQ(two->message(), "gemm failed: no; 2 tasks were given up") << "of a cancelled run none depended on another";
}

TEST(fence_error, a_lost_device_comes_first) {
  const auto why =
      std::make_shared<const block::failure>(block::failure{"scal failed", "task 'scal'", error_kind::task});
  const auto e = fence_error({why, 0}, {.devices = {"sim0 (gone)"}, .blocks = {"a(0)", "a(1)"}}, false);
  ASSERT_TRUE(e);
  EXPECT_EQ(e->kind(), error_kind::device);
  EXPECT_EQ(e->message(), "sim0 (gone) is lost, and with it a(0), a(1); also: scal failed [task 'scal']");
  EXPECT_THAT(e->what(), HasSubstr("write these blocks anew"));
}

TEST(fence_error, what_follows_from_the_loss_is_not_said_twice) {
  const auto why = std::make_shared<const block::failure>(
      block::failure{"scal was under way on sim0, which is lost", "", error_kind::device, true});
  const auto e = fence_error({why, 0}, {.devices = {"sim0", "sim1"}, .blocks = {"a(0)"}}, true);
  ASSERT_TRUE(e);
  EXPECT_EQ(e->message(), "sim0, sim1 are lost, and with them a(0)");
  EXPECT_THAT(e->what(), HasSubstr("survive_loss = false"));
}

TEST(fence_error, of_many_lost_blocks_sixteen_are_named) {
  transfer::loss_report lost{.devices = {"sim0"}, .blocks = {}};
  for (int k = 0; k < 20; ++k) lost.blocks.push_back("a(" + std::to_string(k) + ")");
  const auto e = fence_error({}, lost, false);
  ASSERT_TRUE(e);
  EXPECT_THAT(e->message(), HasSubstr("a(15) and 4 more blocks"));
  EXPECT_THAT(e->message(), Not(HasSubstr("a(16)")));
}

}  // namespace
}  // namespace tessera::schedule
