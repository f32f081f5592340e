// Threads that wait are called when what they wait for has come, and no others.
#include "core/schedule/waiter_list.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace tessera::schedule {
namespace {

/// One that waits until its flag is up; on the list as long as it lives.
struct listed {
  explicit listed(waiter_list& in) : list(in) { list.enter(entry); }
  ~listed() { list.leave(entry); }
  std::uint32_t calls() const { return entry.calls.load(); }

  waiter_list& list;
  std::atomic<bool> flag{false}, waits{true};
  const waiter_list::predicate enough = [this] { return flag.load(); };
  waiter_list::waiter entry{enough, waits};
};

TEST(waiter_list, is_empty_when_all_have_left) {
  waiter_list list;
  EXPECT_TRUE(list.empty());
  {
    const listed one(list);
    EXPECT_FALSE(list.empty());
    { const listed other(list); }
    EXPECT_FALSE(list.empty());
  }
  EXPECT_TRUE(list.empty());
  EXPECT_FALSE(list.look()) << "nobody is there to be called";
}

TEST(waiter_list, calls_those_whose_condition_holds_and_clears_their_flags) {
  waiter_list list;
  listed first(list), second(list);
  EXPECT_FALSE(list.look());
  EXPECT_EQ(first.calls() + second.calls(), 0u);
  second.flag = true;
  EXPECT_FALSE(list.look());
  EXPECT_EQ(first.calls(), 0u);
  EXPECT_TRUE(first.waits);
  EXPECT_EQ(second.calls(), 1u);
  EXPECT_FALSE(second.waits) << "nobody has to look at it again";
}

TEST(waiter_list, tells_of_the_helper_who_sleeps_elsewhere_instead_of_calling_it) {
  waiter_list list;
  listed helper(list), other(list);
  list.set_helps(helper.entry, true);
  other.flag = true;
  EXPECT_FALSE(list.look()) << "it is not enough for the helper";
  helper.flag = true;
  EXPECT_TRUE(list.look());
  EXPECT_EQ(helper.calls(), 0u);
  EXPECT_FALSE(helper.waits);
  list.set_helps(helper.entry, false);
  helper.waits = true;
  EXPECT_FALSE(list.look());
  EXPECT_EQ(helper.calls(), 1u);
}

TEST(waiter_list, offers_the_helpers_place_to_the_one_that_has_waited_longest_among_those_that_may) {
  struct offer {
    const char* what;
    std::array<bool, 3> may_help, helps;
    int leaving;  // -1: none of them
    int called;   // -1: none
  };
  const std::vector<offer> offers{
      {"nobody may", {false, false, false}, {false, false, false}, -1, -1},
      {"the first that may", {false, true, true}, {false, false, false}, -1, 1},
      {"not the one that leaves it", {true, true, false}, {false, false, false}, 0, 1},
      {"not even where it is the only one", {true, false, false}, {false, false, false}, 0, -1},
      {"not one that helps already", {true, true, false}, {true, false, false}, -1, 1},
  };
  for (const offer& one : offers) {
    waiter_list list;
    std::array<std::unique_ptr<listed>, 3> all;
    for (std::size_t k = 0; k < all.size(); ++k) {
      all[k] = std::make_unique<listed>(list);
      all[k]->entry.may_help = one.may_help[k];
      list.set_helps(all[k]->entry, one.helps[k]);
    }
    list.offer_place(one.leaving < 0 ? nullptr : &all[static_cast<std::size_t>(one.leaving)]->entry);
    for (std::size_t k = 0; k < all.size(); ++k)
      EXPECT_EQ(all[k]->calls(), static_cast<int>(k) == one.called ? 1u : 0u) << one.what << ", waiter " << k;
  }
}

TEST(waiter_list, sleep_ends_with_a_call_that_came_before_it) {
  waiter_list list;
  listed one(list);
  const std::uint32_t seen = one.calls();
  one.flag = true;
  list.look();
  waiter_list::sleep(one.entry, seen);  // returns at once: nothing would wake it
  EXPECT_EQ(one.calls(), seen + 1);
}

TEST(waiter_list, no_thread_sleeps_through_the_change_that_it_waits_for) {
  constexpr int threads = 4, rounds = 60;
  waiter_list list;
  std::atomic<int> reached{0}, awake{0};
  std::vector<std::thread> all;
  for (int k = 0; k < threads; ++k)
    all.emplace_back([&] {
      for (int round = 1; round <= rounds; ++round) {
        std::atomic<bool> waits{false};
        const waiter_list::predicate enough = [&] { return reached.load() >= round; };
        waiter_list::waiter me(enough, waits);
        list.enter(me);
        for (;;) {
          const std::uint32_t seen = me.calls.load();
          if (enough()) break;
          waiter_list::sleep(me, seen);
        }
        list.leave(me);
        ++awake;
        awake.notify_all();
      }
    });
  for (int round = 1; round <= rounds; ++round) {
    reached.store(round);
    full_fence();
    if (!list.empty()) list.look();
    for (int seen = awake; seen < round * threads; seen = awake) awake.wait(seen);
  }
  for (std::thread& one : all) one.join();
  EXPECT_TRUE(list.empty());
}

}  // namespace
}  // namespace tessera::schedule
