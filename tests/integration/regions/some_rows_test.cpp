// Uses of rows of arrays: of none, of parts that nobody has written, and with all intents, at every door.
// The parameters of a body have the names of the arrays that they stand for.
#pragma GCC diagnostic ignored "-Wshadow"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "hierarchy/region/storage.hpp"
#include "tessera/detail/linear_algebra.hpp"
#include "tests/integration/regions/rows_setting.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using test_support::error_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

using no_rows = task_rows;
INSTANTIATE_TEST_SUITE_P(machines, no_rows, rows_settings(), rows_setting::name_of);

TEST_P(no_rows, are_views_of_nothing_in_tasks_that_wait_for_nobody) {
  auto none = model.make_array<double>("none", {0}), blocks = rt.make_array<double>("blocks", {0}, {5});
  auto u = model.make_array<double>("u", {10, 2});
  auto unwritten = rt.make_array<double>("unwritten", {10}, {5});
  auto seen = rt.make_array<std::int64_t>("seen", {12}, {12});
  const auto rows_of = [](const auto& v) {
    return 1000 * v.first() + 100 * v.last() + v.size() + (v.begin() != v.end());
  };
  {
    const auto held = u.update();
    rt.submit(
        "none",
        [rows_of](auto a, auto b, auto c, auto d, auto e, auto seen) {
          std::ranges::fill(seen, 0);
          seen[0] = rows_of(a), seen[1] = rows_of(b), seen[2] = rows_of(c), seen[3] = rows_of(d), seen[4] = rows_of(e);
          seen[5] = c.extent(0) + 10 * c.extent(1);
        },
        read(none), update(blocks), read(u.rows(3, 3)), write(u.rows(10, 10)), read(unwritten.rows(5, 5)),
        write(seen(0)));
    rt.submit(
        "all intents", [](auto, auto, auto, auto) {}, commute(u.rows(1, 1)), accumulate(u.rows(2, 2)),
        accumulate(u.rows(4, 4), maximum), scratch(u.rows(0, 0)));
    const auto all = seen(0).read();  // while u is held
    EXPECT_THAT(std::vector<std::int64_t>(all.begin(), all.begin() + 6),
                ::testing::ElementsAre(0, 0, 3300, 11000, 5500, 30));
  }
  const auto step = [&] {
    rt.submit(
        "recorded", [](auto, auto) {}, read(none), write(u.rows(7, 7)));
  };
  recording steps = rt.record(step);
  rt.replay(steps);
  const auto first = u.update();
  EXPECT_EQ(u.rows(4, 4).update().size(), 0) << "which does not wait for the first view";
}

TEST_P(no_rows, are_views_of_the_program) {
  auto none = model.make_array<double>("none", {0}), blocks = rt.make_array<double>("blocks", {0}, {5});
  auto u = model.make_array<double>("u", {10, 2});
  for (const array<double>& one : {none, blocks}) {
    EXPECT_EQ(one.read().size(), 0);
    EXPECT_EQ(one.write().size(), 0);
    EXPECT_TRUE(one.update().elements().empty());
  }
  const auto part = u.rows(10, 10).write();
  EXPECT_EQ(part.first(), 10);
  EXPECT_EQ(part.last(), 10);
  EXPECT_EQ(part.begin(), part.end());
}

TEST_P(no_rows, are_nothing_to_regions_operations_and_copies) {
  auto none = model.make_array<double>("none", {0}), other = rt.make_array<double>("other", {0}, {5});
  auto u = model.make_array<double>("u", {10}), v = rt.make_array<double>("v", {10}, {5});
  fill(rt, u, 1);
  model.region("none", iterate(0, 0), write(none), [](auto i, auto x) { x[i] = 1; });
  model.region(
      "beside", {.policy = policy::percentage({20, 80})}, iterate(0, 10), read(u.rows(3, 3)), read(none, whole),
      read(other, whole), write(v),
      with_kernel([](auto i, auto, auto, auto, auto v) { v[i] = double(i); }, "(i, u, n, o, v) { v[i] = i; }"));
  const std::uint64_t before = rt.tasks_submitted();
  fill(rt, none, 1);
  fill(rt, other, 1);
  fill(rt, u.rows(3, 3), 7);
  fill(rt, v.rows(7, 7), 7);
  scal(rt, 2, u.rows(10, 10));
  axpy(rt, 1, u.rows(3, 3), v.rows(8, 8));
  axpy(rt, 1, none, other);
  axpy(rt, 1, none, u.rows(5, 5));
  model.copy(none, other);
  model.copy(u.rows(3, 3), v.rows(7, 7));
  EXPECT_EQ(rt.tasks_submitted(), before);
  EXPECT_EQ(v.read()[7], 7);
  EXPECT_EQ(u.read()[3], 1);
  EXPECT_THAT(error_of([&] { axpy(rt, 1, none, u); }).what(), HasSubstr("axpy of 0 rows of 1 elements and 10 rows"));
}

TEST(reversed_rows, are_refused_at_every_door) {
  runtime rt(testing::host_only(2));
  location_model model(rt);
  auto x = model.make_array<double>("x", {10}), y = rt.make_array<double>("y", {10}, {5});
  fill(rt, y, 1);
  const auto refuses = [&](auto&& call) {
    const std::uint64_t before = rt.tasks_submitted();
    const error e = error_of(call);
    EXPECT_EQ(e.kind(), error_kind::usage) << e.what();
    EXPECT_THAT(e.what(), AllOf(HasSubstr("rows 5 to 3 of array '"), HasSubstr("which has 10 rows"),
                                HasSubstr("some_rows_test.cpp")));
    EXPECT_THAT(e.hint(), HasSubstr("rows(first, last) are those from first to last - 1"));
    EXPECT_EQ(rt.tasks_submitted(), before);
  };
  const auto one = [](auto) {};
  for (const array<double>& a : {x, y}) {
    const auto reversed = a.rows(5, 3);
    refuses([&] { rt.submit("t", one, read(reversed)); });
    refuses([&] { rt.submit("t", one, write(reversed)); });
    refuses([&] { rt.submit("t", one, update(reversed)); });
    refuses([&] { rt.submit("t", one, commute(reversed)); });
    refuses([&] { rt.submit("t", one, accumulate(reversed)); });
    refuses([&] { rt.submit("t", one, accumulate(reversed, minimum)); });
    refuses([&] { rt.submit("t", one, scratch(reversed)); });
    refuses([&] { (void)reversed.read(); });
    refuses([&] { (void)reversed.write(); });
    refuses([&] { (void)reversed.update(); });
    refuses([&] { fill(rt, reversed, 1); });
    refuses([&] { scal(rt, 1, reversed); });
    refuses([&] { axpy(rt, 1, reversed, reversed); });
    refuses([&] { model.copy(reversed, a.rows(0, 2)); });
    refuses([&] { model.copy(a.rows(0, 2), reversed); });
    refuses([&] { model.region("r", iterate(0, 2), read(reversed), [](auto, auto) {}); });
    refuses([&] { model.region("r", iterate(0, 2), read(a, rows(5, 3)), [](auto, auto) {}); });
  }
  EXPECT_THAT(error_of([&] { fill(rt, x.rows(0, -1), 1); }).what(), HasSubstr("names rows 0 to -1 of array 'x'"));
}

/// Blocks that have a part of a row only: there are no rows of their array.
TEST(rows_of_other_cuts, are_refused_at_every_door) {
  runtime rt(testing::host_only(2));
  location_model model(rt);
  auto tiles = rt.make_array<double>("tiles", {10, 10}, {5, 5});
  auto x = model.make_array<double>("x", {10, 10});
  fill(rt, tiles, 1);
  const auto refuses = [&](auto&& call) {
    const std::uint64_t before = rt.tasks_submitted();
    const error e = error_of(call);
    EXPECT_EQ(e.kind(), error_kind::usage) << e.what();
    EXPECT_THAT(e.what(), AllOf(HasSubstr("array 'tiles' is cut into blocks along dimension 1 too"),
                                HasSubstr("some_rows_test.cpp")));
    EXPECT_THAT(e.hint(), HasSubstr("cut the array along its first dimension alone, or make it without blocks"));
    EXPECT_EQ(rt.tasks_submitted(), before);
  };
  const auto one = [](auto) {};
  for (const std::int64_t last : {5, 10, 0}) {
    const auto some = tiles.rows(0, last);
    refuses([&] { rt.submit("t", one, read(some)); });
    refuses([&] { rt.submit("t", one, write(some)); });
    refuses([&] { rt.submit("t", one, update(some)); });
    refuses([&] { rt.submit("t", one, commute(some)); });
    refuses([&] { rt.submit("t", one, accumulate(some)); });
    refuses([&] { rt.submit("t", one, accumulate(some, maximum)); });
    refuses([&] { rt.submit("t", one, scratch(some)); });
    refuses([&] { (void)some.read(); });
    refuses([&] { (void)some.write(); });
    refuses([&] { (void)some.update(); });
    refuses([&] { fill(rt, some, 1); });
    refuses([&] { scal(rt, 1, some); });
    refuses([&] { axpy(rt, 1, some, x.rows(0, last)); });
    refuses([&] { axpy(rt, 1, x.rows(0, last), some); });
    refuses([&] { model.copy(some, x.rows(0, last)); });
    refuses([&] { model.copy(x.rows(0, last), some); });
    refuses([&] { model.region("r", iterate(0, 2), read(some), [](auto, auto) {}); });
  }
  refuses([&] { rt.submit("t", one, read(tiles)); });
  refuses([&] { rt.submit("t", one, update(tiles)); });
  refuses([&] { rt.submit("t", one, commute(tiles)); });
  refuses([&] { rt.submit("t", one, accumulate(tiles)); });
  refuses([&] { rt.submit("t", one, accumulate(tiles, minimum)); });
  refuses([&] { rt.submit("t", one, scratch(tiles)); });
  refuses([&] { (void)tiles.read(); });
  refuses([&] { (void)tiles.write(); });
  refuses([&] { (void)tiles.update(); });
  refuses([&] { model.copy(tiles, x); });
  refuses([&] { model.copy(x, tiles); });
  refuses([&] { axpy(rt, 1, tiles, x); });
  refuses([&] { model.region("r", iterate(0, 10), read(tiles), [](auto, auto) {}); });
  refuses([&] { model.region("r", iterate(0, 10), write(tiles), [](auto, auto) {}); });
  fill(rt, tiles, 2);  // over its blocks
  EXPECT_EQ(tiles(1, 1).read()(4, 4), 2);
}

using intents_of_rows = task_rows;
INSTANTIATE_TEST_SUITE_P(machines, intents_of_rows, rows_settings(), rows_setting::name_of);

TEST_P(intents_of_rows, commute_in_any_order) {
  auto free = model.make_array<std::int64_t>("free", {100, 2}),
       blocks = rt.make_array<std::int64_t>("b", {100, 2}, {30, 2});
  fill(rt, blocks, 0);
  for (array<std::int64_t, 2>& x : std::vector{free, blocks}) {
    for (std::int64_t k = 0; k < 40; ++k)
      rt.submit(
          "more",
          [k](auto x) {
            for (std::int64_t& v : x) v += k;
          },
          commute(x.rows(20 + k % 3, 70)));
    rt.submit(
        "end", [](auto x) { x(99, 1) = x(69, 0); }, update(x));
    const auto seen = x.read();
    EXPECT_EQ(seen(19, 0), 0);
    EXPECT_EQ(seen(20, 0), 3 * 13 * 14 / 2);  // of each third task
    EXPECT_EQ(seen(22, 1), 39 * 40 / 2);
    EXPECT_EQ(seen(70, 0), 0);
    EXPECT_EQ(seen(99, 1), 39 * 40 / 2);
  }
}

TEST_P(intents_of_rows, accumulate_into_private_copies) {
  auto free = model.make_array<double>("free", {100, 2}), blocks = rt.make_array<double>("blocks", {100, 2}, {30, 2});
  auto most = model.make_array<std::int64_t>("most", {50});
  fill(rt, free, 1);
  fill(rt, blocks, 1);
  const auto step = [&] {
    for (array<double, 2>& x : std::vector{free, blocks})
      for (int k = 0; k < 12; ++k)
        rt.submit(
            "add",
            [](auto x) {
              for (std::int64_t i = x.first(); i < x.last(); ++i) x(i, 1) += double(i);
            },
            accumulate(x.rows(k % 2 == 0 ? 20 : 40, 70)));
    for (std::int64_t k = 0; k < 10; ++k)
      rt.submit(
          "most", [k](auto m) { m[20 + k] = std::max(m[20 + k], 7 * k), m[25] = std::max(m[25], k); },
          accumulate(most.rows(20, 40), maximum));
  };
  step();
  recording steps = rt.record(step);
  rt.replay(steps);
  rt.replay(steps);
  for (const array<double, 2>& x : {free, blocks}) {
    const auto seen = x.read();
    for (std::int64_t i = 0; i < 100; ++i) {
      const double times = i < 20 || i >= 70 ? 0 : i < 40 ? 6 : 12;
      ASSERT_EQ(seen(i, 0), 1) << i;
      ASSERT_EQ(seen(i, 1), 1 + 3 * times * double(i)) << i;
    }
  }
  rt.submit(
      "whole", [](auto m) { m[0] += 1; }, accumulate(most));
  rt.submit(
      "whole", [](auto m) { m[1] = 100; }, accumulate(most, maximum));
  rt.submit(
      "whole", [](auto m) { m[2] += 3; }, commute(most));
  const auto m = most.read();
  EXPECT_EQ(m[0] + 10 * m[1] + m[2], 1 + 1000 + 3);
  EXPECT_EQ(m[19], 0);
  EXPECT_EQ(m[20], 0);
  EXPECT_EQ(m[25], 35);
  EXPECT_EQ(m[29], 63);
  EXPECT_EQ(m[30], 0);
}

TEST_P(intents_of_rows, scratch_has_whole_blocks) {
  auto free = model.make_array<double>("free", {100}), blocks = rt.make_array<double>("blocks", {100}, {30});
  auto sum = rt.make_array<double>("sum", {1}, {1});
  fill(rt, free, 1);
  fill(rt, blocks, 1);
  for (array<double>& x : std::vector{free, blocks}) {
    rt.submit(
        "room",
        [](auto room, auto sum) {
          std::iota(room.begin(), room.end(), 0.0);
          sum[0] = std::accumulate(room.begin(), room.end(), 0.0);
        },
        scratch(x.rows(30, 90)), write(sum(0)));
    EXPECT_EQ(sum(0).read()[0], 59 * 60 / 2);
    EXPECT_EQ(x.rows(0, 30).read()[29], 1);
    EXPECT_EQ(x.rows(90, 100).read()[95], 1);
    EXPECT_THAT(error_of([&] { (void)x.rows(40, 50).read(); }).what(), HasSubstr("before it was ever written"));
    fill(rt, x.rows(30, 90), 2);
    EXPECT_EQ(x.read()[89], 2);
  }
  auto again = model.make_array<double>("again", {100});
  rt.submit(
      "lost", [](auto) {}, scratch(again.rows(10, 90)));
  rt.submit(
      "part", [](auto x) { std::ranges::fill(x, 1); }, write(again.rows(0, 30)));  // some of the same rows
  rt.submit(
      "part", [](auto x) { std::ranges::fill(x, 2); }, write(again.rows(30, 95)));
  rt.fence();
  EXPECT_EQ(again.read()[29], 1);
  EXPECT_EQ(again.read()[94], 2);
  auto room = rt.make_array<double>("room", {100}, {30});
  rt.submit(
      "whole", [](auto room) { std::ranges::fill(room, 1); }, scratch(room));
  const error e = error_of([&] {
    rt.submit(
        "room", [](auto) {}, scratch(blocks.rows(31, 90)));
  });
  EXPECT_EQ(e.kind(), error_kind::usage);
  EXPECT_THAT(e.what(), AllOf(HasSubstr("task 'room' has rows 31 to 90 of array 'blocks' as scratch, whose blocks are "
                                        "rows 30 to 90: the others would be lost"),
                              HasSubstr("some_rows_test.cpp")));
  EXPECT_THAT(e.hint(), HasSubstr("name whole blocks, here rows(30, 90)"));
}

/// An array in blocks has no elements before they are written; rows of it may be written in any pieces.
using first_writes = task_rows;
INSTANTIATE_TEST_SUITE_P(machines, first_writes, rows_settings(), rows_setting::name_of);

TEST_P(first_writes, of_parts_of_blocks_make_them) {
  const auto count = [](auto x) { std::iota(x.begin(), x.end(), double(x.first())); };
  const auto is_whole = [](const array<double>& x) {
    const auto seen = x.read();
    for (std::int64_t i = 0; i < 100; ++i) {
      if (seen[i] != double(i)) return i;
    }
    return std::int64_t{-1};
  };
  auto tasks = rt.make_array<double>("tasks", {100}, {30});
  for (const auto& [first, last] : {std::pair(50, 95), std::pair(0, 10), std::pair(10, 50), std::pair(95, 100)})
    rt.submit("part", count, write(tasks.rows(first, last)));
  EXPECT_EQ(is_whole(tasks), -1);
  auto views = rt.make_array<double>("views", {100}, {30});
  for (const auto& [first, last] : {std::pair(50, 95), std::pair(0, 10), std::pair(10, 50), std::pair(95, 100)})
    count(views.rows(first, last).write());
  EXPECT_EQ(is_whole(views), -1);
  auto loops = rt.make_array<double>("loops", {100}, {30});
  const auto body = with_kernel([](auto i, auto x) { x[i] = double(i); }, "(i, x) { x[i] = i; }");
  model.region("middle", {.policy = policy::percentage({50, 50})}, iterate(25, 75), write(loops), body);
  model.region("even", iterate(0, 26, 2), write(loops), body);
  model.region("odd", iterate(1, 26, 2), write(loops), body);
  model.region("rest", iterate(75, 100), write(loops), body);
  EXPECT_EQ(is_whole(loops), -1);
  auto copied = rt.make_array<double>("copied", {100}, {30});
  model.copy(loops.rows(45, 100), copied.rows(45, 100));
  model.copy(loops.rows(0, 45), copied.rows(0, 45));
  EXPECT_EQ(is_whole(copied), -1);
  auto replayed = rt.make_array<double>("replayed", {100}, {30});
  recording parts = rt.record([&] {
    rt.submit("part", count, write(replayed.rows(50, 100)));
    model.region("part", iterate(0, 50), write(replayed), body);
  });
  rt.replay(parts);
  rt.submit(
      "between", [](auto x) { x[40] = x[60] = -1; }, update(replayed));
  rt.replay(parts);
  EXPECT_EQ(is_whole(replayed), -1);
  auto kept = rt.make_array<double>("kept", {100}, {100});
  recording part = rt.record([&] { rt.submit("part", count, write(kept.rows(50, 100))); });
  rt.replay(part);
  rt.submit("other", count, write(kept.rows(0, 50)));
  rt.replay(part);  // which keeps what the other task has written
  EXPECT_EQ(is_whole(kept), -1);
}

TEST_P(first_writes, are_what_reads_and_updates_need) {
  auto h = rt.make_array<double>("h", {20}, {10});
  rt.submit(
      "part", [](auto h) { std::ranges::fill(h, 1); }, write(h.rows(2, 8)));
  rt.fence();
  rt.submit(
      "reads", [](auto) {}, read(h.rows(5, 12)));
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("h(1) is read before it was ever written"));
  rt.submit(
      "updates", [](auto) {}, update(h.rows(12, 14)));
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("h(1) is updated before it was ever written"));
  rt.submit(
      "fails", [](auto) { throw std::runtime_error("no"); }, write(h.rows(0, 10)));
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("no"));
  rt.submit(
      "part", [](auto h) { std::ranges::fill(h, 1); }, write(h.rows(2, 8)));  // of what failed
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("fails"));
}

TEST(first_writes_validated, find_who_reads_what_nobody_wrote) {
  machine m = testing::host_only(2);
  m.settings.validate = true;
  runtime rt(std::move(m));
  auto h = rt.make_array<double>("h", {20}, {20}), y = rt.make_array<double>("y", {20}, {20});
  rt.submit(
      "part", [](auto h) { std::ranges::fill(h, 1); }, write(h.rows(0, 8)));
  rt.submit(
      "more", [](auto h) { std::ranges::fill(h, 2); }, write(h.rows(8, 12)));
  const auto twice = [](auto h, auto y) {
    for (std::int64_t i = y.first(); i < y.last(); ++i) y[i] = 2 * h[i];
  };
  rt.submit(
      "inside", [twice](auto h, auto y) { twice(h, y); }, read(h.rows(0, 12)), write(y.rows(1, 12)));
  rt.fence();
  rt.submit(
      "beyond", [twice](auto h, auto y) { twice(h, y); }, read(h.rows(8, 14)), write(y.rows(8, 14)));
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(),
              AllOf(HasSubstr("task 'beyond' computed 2 of 20 elements of y(0) from elements that nobody had written, "
                              "the first one 12"),
                    HasSubstr("some rows of h(0) were written and others were not"), HasSubstr("task 'more'")));
  rt.submit(
      "rest", [](auto h) { std::ranges::fill(h, 3); }, write(h.rows(12, 20)));
  rt.submit(
      "all", [twice](auto h, auto y) { twice(h, y); }, read(h), write(y));
  rt.fence();
  EXPECT_EQ(y.read()[19], 6);
}

}  // namespace
}  // namespace tessera
