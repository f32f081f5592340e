// What regions know of memory and of views: who holds which rows, and how much a location has declared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <thread>
#include <vector>

#include "hierarchy/region/declared_memory.hpp"
#include "hierarchy/region/place.hpp"
#include "hierarchy/region/view_ledger.hpp"
#include "tests/support/error_of.hpp"

namespace tessera::hierarchy {
namespace {

using test_support::error_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void by_another_thread(const std::function<void()>& what) { std::thread(what).join(); }

/// The views of an array 'a'.
struct ledger_of_a {
  /// What is said against a view; empty: nothing.
  std::string against(const row_interval& rows, intent how) const {
    try {
      is.check(rows, how, "a", std::source_location::current());
    } catch (const error& e) {
      EXPECT_EQ(e.kind(), error_kind::usage);
      EXPECT_THAT(e.where(), HasSubstr("region_memory_test.cpp"));
      return e.message();
    }
    return {};
  }
  view_ledger is;
};

TEST(view_ledger, without_views_nothing_waits) {
  const ledger_of_a l;
  EXPECT_EQ(l.against({0, 100}, intent::update), "");
  EXPECT_FALSE(l.is.cut_may_wait({0, 100}));
}

TEST(view_ledger, of_two_views_of_a_thread_one_that_writes_waits_for_the_other) {
  struct two_views {
    row_interval held, asked;
    intent first, second;
    bool conflict;
  };
  for (const two_views& one : {two_views{{0, 10}, {5, 15}, intent::write, intent::read, true},
                               two_views{{0, 10}, {5, 15}, intent::read, intent::update, true},
                               two_views{{0, 10}, {9, 10}, intent::update, intent::update, true},
                               two_views{{0, 10}, {5, 15}, intent::read, intent::read, false},
                               two_views{{0, 10}, {10, 20}, intent::write, intent::write, false},
                               two_views{{10, 20}, {0, 10}, intent::update, intent::write, false},
                               two_views{{0, 10}, {3, 3}, intent::write, intent::read, false}}) {
    ledger_of_a l;
    const auto held = l.is.add(one.held, one.first);
    const std::string said = l.against(one.asked, one.second);
    EXPECT_EQ(said.empty(), !one.conflict) << one.asked.begin << " to " << one.asked.end;
    if (one.conflict) {
      EXPECT_THAT(said, HasSubstr("holds a view of rows 0 to 10 of array 'a', and a second one would wait for it"));
    }
  }
}

TEST(view_ledger, a_view_that_ended_is_waited_for_by_nobody) {
  ledger_of_a l;
  auto held = l.is.add({0, 10}, intent::write);
  EXPECT_NE(l.against({0, 10}, intent::read), "");
  EXPECT_TRUE(l.is.cut_may_wait({9, 12}));
  EXPECT_FALSE(l.is.cut_may_wait({10, 12}));
  held.reset();
  EXPECT_EQ(l.against({0, 10}, intent::read), "");
  EXPECT_FALSE(l.is.cut_may_wait({0, 100}));
}

TEST(view_ledger, views_of_other_threads_are_waited_for_and_end) {
  ledger_of_a l;
  std::shared_ptr<const void> others;
  by_another_thread([&] { others = l.is.add({0, 10}, intent::write); });
  EXPECT_EQ(l.against({0, 10}, intent::write), "") << "that thread goes on";
  EXPECT_TRUE(l.is.cut_may_wait({0, 1})) << "but it may take its time";
}

TEST(view_ledger, a_region_in_between_may_wait_for_the_first_view) {
  ledger_of_a l;
  const auto held = l.is.add({0, 10}, intent::read);
  l.is.note_region(false);
  EXPECT_EQ(l.against({50, 60}, intent::read), "") << "regions that read do not wait for views that read";
  EXPECT_THAT(l.against({50, 60}, intent::update), HasSubstr("would wait for a region that was submitted since"));
  l.is.note_region(true);
  EXPECT_THAT(l.against({50, 60}, intent::read), HasSubstr("would wait for a region that was submitted since"));
}

TEST(view_ledger, regions_before_the_view_do_not_count_and_replays_do_as_regions) {
  ledger_of_a l;
  l.is.note_region(true);
  l.is.note_region(false);
  const auto held = l.is.add({0, 10}, intent::read);
  EXPECT_EQ(l.against({50, 60}, intent::update), "");
  l.is.counter(true)->fetch_add(1);  // a replay begins
  EXPECT_NE(l.against({50, 60}, intent::update), "");
}

TEST(view_ledger, who_waits_for_a_view_of_a_thread_is_not_waited_for_by_it) {
  ledger_of_a l;
  const auto held = l.is.add({0, 10}, intent::read);
  by_another_thread([&] {
    l.is.note_writer({8, 30});  // waits for those rows
    l.is.note_writer({5, 6});
    l.is.note_writer({90, 99});  // of which nobody holds any
  });
  EXPECT_EQ(l.against({30, 40}, intent::read), "");
  EXPECT_EQ(l.against({91, 92}, intent::read), "");
  EXPECT_THAT(l.against({29, 40}, intent::read), HasSubstr("a view of another thread, which waits for the first"));
  EXPECT_NE(l.against({5, 6}, intent::read), "") << "all that is awaited counts";
}

TEST(view_ledger, ones_own_writer_is_no_other_thread) {
  ledger_of_a l;
  const auto held = l.is.add({0, 10}, intent::read);
  l.is.note_writer({8, 30});
  EXPECT_EQ(l.against({20, 30}, intent::read), "");
}

TEST(view_ledger, a_view_may_outlive_its_array) {
  std::shared_ptr<const void> held;
  {
    view_ledger gone;
    held = gone.add({0, 10}, intent::read);
  }
  held.reset();  // would end among views that are gone
  EXPECT_EQ(held, nullptr);
}

/// A { B { b0 }, C, disk }, with memory declared at some of them.
struct declared_tree {
  location::properties named(location::kind kind, const std::string& name, std::uint64_t bytes = 0) {
    location::properties p;
    p.kind = kind;
    p.name = name;
    p.declared_bytes = bytes;
    p.declared_at = "machine.toml:3";
    return p;
  }
  std::shared_ptr<memory_claim> claim(std::uint64_t bytes, location::node_id at, bool of_file = false) {
    auto made = std::make_shared<memory_claim>(memory_claim{.bytes = bytes, .at = at, .of_file = of_file});
    is.add(made);
    return made;
  }
  /// What is said against an array; empty: it has room.
  std::string against(std::uint64_t bytes, location::node_id at, bool of_file = false) {
    try {
      is.require_room(t, "x", {.bytes = bytes, .at = at, .of_file = of_file}, std::source_location::current());
    } catch (const error& e) {
      EXPECT_EQ(e.kind(), error_kind::memory);
      return e.message();
    }
    return {};
  }

  location::tree t{named(location::kind::memory, "A", 1000)};
  location::node_id a = 0, b = t.add(a, named(location::kind::virtual_group, "B", 300)),
                    b0 = t.add(b, named(location::kind::worker, "b0")),
                    c = t.add(a, named(location::kind::virtual_group, "C")),
                    disk = t.add(a, named(location::kind::storage, "disk", 500));
  declared_memory is;
};

TEST(declared_memory, counts_what_is_at_a_location_and_below) {
  declared_tree d;
  const auto first = d.claim(100, d.b0), second = d.claim(10, d.b), third = d.claim(1, d.c);
  EXPECT_EQ(d.is.bytes_at(d.t, d.b0), 100u);
  EXPECT_EQ(d.is.bytes_at(d.t, d.b), 110u);
  EXPECT_EQ(d.is.bytes_at(d.t, d.a), 111u);
  EXPECT_EQ(d.is.bytes_at(d.t, d.a, {}, first.get()), 11u) << "without one of them";
  EXPECT_EQ(d.is.claims().size(), 3u);
}

TEST(declared_memory, a_claim_counts_until_its_last_owner_lets_go) {
  declared_tree d;
  auto array = d.claim(100, d.b);
  auto memory = array;
  array.reset();
  EXPECT_EQ(d.is.bytes_at(d.t, d.b), 100u) << "a task still uses it";
  memory.reset();
  EXPECT_EQ(d.is.bytes_at(d.t, d.b), 0u);
  EXPECT_THAT(d.is.claims(), IsEmpty());
}

TEST(declared_memory, files_count_where_they_are_and_memory_does_not_count_there) {
  declared_tree d;
  const auto file = d.claim(100, d.disk, true), memory = d.claim(10, d.disk);
  EXPECT_EQ(d.is.bytes_at(d.t, d.disk), 100u);
  EXPECT_EQ(d.is.bytes_at(d.t, d.a), 10u) << "what is in memory is above the disk";
}

TEST(declared_memory, what_regions_are_about_to_place_counts_there_too_and_once) {
  declared_tree d;
  const auto moving = d.claim(100, d.c);
  moving->wanted = {d.b0, d.b};
  EXPECT_EQ(d.is.bytes_at(d.t, d.b), 100u);
  EXPECT_EQ(d.is.bytes_at(d.t, d.c), 100u);
  EXPECT_EQ(d.is.bytes_at(d.t, d.a), 100u);
}

TEST(declared_memory, may_be_asked_about_other_places) {
  declared_tree d;
  const auto one = d.claim(100, d.c);
  EXPECT_EQ(d.is.bytes_at(d.t, d.b, [&](location::node_id) { return d.b0; }), 100u) << "as after an edit";
  {
    const placed_on_trial there(*one, d.b);
    EXPECT_EQ(d.is.bytes_at(d.t, d.b), 100u);
  }
  EXPECT_EQ(d.is.bytes_at(d.t, d.b), 0u) << "it was a trial";
}

TEST(declared_memory, an_array_has_room_up_to_the_last_byte) {
  declared_tree d;
  const auto there = d.claim(200, d.b0);
  EXPECT_EQ(d.against(100, d.b0), "");
  EXPECT_EQ(d.against(101, d.b0),
            "array 'x' asks for 101 B at location 'b0', but of the 300 B of memory that are declared for 'B' at "
            "machine.toml:3, arrays have 200 B");
  EXPECT_EQ(d.against(700, d.c), "") << "nothing is declared there, and above it there is room";
  const auto elsewhere = d.claim(750, d.c);
  EXPECT_THAT(d.against(60, d.b), HasSubstr("declared for 'A'")) << "all of the way up counts";
}

TEST(declared_memory, does_not_round_two_sizes_to_the_same_text) {
  declared_tree d;
  d.t.edit(d.b).declared_bytes = 10'000'000;
  d.t.edit(d.a).declared_bytes = 0;
  EXPECT_THAT(d.against(10'000'001, d.b), HasSubstr("asks for 10000001 B at location 'B', but of the 10000000 B"));
  EXPECT_THAT(d.against(20'000'000, d.b), HasSubstr("asks for 19.1 MiB"));
}

TEST(declared_memory, of_files_only_their_disk_is_asked) {
  declared_tree d;
  const auto full = d.claim(1000, d.a);
  EXPECT_EQ(d.against(500, d.disk, true), "");
  EXPECT_THAT(d.against(501, d.disk, true), HasSubstr("declared for 'disk'"));
  EXPECT_THAT(d.against(1, d.disk), HasSubstr("declared for 'A'")) << "it is in memory";
}

TEST(declared_memory, more_than_there_is_may_be_there_already) {
  declared_tree d;
  const auto before = d.claim(400, d.b);
  EXPECT_THAT(d.against(1, d.b), HasSubstr("arrays have 400 B"));
}

TEST(declared_memory, forgets_those_that_were_given_back) {
  declared_tree d;
  const auto stays = d.claim(1, d.b);
  for (int k = 0; k < 10'000; ++k) (void)d.claim(5, d.b);
  EXPECT_EQ(d.is.bytes_at(d.t, d.b), 1u);
  EXPECT_EQ(d.is.claims().size(), 1u);
}

TEST(places, lie_around_all_leaves_that_take_part) {
  declared_tree d;
  const auto around = [&](std::vector<location::node_id> leaves) { return location_around(d.t, leaves, d.disk); };
  EXPECT_EQ(around({}), d.disk) << "nobody takes part";
  EXPECT_EQ(around({d.b0}), d.b0);
  EXPECT_EQ(around({d.b0, d.b}), d.b);
  EXPECT_EQ(around({d.b0, d.c}), d.a);
  EXPECT_EQ(around({d.b0, d.b0, d.b0}), d.b0);
}

TEST(places, above_a_location_end_at_the_root) {
  declared_tree d;
  EXPECT_EQ(ancestor_of(d.t, d.b0, 0), d.b0);
  EXPECT_EQ(ancestor_of(d.t, d.b0, 1), d.b);
  EXPECT_EQ(ancestor_of(d.t, d.b0, 2), d.a);
  EXPECT_EQ(ancestor_of(d.t, d.b0, 1000), d.a);
}

TEST(places, with_memory_are_above_storage) {
  declared_tree d;
  EXPECT_EQ(memory_above(d.t, d.disk), d.a);
  EXPECT_EQ(memory_above(d.t, d.b0), d.b0);
  EXPECT_EQ(memory_above(d.t, d.a), d.a);
}

}  // namespace
}  // namespace tessera::hierarchy
