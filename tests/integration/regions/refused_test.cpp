// What a region refuses, and what it says then.
// The parameters of a body have the names of the arrays that they stand for.
#pragma GCC diagnostic ignored "-Wshadow"
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>

#include "tessera/region.hpp"
#include "tests/integration/runtime/machines.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using test_support::error_of;

struct refused_regions : ::testing::Test {
  runtime rt{testing::with_sims(1, "16 MiB")};
  location_model model{rt};
  array<double> x = model.make_array<double>("x", {100}), y = model.make_array<double>("y", {50});

  template <class... Rest>
  void refuses(error_kind kind, const char* text, const char* hint, const Rest&... rest) {
    const std::uint64_t before = rt.tasks_submitted();
    const error e = error_of([&] { model.region("loop", rest...); });
    EXPECT_EQ(e.kind(), kind) << e.what();
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find(hint), std::string::npos) << e.what();
    EXPECT_EQ(rt.tasks_submitted(), before);
  }
};

constexpr auto nothing = [](auto...) {};

TEST_F(refused_regions, rows_that_do_not_exist) {
  refuses(error_kind::usage, "iteration 99 has no row in array 'y', which has 50 rows", "first loop is the row",
          iterate(0, 100), read(x), write(y), nothing);
  refuses(error_kind::usage, "iteration -1 has no row in array 'x'", "", iterate(-1, 5), read(x), nothing);
  refuses(error_kind::usage, "iteration -2 has no row", "", iterate(10, -3, -4), read(x), nothing);
  refuses(error_kind::usage, "halo of 50 rows does not fit array 'y'", "`whole` reads any row", iterate(0, 50),
          read(y, halo(50)), nothing);
  refuses(error_kind::usage, "halo of -1 rows", "", iterate(0, 50), read(y, halo(-1)), nothing);
  refuses(error_kind::usage, "uses rows 10 to 51 of array 'y'", "", iterate(0, 50), read(y, rows(10, 51)), nothing);
  refuses(error_kind::usage, "step of 0", "counts down", iterate(0, 50, 0), read(y), nothing);
  const auto refuses_split = [&](std::array<std::int64_t, 2> over, const iteration_space<1>& loop, const char* text) {
    refuses(error_kind::usage, text, "", region_options{.split_over = over}, loop, update(y), nothing);
  };
  refuses_split({-10, 50}, iterate(0, 50), "it splits rows -10 to 50, and array 'y' has 50 rows");
  refuses_split({0, 51}, iterate(50, 50), "it splits rows 0 to 51, and array 'y' has 50 rows");  // of no iterations
  refuses_split({10, 0}, iterate(10, 10), "it splits rows 10 to 0, which are none");
}

TEST_F(refused_regions, rows_read_beside_those_that_split_over_names) {
  model.region("fits", iterate(10, 100), read(x, rows(9, 10)), update(x), nothing);
  refuses(error_kind::usage, "it writes rows 0 to 100, and reads rows 9 to 10", "split_over counts all rows",
          region_options{.split_over = {0, 100}}, iterate(10, 100), read(x, rows(9, 10)), update(x), nothing);
  model.fence();
}

TEST_F(refused_regions, halos_that_no_row_has) {
  refuses(error_kind::usage, "its iterations i = 0 to 99 read no row of array 'x', which has 100 rows, but row i + 200",
          "offset(k) is row i + k", iterate(0, 100), read(x, offset(200)), nothing);
  refuses(error_kind::usage, "read no row of array 'y', which has 50 rows, but row i + 100", "", iterate(0, 50),
          read(y, offset(100)), nothing);
  refuses(error_kind::usage, "but rows i - 61 to i - 60", "", iterate(0, 50), read(y, halo(61, -60)), nothing);
  refuses(error_kind::usage, "i = 100 to 199 read no row of array 'x'", "", iterate(100, 200), read(x, offset(1)),
          nothing);
  refuses(error_kind::usage, "read no row of array 'one'", "", iterate(0, 1),
          read(model.make_array<double>("one", {1}), offset(1)), nothing);
  // At the ends there may be none, and a loop elsewhere may lead to rows that there are.
  model.region("last", iterate(99, 100), read(x, offset(1)), nothing);
  model.region("half", iterate(50, 100), read(x, offset(50)), nothing);
  model.region("away", iterate(200, 300), read(x, offset(-200)), nothing);
  model.region("never", iterate(0, 0), read(x, offset(200)), nothing);
  model.fence();
}

TEST_F(refused_regions, rows_that_each_iteration_reads_and_one_has_not) {
  refuses(error_kind::usage, "iteration 99 reads row 100 of array 'x', which has 100 rows", "let the loop end before",
          iterate(0, 100), read(x, halo(1).surely(0, 1)), nothing);
  refuses(error_kind::usage, "iteration 0 reads row -1 of array 'x'", "", iterate(99, -1, -1),
          read(x, halo(1).surely(-1, 1)), nothing);
  refuses(error_kind::usage, "iteration 48 reads row 50 of array 'y'", "", iterate(0, 49),
          read(y, offset(2).surely(0, 2)), nothing);
  model.region("inside", iterate(1, 99), read(x, halo(1).surely(-1, 1)), nothing);
  model.region("steps", iterate(0, 100, 2), read(x, halo(1).surely(0, 1)), nothing);
  model.region("none", iterate(0, 0), read(x, halo(1).surely(-1, 1)), nothing);
  model.fence();
}

TEST_F(refused_regions, arrays_and_results_that_were_moved_from) {
  array<double> moved = model.make_array<double>("moved", {100});
  region_result<double> total(rt, "total");
  const array<double> kept = std::move(moved);
  const region_result<double> kept_total = std::move(total);
  refuses(error_kind::usage, "its use 2 is an array that was moved from", "name the array that it was moved to",
          iterate(0, 100), read(x), write(moved), nothing);  // NOLINT(bugprone-use-after-move)
  refuses(error_kind::usage, "its use 1 is an array that was moved from", "", iterate(0, 100),
          read(moved, tessera::halo(1)), write(x), with_kernel(nothing, "(i, a, x) {}"));
  refuses(error_kind::usage, "its use 2 is a result that was moved from", "name the result", iterate(0, 100), read(x),
          sum(total), [](auto, auto, auto&) {});  // NOLINT(bugprone-use-after-move)
  for (const bool reads : {true, false}) {
    const error e = error_of([&] { reads ? model.copy(moved, x) : model.copy(x, moved); });
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_NE(std::string(e.what()).find(reads ? "the array that is read was moved from" : "that is written was moved"),
              std::string::npos)
        << e.what();
  }
  const error e = error_of([&] { (void)total.get(); });
  EXPECT_EQ(e.kind(), error_kind::usage);
  EXPECT_NE(std::string(e.what()).find("the result was moved from"), std::string::npos) << e.what();
  EXPECT_EQ(moved.extents(), shape());
  EXPECT_EQ(moved.name(), "");
  for (const error& e : {error_of([&] { (void)moved.read(); }), error_of([&] { moved.move("machine"); })})
    EXPECT_NE(std::string(e.what()).find("the array was moved from"), std::string::npos) << e.what();
}

TEST_F(refused_regions, fewer_than_no_indices_inside) {
  const error e = error_of([&] {
    model.region("loop", iterate(0, 100), update(x), with_kernel(nothing, inner(-3), "(i, j, x) { x[i] = j; }"));
  });
  EXPECT_EQ(e.kind(), error_kind::usage);
  for (const char* part : {"inner(-3)", "refused_test.cpp:", "the indices 0 to n - 1"})
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  static_assert(inner(0).loops[0].end == 0);  // a loop of no indices is one
}

TEST_F(refused_regions, writes_that_would_race) {
  refuses(error_kind::usage, "would write all of array 'x'", "policy \"any\"", iterate(0, 100), write(x, whole),
          nothing);
  refuses(error_kind::usage, "would write rows of array 'x' that others use", "write by chunk", iterate(0, 100),
          update(x, halo(1)), nothing);
  refuses(error_kind::usage, "names array 'x' twice", "update where it is read and written", iterate(0, 100),
          read(x, halo(1)), write(x), nothing);
  region_result<double> r(rt, "r");
  refuses(error_kind::usage, "names result 'r' twice", "", iterate(0, 100), sum(r), maximum(r),
          [](auto, auto&, auto&) {});
  model.region("one leaf may", {.policy = policy::any}, iterate(0, 100), update(x, whole),
               [](auto i, auto x) { x[99 - i] = 1; });
  model.fence();
}

TEST_F(refused_regions, policies_that_do_not_fit) {
  refuses(error_kind::configuration, "sum to 90, not 100", "a share for each leaf",
          region_options{.policy = policy::percentage({40, 50})}, iterate(0, 100), read(x), nothing);
  refuses(error_kind::configuration, "sum to 99, but the loop has 100 iterations", "",
          region_options{.policy = policy::range({9, 90})}, iterate(0, 100), read(x), nothing);
  refuses(error_kind::configuration, "statik", "static", region_options{.policy = region_policy::from_text("statik")},
          iterate(0, 100), read(x), nothing);
}

TEST_F(refused_regions, places_that_cannot_run_them) {
  refuses(error_kind::usage, "there is no location 'core77'", "", region_options{.at = "core77"}, iterate(0, 100),
          read(x), nothing);
  refuses(error_kind::configuration, "nothing at or below location 'sim0' runs functions of the host",
          "cores of the host", region_options{.at = "sim0"}, iterate(0, 100), read(x), nothing);
  x.move("sim0");
  y.move("core0");
  refuses(error_kind::usage, "'x' at 'sim0' and 'y' at 'core0'", "place one of them higher", iterate(0, 50), read(x),
          read(y), nothing);
  refuses(error_kind::usage, "array 'y' is at 'core0', and cannot be used at 'sim0'", "move it to",
          region_options{.at = "sim0"}, iterate(0, 50), read(y), nothing);
  EXPECT_EQ(error_of([&] { x.move("nowhere"); }).kind(), error_kind::usage);
}

TEST_F(refused_regions, locations_that_there_are_not_with_their_place) {
  const auto says = [](const error& e, std::initializer_list<const char*> parts) {
    EXPECT_EQ(e.kind(), error_kind::usage);
    for (const char* part : parts) EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  };
  says(error_of([&] { model.region("loop", {.at = "sim7"}, iterate(0, 100), read(x), nothing); }),
       {"there is no location 'sim7'", "region 'loop' at ", "refused_test.cpp:", "did you mean 'sim0'?"});
  says(error_of([&] { (void)model.make_array<double>("a", {5}, {.at = "machin"}); }),
       {"there is no location 'machin'", "array 'a' at ", "refused_test.cpp:", "did you mean 'machine'?"});
  says(error_of([&] { x.move("nowhere"); }), {"array 'x', moved at ", "refused_test.cpp:", "`tessera topology`"});
  says(error_of([&] { model.fence({.at = "nowhere"}); }), {"there is no location 'nowhere'", "refused_test.cpp:"});
  says(error_of([&] { model.detach("nowhere"); }), {"there is no location 'nowhere'", "refused_test.cpp:"});
}

TEST_F(refused_regions, fences_in_recordings_and_tasks) {
  const auto kept = [&] {
    model.region("kept", {.policy = policy::static_split}, iterate(0, 100), update(x), nothing);
  };
  kept();
  for (const char* at : {"", "machine"}) {
    error e = error_of([&] {
      (void)rt.record([&] {
        kept();
        model.fence({.at = at});
      });
    });
    EXPECT_EQ(e.kind(), error_kind::usage);
    for (const char* part : {"fence inside a recording", "refused_test.cpp:", "before the recording"})
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    std::string text;
    rt.submit("fences", [&] { text = error_of([&] { model.fence({.at = at}); }).what(); });
    rt.fence();
    EXPECT_NE(text.find("fence inside a task"), std::string::npos) << text;
  }
}

TEST_F(refused_regions, arrays_that_cannot_be) {
  EXPECT_EQ(error_of([&] { (void)model.make_array<double>("a", {-1}); }).kind(), error_kind::usage);
  EXPECT_EQ(error_of([&] { (void)model.make_array<double>("a", {10, 0}); }).kind(), error_kind::usage);
  EXPECT_EQ(error_of([&] {
              (void)model.make_array<double>("a", {std::int64_t{1} << 62, 8, 8});
            }).kind(),
            error_kind::usage);
  EXPECT_EQ(error_of([&] { (void)model.make_array<double>("a", {5}, {.at = "machin"}); }).kind(), error_kind::usage);
  std::vector<double> memory(9);
  EXPECT_EQ(error_of([&] { (void)model.adopt("a", std::span(memory), {10}); }).kind(), error_kind::usage);
  EXPECT_EQ(error_of([&] { (void)model.adopt("a", std::span<double>(static_cast<double*>(nullptr), 5), {5}); }).kind(),
            error_kind::usage);
}

TEST_F(refused_regions, views_inside_a_recording) {
  const error e = error_of([&] { (void)rt.record([&] { (void)x.rows(10, 20).read(); }); });
  EXPECT_NE(std::string(e.what()).find("a host view inside a recording"), std::string::npos) << e.what();
  EXPECT_EQ(x.read()[50], 0);
}

TEST_F(refused_regions, arrays_and_results_of_another_runtime) {
  runtime other(testing::host_only());
  location_model elsewhere(other);
  const auto theirs = elsewhere.make_array<double>("theirs", {100});
  const region_result<double> result(other, "result");
  refuses(error_kind::usage, "'theirs' belongs to another runtime", "its model's runtime", iterate(0, 100),
          read(theirs), nothing);
  refuses(error_kind::usage, "'result' belongs to another runtime", "", iterate(0, 100), sum(result),
          [](auto, auto&) {});
}

/// A body whose copies fail from a certain one on.
struct uncopyable_body {
  int* copies_left;
  explicit uncopyable_body(int& left) : copies_left(&left) {}
  uncopyable_body(const uncopyable_body& other) : copies_left(other.copies_left) {
    if ((*copies_left)-- == 0) throw std::length_error("no further copy");
  }
  uncopyable_body& operator=(const uncopyable_body&) = delete;
  void operator()(std::int64_t, const rows_view<double>&, double&) const {}
};

TEST_F(refused_regions, half_way_leave_nothing_behind) {
  model.region("first", {.policy = policy::static_split}, iterate(0, 100), write(x), [](auto i, auto x) { x[i] = 1; });
  model.fence();
  region_result<double> r(rt, "r");
  const std::vector<region_row> rows = model.regions();
  const std::uint64_t before = rt.tasks_submitted();
  for (const char* by : {"static", "auto", "percentage:20,30,50", "any"}) {
    int left = std::string_view(by) == "any" ? 0 : 1;
    const uncopyable_body body(left);
    EXPECT_THROW(
        model.region("loop", {.policy = region_policy::from_text(by)}, iterate(0, 100), update(x), sum(r), body),
        std::length_error);
    EXPECT_EQ(left, -1) << by;
  }
  EXPECT_EQ(rt.tasks_submitted(), before);
  EXPECT_EQ(model.regions().size(), rows.size());
  EXPECT_EQ(x.read()[99], 1);
  EXPECT_EQ(error_of([&] { (void)r.get(); }).kind(), error_kind::task);  // of no region yet
  model.region("next", {.policy = policy::any}, iterate(0, 100), update(x), [](auto i, auto x) { x[i] += 1; });
  model.fence();
  EXPECT_EQ(model.regions().back().shares[0].leaf, "core0");  // none is under way on it
}

TEST_F(refused_regions, other_cuts_of_one_array_leave_the_other_as_it_was) {
  const auto one = [](auto i, auto x) { x[i] = 1; };
  model.region("write", {.policy = policy::static_split}, iterate(0, 50), write(y), one);
  recording kept =
      rt.record([&] { model.region("write", {.policy = policy::static_split}, iterate(0, 50), write(y), one); });
  refuses(error_kind::usage, "array 'y' would be split in another way", "",
          region_options{.policy = policy::range({1, 49})}, iterate(0, 50), write(x), write(y), nothing);
}

TEST_F(refused_regions, models_in_tasks_and_pauses_under_views) {
  std::string text;
  rt.submit("makes a model", [&] { text = error_of([&] { location_model inside(rt); }).what(); });
  rt.fence();
  EXPECT_NE(text.find("a location model inside a task"), std::string::npos) << text;
  {
    const auto seen = x.write();
    const error e = error_of([&] { model.fence(); });
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_NE(std::string(e.what()).find("fence while this thread holds host views"), std::string::npos) << e.what();
  }
  model.fence();
  rt.submit("fences", [&] { text = error_of([&] { model.fence(); }).what(); });
  rt.fence();
  EXPECT_NE(text.find("inside a task"), std::string::npos) << text;
}

TEST_F(refused_regions, views_may_outlive_the_model) {
  std::optional<location_model> shorter(rt);
  auto z = shorter->make_array<double>("z", {100});
  std::optional<host_rows_view<double>> seen(z.write());
  shorter->region("waits", iterate(0, 100), update(z), [](auto i, auto z) { z[i] += 1; });
  shorter.reset();  // does not wait for the region, which waits for the view
  std::ranges::fill(seen->elements(), 4.0);
  seen.reset();
  EXPECT_EQ(z.read()[99], 5);
}

TEST_F(refused_regions, models_may_end_inside_a_task) {
  auto shared = std::make_shared<location_model>(rt);
  auto z = shared->make_array<double>("z", {100});
  shared->region("write", {.policy = policy::any}, iterate(0, 100), write(z), [](auto i, auto z) { z[i] = 1; });
  rt.submit("ends it", [mine = std::move(shared), z]() mutable {
    mine->region("add", {.policy = policy::any}, iterate(0, 100), update(z), [](auto i, auto z) { z[i] += 1; });
    mine.reset();
  });
  rt.fence();
  EXPECT_EQ(z.read()[99], 2);
}

TEST_F(refused_regions, results_of_no_region) {
  const region_result<double> r(rt, "r");
  EXPECT_EQ(error_of([&] { (void)r.get(); }).kind(), error_kind::task);
}

}  // namespace
}  // namespace tessera
