// Which thread holds which views, and how many there are.
#include "core/schedule/host_views.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tessera::schedule {
namespace {

std::vector<const host_access*> list_of(const thread_context& of) {
  std::vector<const host_access*> all;
  for (const host_access* view = of.host_accesses; view != nullptr; view = view->next) all.push_back(view);
  return all;
}

TEST(host_views, count_from_the_grant_until_they_are_given_back) {
  host_views views;
  host_access granted, refused;
  views.grant(granted);
  EXPECT_EQ(granted.step.load(), host_access::access_step::available);
  host_views::refuse(refused);
  EXPECT_EQ(refused.step.load(), host_access::access_step::available);
  EXPECT_EQ(views.held(), 1u) << "one that cannot be had does not count";
  views.give_back();
  EXPECT_EQ(views.held(), 0u);
}

TEST(host_views, are_listed_by_thread_the_youngest_first_and_leave_in_any_order) {
  for (const std::size_t leaves : {0u, 1u, 2u}) {
    thread_context mine(0);
    host_access views[3];
    for (host_access& view : views) {
      view.owner = &mine;
      host_views::add(mine, view);
    }
    std::vector<const host_access*> expected{&views[2], &views[1], &views[0]};
    ASSERT_EQ(list_of(mine), expected);
    EXPECT_EQ(mine.held_views.load(), 3u);
    host_views::remove(views[leaves]);
    std::erase(expected, &views[leaves]);
    EXPECT_EQ(list_of(mine), expected);
    EXPECT_EQ(mine.held_views.load(), 2u);
    for (const host_access* view : expected) host_views::remove(*const_cast<host_access*>(view));
    EXPECT_EQ(mine.host_accesses, nullptr);
    EXPECT_EQ(mine.held_views.load(), 0u);
  }
}

}  // namespace
}  // namespace tessera::schedule
