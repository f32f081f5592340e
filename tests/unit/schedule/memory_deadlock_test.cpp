// How long the runtime counts on threads of the program that do nothing.
#include "core/schedule/memory_deadlock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

namespace tessera::schedule {
namespace {

using std::chrono::milliseconds;

TEST(patience, is_over_once_its_time_has_passed_without_progress) {
  std::atomic<int> woken{0};
  patience p(milliseconds(20), [&] {
    ++woken;
    woken.notify_all();
  });
  const auto none = [] { return std::uint64_t{7}; };
  const auto began = std::chrono::steady_clock::now();
  EXPECT_FALSE(p.over(none)) << "it has only begun";
  woken.wait(0);
  EXPECT_GE(std::chrono::steady_clock::now() - began, milliseconds(20));
  EXPECT_TRUE(p.over(none));
  EXPECT_TRUE(p.over(none)) << "and stays over";
}

TEST(patience, begins_anew_with_each_progress) {
  std::atomic<int> woken{0};
  patience p(milliseconds(20), [&] {
    ++woken;
    woken.notify_all();
  });
  std::uint64_t submitted = 1;
  const auto progress = [&] { return submitted; };
  EXPECT_FALSE(p.over(progress));
  woken.wait(0);
  ++submitted;
  EXPECT_FALSE(p.over(progress)) << "the program has done something, and may do more";
  woken.wait(1);
  EXPECT_TRUE(p.over(progress));
}

}  // namespace
}  // namespace tessera::schedule
