// What is kept of launches, and the text of their kernels.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <source_location>
#include <string>
#include <tessera/detail/runtime.hpp>
#include <thread>
#include <vector>

#include "hierarchy/policy/policy.hpp"
#include "hierarchy/region/kernel_text.hpp"
#include "hierarchy/region/launch_history.hpp"
#include "hierarchy/region/launch_span.hpp"
#include "hierarchy/region/leaf_times.hpp"
#include "hierarchy/region/live_tree.hpp"
#include "hierarchy/region/plan.hpp"
#include "hierarchy/region/sweep.hpp"
#include "tests/support/error_of.hpp"

namespace tessera::hierarchy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

piece part(location::node_id leaf, std::uint64_t begin, std::uint64_t end, bool on_device = false) {
  return {leaf, leaf, begin, end, on_device, leaf};
}
std::shared_ptr<const plan> planned(std::vector<piece> pieces) {
  plan made;
  for (const piece& p : pieces) made.leaves.push_back(p.leaf);
  made.pieces = std::move(pieces);
  return std::make_shared<const plan>(std::move(made));
}

TEST(one_task, has_all_pieces_and_runs_where_the_first_one_does) {
  const auto made = planned({part(1, 0, 4), part(2, 4, 5), part(3, 5, 20)});
  const auto one = as_one_task(made);
  ASSERT_EQ(one->pieces.size(), 1u);
  EXPECT_EQ(one->pieces[0].begin, 0u);
  EXPECT_EQ(one->pieces[0].end, 20u);
  EXPECT_EQ(one->pieces[0].leaf, 1u);
  EXPECT_THAT(one->leaves, ElementsAre(1, 2, 3)) << "that take part";
  const auto single = planned({part(1, 0, 4)}), none = planned({});
  EXPECT_EQ(as_one_task(single), single);
  EXPECT_EQ(as_one_task(none), none);
}

TEST(fitted_plans, keep_pieces_of_the_host_and_cut_those_of_devices_without_a_gap) {
  const auto made = planned({part(1, 0, 100), part(2, 100, 107, true), part(3, 107, 200)});
  const auto fit =
      fitted(made, {.of_all = 0, .per_task = 0, .per_iteration = 10}, [](location::node_id) { return 60; });
  ASSERT_GT(fit->pieces.size(), 3u);
  EXPECT_EQ(fit->pieces.front(), made->pieces.front());
  EXPECT_EQ(fit->pieces.back(), made->pieces.back());
  std::uint64_t at = 0;
  for (const piece& p : fit->pieces) {
    EXPECT_EQ(p.begin, at);
    EXPECT_LT(p.begin, p.end);
    if (p.on_device) {
      EXPECT_LE((p.end - p.begin) * 10, 30u) << "two of them fit";
    }
    at = p.end;
  }
  EXPECT_EQ(at, 200u);
  EXPECT_EQ(fit->leaves, made->leaves);
}

TEST(fitted_plans, ask_each_device_for_its_own_memory) {
  const auto made = planned({part(1, 0, 100, true), part(2, 100, 200, true)});
  const auto fit = fitted(made, {.of_all = 0, .per_task = 0, .per_iteration = 1},
                          [](location::node_id device) { return device == 1 ? 1'000'000 : 40; });
  EXPECT_EQ(fit->pieces[0], made->pieces[0]);
  EXPECT_GT(fit->pieces.size(), 2u);
}

TEST(sweeps, give_priorities_that_fit_their_type_however_many_parts_there_are) {
  std::vector<piece> pieces;
  for (std::uint64_t k = 0; k < 40'000; ++k) pieces.push_back(part(1, k, k + 1, true));
  pieces.push_back(part(2, 40'000, 40'001));
  const plan made{{1, 2}, std::move(pieces)};
  EXPECT_TRUE(goes_in_parts(made));
  for (const bool back : {false, true}) {
    const sweep s{.in_parts = true, .back = back};
    std::int16_t last = back ? std::numeric_limits<std::int16_t>::min() : 0;
    for (std::size_t k = 0; k < 40'000; ++k) {
      const std::int16_t now = s.priority_of(made, k);
      EXPECT_LT(now, 0);
      if (back) {
        EXPECT_GE(now, last) << k;
      } else {
        EXPECT_LE(now, last) << k;
      }
      last = now;
    }
    EXPECT_EQ(s.priority_of(made, 40'000), 0) << "the host goes in no parts";
  }
  EXPECT_EQ(sweep{}.priority_of(made, 5), 0);
}

TEST(seen_launches, that_nobody_takes_are_kept_up_to_a_number) {
  seen_launches seen;
  for (std::int64_t k = 0; k < 200; ++k) seen.note("r" + std::to_string(k), {1, 2}, 10 * k + 1, 10 * k + 6);
  const auto all = seen.take();
  EXPECT_EQ(all.size(), 64u);
  EXPECT_EQ(all.front().region, "r0");
  EXPECT_DOUBLE_EQ(all.front().seconds, 5e-9);
  EXPECT_THAT(seen.take(), IsEmpty());
  seen.note("later", {}, 10'000, 10'001);
  EXPECT_EQ(seen.take().size(), 1u);
}

TEST(seen_launches, of_a_launch_inside_another_one_nothing_is_left) {
  seen_launches seen;
  seen.note("outer", {}, 100, 200);
  seen.note("inner", {}, 120, 180);
  seen.note("behind", {}, 150, 260);
  const auto all = seen.take();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].region, "behind");
  EXPECT_DOUBLE_EQ(all[1].seconds, 60e-9) << "from the end of what was before";
}

TEST(launch_spans, go_from_the_first_begin_to_the_last_end_whoever_tells_first) {
  const auto seen = std::make_shared<seen_launches>();
  {
    launch_span span(seen, "r", {1});
    std::vector<std::thread> all;
    for (std::int64_t k = 1; k <= 4; ++k) all.emplace_back([&span, k] { span.note(1'000 * k, 1'000 * k + 500); });
    for (std::thread& one : all) one.join();
  }
  { const launch_span nothing_ran(seen, "none", {}); }
  const auto all = seen->take();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_DOUBLE_EQ(all[0].seconds, 3'500e-9);
}

TEST(region_times, begin_with_what_was_kept_where_nothing_is_known) {
  region_leaf_times times;
  EXPECT_FALSE(times.cost().known());
  times.begin_with({});
  EXPECT_FALSE(times.cost().known()) << "nothing was kept";
  times.begin_with({.fixed = 1, .per_iteration = 2});
  EXPECT_DOUBLE_EQ(times.cost().per_iteration, 2);
  times.begin_with({.fixed = 1, .per_iteration = 50});
  EXPECT_DOUBLE_EQ(times.cost().per_iteration, 2) << "what is known stays";
}

TEST(region_times, of_tasks_are_counted_while_they_are_there_and_noted_when_wanted) {
  const auto work = std::make_shared<leaf_work>();
  const auto times = std::make_shared<region_leaf_times>();
  const auto long_ago = detail::steady_now() - 100'000'000'000;  // ns
  {
    const detail::piece_count first(work, times, nullptr), second(work, nullptr, nullptr);
    EXPECT_EQ(work->under_way, 2u);
    EXPECT_EQ(times->under_way, 1u);
    {
      const times_not_noted quiet;
      detail::note_piece(first, 10, long_ago);
    }
    detail::note_piece(first, 0, long_ago);  // of no iteration
    EXPECT_FALSE(times->cost().known());
    detail::note_piece(first, 10, long_ago);
    EXPECT_GE(times->cost().seconds(10), 50);
    detail::note_kernel(first, 10, long_ago);  // without a clock: it was no device
  }
  EXPECT_EQ(work->under_way, 0u);
  EXPECT_EQ(times->under_way, 0u);
}

/// A history of a runtime that keeps nothing for later ones.
struct noted_launches {
  noted_launches() {
    location::properties root;
    root.name = "machine";
    tree = std::make_unique<location::tree>(root);
    for (const char* const name : {"left", "right"}) {
      location::properties leaf;
      leaf.kind = location::kind::worker;
      leaf.name = name;
      leaves.push_back(tree->add(0, leaf));
    }
  }
  void launch(const std::string& region, const std::vector<piece>& pieces = {}) {
    is.note(is.of(region), {.at = 0,
                            .rule = std::make_shared<const policy>(policy::parse("static")),
                            .iterations = 10,
                            .split = planned(pieces)});
  }
  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const region_row& row : is.rows(*tree)) all.push_back(row.name);
    return all;
  }
  runtime of{start_options{.settings = {"runtime.history=off"}, .workers = 1}};
  std::unique_ptr<location::tree> tree;
  std::vector<location::node_id> leaves;
  launch_history is{of};
};

TEST(launch_history, has_a_row_for_each_region_in_the_order_of_their_first_launches) {
  noted_launches h;
  EXPECT_THAT(h.names(), IsEmpty());
  const auto looked_at = h.is.of("never launched");
  EXPECT_EQ(looked_at->name, "never launched");
  for (const char* const name : {"b", "a", "b", "c"}) h.launch(name);
  EXPECT_THAT(h.names(), ElementsAre("b", "a", "c"));
  EXPECT_EQ(h.is.rows(*h.tree)[0].launches, 2u);
}

TEST(launch_history, adds_up_the_pieces_of_each_leaf) {
  noted_launches h;
  const location::node_id left = h.leaves[0], right = h.leaves[1];
  h.launch("r", {part(left, 0, 3), part(right, 3, 5), part(left, 5, 10)});
  const region_row row = h.is.rows(*h.tree)[0];
  EXPECT_EQ(row.location, "machine");
  EXPECT_EQ(row.policy, "static");
  EXPECT_EQ(row.iterations, 10u);
  ASSERT_EQ(row.shares.size(), 2u);
  EXPECT_EQ(row.shares[0].leaf, "left");
  EXPECT_EQ(row.shares[0].iterations, 8u);
  EXPECT_EQ(row.shares[0].tasks, 2u);
  EXPECT_EQ(row.shares[1].iterations, 2u);
}

TEST(launch_history, tells_the_last_launch_of_a_region) {
  noted_launches h;
  h.launch("r", {part(h.leaves[0], 0, 10)});
  h.launch("r", {part(h.leaves[1], 0, 10)});
  const region_row row = h.is.rows(*h.tree)[0];
  ASSERT_EQ(row.shares.size(), 1u);
  EXPECT_EQ(row.shares[0].leaf, "right");
}

TEST(launch_history, of_very_many_regions_forgets_those_that_were_not_launched_for_longest) {
  noted_launches h;
  h.launch("old");
  h.launch("used again and again");
  for (int k = 0; k < 9'000; ++k) {
    h.launch("r" + std::to_string(k));
    if (k % 100 == 0) h.launch("used again and again");
  }
  const auto names = h.names();
  EXPECT_LE(names.size(), 8'192u);
  EXPECT_THAT(names, ::testing::Contains("used again and again"));
  EXPECT_THAT(names, ::testing::Contains("r8999"));
  EXPECT_THAT(names, Not(::testing::Contains("old")));
}

TEST(launch_history, an_entry_that_is_forgotten_lives_as_long_as_its_tasks) {
  noted_launches h;
  h.launch("old");
  const auto times = h.is.times_of(h.is.of("old"), part(h.leaves[0], 0, 1), true);
  for (int k = 0; k < 9'000; ++k) h.launch("r" + std::to_string(k));
  times->note(10, 5);
  EXPECT_TRUE(times->cost().known());
  EXPECT_FALSE(h.is.of("old")->leaves.contains(h.leaves[0])) << "it is another one";
}

TEST(launch_history, times_are_wanted_where_the_policy_learns_and_of_devices) {
  noted_launches h;
  const auto of = h.is.of("r");
  EXPECT_EQ(h.is.times_of(of, part(h.leaves[0], 0, 1), false), nullptr);
  EXPECT_NE(h.is.times_of(of, part(h.leaves[0], 0, 1), true), nullptr);
  const auto device = h.is.times_of(of, part(h.leaves[1], 0, 1, true), false);
  ASSERT_NE(device, nullptr);
  ASSERT_NE(device->clock, nullptr);
  const auto other = h.is.times_of(h.is.of("other"), part(h.leaves[1], 0, 1, true), false);
  EXPECT_EQ(other->clock, device->clock) << "a device has one, whichever region runs there";
  EXPECT_NE(other.get(), device.get());
}

TEST(launch_history, has_no_shares_before_anything_is_known_and_more_for_the_faster_leaf_afterwards) {
  noted_launches h;
  const auto of = h.is.of("r");
  std::vector<leaf_cost> costs(2);
  std::shared_ptr<launch_span> span;
  const auto shares = [&](bool recorded) {
    return h.is.shares(*of,
                       {.iterations = 1000,
                        .leaves = h.leaves,
                        .costs = costs,
                        .moving = std::vector<double>(2),
                        .arrays = {},
                        .recorded = recorded},
                       span);
  };
  EXPECT_TRUE(shares(false).empty());
  EXPECT_EQ(span, nullptr);
  costs = {{.fixed = 0, .per_iteration = 1e-3}, {.fixed = 0, .per_iteration = 3e-3}};
  const leaf_shares known = shares(true);
  ASSERT_EQ(known.size(), 2u);
  EXPECT_GT(known[0], known[1]);
  EXPECT_EQ(span, nullptr) << "of a recording no launch is looked at";
}

std::string text_of_kernel(std::string_view body, const kernel_shape& shape) {
  return kernel_source(body, shape, "r", std::source_location::current());
}

TEST(kernel_text, a_reduction_begins_with_what_changes_nothing_and_joins_in_a_tree) {
  using detail::reduction_kind;
  struct reduced {
    reduction_kind how;
    element_type type;
    const char *begins, *joins;
  };
  const std::string here = "tessera_s_of[THREAD_X]", there = "tessera_s_of[THREAD_X + tessera_half]";
  for (const reduced& one : {
           reduced{reduction_kind::sum, element_type::f64, "double s = 0;", "{0} + {1}"},
           reduced{reduction_kind::product, element_type::f32, "float s = 1;", "{0} * {1}"},
           reduced{reduction_kind::minimum, element_type::f64, "double s = (1.0 / 0.0);", "{1} < {0} ? {1} : {0}"},
           reduced{reduction_kind::maximum, element_type::f32, "float s = (-1.0f / 0.0f);", "{1} > {0} ? {1} : {0}"},
           reduced{reduction_kind::minimum, element_type::i32, "int s = 2147483647;", "{1} < {0} ? {1} : {0}"},
           reduced{reduction_kind::maximum, element_type::i32, "int s = (-2147483647 - 1);", "{1} > {0} ? {1} : {0}"},
           reduced{reduction_kind::minimum, element_type::i64, "long s = 9223372036854775807L;",
                   "{1} < {0} ? {1} : {0}"},
           reduced{reduction_kind::maximum, element_type::i64, "long s = (-9223372036854775807L - 1);",
                   "{1} > {0} ? {1} : {0}"},
           reduced{reduction_kind::minimum, element_type::u8, "unsigned char s = 255;", "{1} < {0} ? {1} : {0}"},
           reduced{reduction_kind::maximum, element_type::u8, "unsigned char s = 0;", "{1} > {0} ? {1} : {0}"},
           reduced{reduction_kind::all, element_type::u8, "unsigned char s = 1;", "{0} && {1}"},
           reduced{reduction_kind::any, element_type::u8, "unsigned char s = 0;", "{0} || {1}"},
       }) {
    const std::string made = text_of_kernel("(i, s) { s = s; }", {1, {{one.type, true, 1, 1, one.how}}, {}});
    EXPECT_THAT(made, HasSubstr(one.begins));
    EXPECT_THAT(made, HasSubstr(here + " = " + fmt::format(fmt::runtime(one.joins), here, there) + ";"));
    EXPECT_THAT(made, HasSubstr("tessera_s_to[GROUP_X] = tessera_s_of[0];"));
    EXPECT_THAT(made, HasSubstr("tessera_at += (long)GROUPS_X * THREADS_X")) << "with the threads that there are";
  }
}

TEST(kernel_text, without_reductions_has_a_thread_per_iteration) {
  const std::string made = text_of_kernel("(i, x) { x[i] = 1; }", {1, {{element_type::f64, true, 1, 1}}, {}});
  EXPECT_THAT(made, HasSubstr("const long tessera_at = INDEX_X;\n  if (tessera_at < tessera_all)"));
  EXPECT_THAT(made, Not(HasSubstr("BARRIER")));
  EXPECT_THAT(made, HasSubstr("#pragma STDC FP_CONTRACT OFF"));
}

TEST(kernel_text, has_an_index_for_each_loop) {
  const kernel_use x{element_type::f32, true, 1, 1};
  EXPECT_THAT(text_of_kernel("(i, x) { }", {1, {x}, {}}),
              HasSubstr("const long i = tessera_first + tessera_at * tessera_step;"));
  const std::string two = text_of_kernel("(i, j, x) { }", {2, {x}, {}});
  EXPECT_THAT(two, HasSubstr("const long i = tessera_first + tessera_at / tessera_count1 * tessera_step;"));
  EXPECT_THAT(two, HasSubstr("const long j = tessera_begin1 + tessera_at % tessera_count1;"));
  EXPECT_THAT(two, HasSubstr("tessera_all = tessera_count0 * tessera_count1;"));
  const std::string three = text_of_kernel("(i, j, k, x) { }", {3, {x}, {}});
  EXPECT_THAT(three, HasSubstr("const long j = tessera_begin1 + tessera_at / tessera_count2 % tessera_count1;"));
  EXPECT_THAT(three, HasSubstr("const long k = tessera_begin2 + tessera_at % tessera_count2;"));
}

TEST(kernel_text, parameters_are_in_the_order_that_the_caller_sets_them) {
  const std::string made =
      text_of_kernel("(i, j, a, b, s, alpha, n) { }", {2,
                                                       {{element_type::f32, false, 2, 1},
                                                        {element_type::f64, true, 1, 3},
                                                        {element_type::i32, true, 1, 1, detail::reduction_kind::sum}},
                                                       {element_type::f64, element_type::i64}});
  EXPECT_THAT(made, HasSubstr("KERNEL void tessera_region(long tessera_first, long tessera_step, long tessera_count0, "
                              "long tessera_begin1, long tessera_count1, "
                              "GLOBAL const float* tessera_a_at0, long tessera_a_from0, "
                              "GLOBAL const float* tessera_a_at1, long tessera_a_from1, "
                              "GLOBAL double* tessera_b_at0, long tessera_b_from0, long tessera_b_second, long "
                              "tessera_b_third, GLOBAL int* tessera_s_to, double alpha, long n)"));
  EXPECT_THAT(made, HasSubstr("typedef double b_element;"));
  EXPECT_THAT(made, HasSubstr("FUNCTION GLOBAL const float* tessera_in_a(long p, GLOBAL const float* t0, GLOBAL const "
                              "float* t1, long f1) { return p < f1 ? t0 + p : t1 + p; }"));
  EXPECT_THAT(made, Not(HasSubstr("tessera_in_b"))) << "one tile is found without looking";
}

TEST(kernel_text, indices_of_an_array_count_by_its_own_rank) {
  const auto use_of_rank = [](std::size_t rank, std::string_view body) {
    return text_of_kernel(body, {1, {{element_type::f64, true, 1, rank}}, {}});
  };
  EXPECT_THAT(use_of_rank(3, "(i, x) { x(i, 1, 2) = 0; }"),
              HasSubstr("x[(((long)(i) * tessera_x_second + ( 1)) * tessera_x_third + ( 2))] = 0;"));
  EXPECT_THAT(use_of_rank(2, "(i, x) { x(i) = 0; }"), HasSubstr("x[(((long)(i) * tessera_x_second))] = 0;"))
      << "the first of its row";
}

TEST(kernel_text, names_behind_a_dot_or_an_arrow_are_fields) {
  const std::string made =
      text_of_kernel("(i, x) { p.x = 1; q->x = 2; x[i] = 3; }", {1, {{element_type::f64, true, 1, 1}}, {}});
  EXPECT_THAT(made, HasSubstr("p.x = 1; q->x = 2; x[(long)(i)] = 3;"));
}

TEST(kernel_text, the_file_of_a_message_has_nothing_that_ends_it) {
  const std::string made = kernel_source("(i, x) { }", {1, {{element_type::f64, true, 1, 1}}, {}}, "a \"b\"\\c\n",
                                         std::source_location::current());
  const std::size_t line = made.find("#line 1 \"");
  ASSERT_NE(line, std::string::npos);
  const std::string file = made.substr(line + 9, made.find('\n', line) - line - 9);
  EXPECT_THAT(file, ::testing::EndsWith(": text of region a bc\""));
  EXPECT_EQ(std::ranges::count(file, '"'), 1);
}

}  // namespace
}  // namespace tessera::hierarchy
