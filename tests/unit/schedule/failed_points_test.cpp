// Why points failed: one reason for each, the first that was found.
#include "core/schedule/device/failed_points.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera::schedule {
namespace {

failed_points::reason because(const std::string& text) {
  return std::make_shared<const block::failure>(block::failure{.text = text});
}

TEST(failed_points, have_no_reason_before_one_is_noted) {
  failed_points points;
  const std::lock_guard guard(points.lock());
  EXPECT_EQ(points.find({1, 1}), nullptr);
  EXPECT_EQ(points.find({}), nullptr);
}

TEST(failed_points, keep_the_first_reason) {
  failed_points points;
  const failed_points::reason first = because("first"), second = because("second");
  const std::lock_guard guard(points.lock());
  points.note({1, 7}, first);
  points.note({1, 7}, second);
  EXPECT_EQ(points.find({1, 7}), first);
}

TEST(failed_points, of_other_streams_and_other_points_are_others) {
  failed_points points;
  const failed_points::reason one = because("one"), other = because("other");
  const std::lock_guard guard(points.lock());
  points.note({1, 7}, one);
  points.note({7, 1}, other);
  EXPECT_EQ(points.find({1, 7}), one);
  EXPECT_EQ(points.find({7, 1}), other);
  for (const block::ticket at : {block::ticket{1, 6}, block::ticket{1, 8}, block::ticket{2, 7}})
    EXPECT_EQ(points.find(at), nullptr) << at.stream << ":" << at.value;
}

TEST(failed_points, no_point_and_no_reason_are_not_kept) {
  failed_points points;
  const std::lock_guard guard(points.lock());
  points.note({}, because("nowhere"));
  points.note({3, 1}, nullptr);
  EXPECT_EQ(points.find({}), nullptr);
  EXPECT_EQ(points.find({3, 1}), nullptr);
  points.note({3, 1}, because("known later"));
  EXPECT_NE(points.find({3, 1}), nullptr) << "what had no reason may still get one";
}

TEST(failed_points, threads_that_look_for_one_reason_agree) {
  failed_points points;
  std::vector<failed_points::reason> found(4);
  std::vector<std::thread> all;
  for (failed_points::reason& mine : found)
    all.emplace_back([&] {
      const std::lock_guard guard(points.lock());
      mine = points.find({1, 1});
      if (mine == nullptr) points.note({1, 1}, mine = because("looked for once"));
    });
  for (std::thread& one : all) one.join();
  for (const failed_points::reason& mine : found) EXPECT_EQ(mine, found.front());
}

}  // namespace
}  // namespace tessera::schedule
