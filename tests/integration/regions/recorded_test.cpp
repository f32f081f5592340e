// Recordings of loops: splits of their own, arrays that end before them, failures.
// The parameters of a body have the names of the arrays that they stand for.
#pragma GCC diagnostic ignored "-Wshadow"
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "tessera/region.hpp"
#include "tests/integration/runtime/machines.hpp"

namespace tessera {
namespace {

TEST(recorded_regions, keep_the_split_of_their_arrays_and_outlive_their_model) {
  runtime rt(testing::host_only());
  auto model = std::make_unique<location_model>(rt);
  auto x = model->make_array<double>("x", {100});
  const auto more = [&](std::string_view by) {
    model->region("more", {.policy = region_policy::from_text(by)}, iterate(0, 100), update(x),
                  [](auto i, auto v) { v[i] += 1; });
  };
  more("static");
  recording step = rt.record([&] { more("static"); });
  rt.replay(step);
  EXPECT_EQ(x.read()[99], 2);  // seen without another split
  rt.replay(step);
  EXPECT_EQ(x.read()[0], 3);
  try {
    more("percentage:10,90");
    FAIL() << "nothing was thrown";
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_NE(std::string(e.what()).find("a recording uses it"), std::string::npos) << e.what();
  }
  auto y = model->make_array<double>("y", {100});
  const auto any = [&] {
    model->region("any", {.policy = policy::any}, iterate(0, 100), update(y), [](auto i, auto v) { v[i] += 1; });
  };
  any();
  recording anywhere = rt.record(any);
  model.reset();
  rt.replay(anywhere);
  rt.replay(step);
  rt.fence();
  EXPECT_EQ(y.read()[50], 2);
  EXPECT_EQ(x.read()[50], 4);
}

/// Two recordings at once, one that is given up, and one whose array has ended.
TEST(recorded_regions, have_splits_of_their_own) {
  for (const char* validate : {"false", "true"}) {
    runtime rt(testing::machine_of("plugins = [\"host\"]\nvalidate = " + std::string(validate) + "\n", 2));
    location_model model(rt);
    std::optional<array<double>> x(model.make_array<double>("x", {100}));
    const auto more = [&](std::string_view by) {
      model.region("more", {.policy = region_policy::from_text(by)}, iterate(0, 100), update(*x),
                   [](auto i, auto v) { v[i] += 1; });
    };
    std::optional<recording> first(rt.record([&] { more("static"), more("range:1,99"), more("static"); }));
    EXPECT_THROW((void)rt.record([&] {
      more("range:2,98");
      throw error(error_kind::usage, "not to be");
    }),
                 error);
    std::optional<recording> second(rt.record([&] { more("range:3,97"), more("range:4,96"); }));
    more("static");
    for (int k = 0; k < 3; ++k) rt.replay(*first), rt.replay(*second);
    EXPECT_EQ(x->read()[2], 16);
    EXPECT_THROW(more("range:3,97"), error);  // not in the split that everybody sees
    first.reset();
    rt.replay(*second);
    EXPECT_EQ(x->read()[99], 18);
    x.reset();
    const auto replay = [&] { rt.replay(*second), rt.fence(); };
    EXPECT_THROW(replay(), error);
    second.reset();
  }
}

/// A failed task spoils what it would have written, in the other split too, and the next replay that writes it heals
/// it.
TEST(recorded_regions, fail_in_another_split) {
  runtime rt(testing::host_only(2));
  location_model model(rt);
  auto x = model.make_array<double>("x", {100}), y = model.make_array<double>("y", {100});
  bool fails = true;
  recording step = rt.record([&] {
    model.region("write", {.policy = policy::static_split}, iterate(0, 100), write(x), [&fails](auto i, auto x) {
      if (fails && i == 70) throw std::runtime_error("no");
      x[i] = double(i);
    });
    model.region("more", {.policy = policy::range({60, 40})}, iterate(0, 100), update(x),
                 [](auto i, auto x) { x[i] += 1; });
  });
  rt.replay(step);
  EXPECT_THROW(model.fence(), error);
  EXPECT_THROW((void)x.read(), error);
  fails = false;
  rt.replay(step);
  model.fence();
  EXPECT_EQ(x.read()[70], 71);
}

/// A stencil over the inner rows, and a sum over all of them: however many cores share them.
TEST(recorded_regions, have_loops_over_more_rows_and_fewer) {
  for (const unsigned cores : {1, 3, 4, 8}) {
    runtime rt(testing::machine_of("plugins = [\"host\"]\nhistory = \"off\"\n[topology]\nsynthetic = \"numa:1 core:" +
                                       std::to_string(cores) + " pu:1\"\n",
                                   cores));
    location_model model(rt);
    constexpr std::int64_t n = 1000;
    auto x = model.make_array<std::int64_t>("x", {n}), y = model.make_array<std::int64_t>("y", {n});
    region_result<std::int64_t> total(rt, "total");
    const auto step = [&] {
      model.region("there", iterate(1, n - 1), read(x, halo(1)), update(y),
                   [](auto i, auto x, auto y) { y[i] = (x[i - 1] + x[i + 1]) / 2; });
      model.region("back", iterate(1, n - 1), read(y, halo(1)), update(x),
                   [](auto i, auto y, auto x) { x[i] = (y[i - 1] + y[i + 1]) / 2 + 1; });
      model.region("sum", iterate(0, n), read(x), sum(total), [](auto i, auto x, std::int64_t& s) { s += x[i]; });
    };
    step();
    recording recorded = rt.record(step);
    rt.replay(recorded);
    EXPECT_EQ(total.get(), 1992) << cores;
  }
}

TEST(recorded_regions, of_arrays_that_have_ended_are_refused_by_name) {
  runtime rt(testing::host_only());
  location_model model(rt);
  std::optional<array<double>> x = model.make_array<double>("speeds", {100});
  const auto more = [&] {
    model.region("more", {.policy = policy::static_split}, iterate(0, 100), update(*x),
                 [](auto i, auto v) { v[i] += 1; });
  };
  more();
  recording step = rt.record(more);
  rt.replay(step);
  x.reset();
  try {
    rt.replay(step);
    FAIL() << "nothing was thrown";
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_NE(std::string(e.what()).find("array 'speeds' has ended before the replay"), std::string::npos) << e.what();
  }
  rt.fence();
}

TEST(recorded_regions, let_their_arrays_go_when_the_recording_ends) {
  for (const char* validate : {"false", "true"}) {
    runtime rt(testing::machine_of("plugins = [\"host\"]\nvalidate = " + std::string(validate) + "\n"));
    location_model model(rt);
    auto x = model.make_array<double>("x", {100}), y = model.make_array<double>("y", {100});
    const auto more = [&](std::string_view by) {
      model.region("more", {.policy = region_policy::from_text(by)}, iterate(0, 100), update(x),
                   [](auto i, auto v) { v[i] += 1; });
    };
    more("static");
    std::optional<recording> step(rt.record([&] { more("static"); }));
    rt.replay(*step);
    EXPECT_EQ(x.read()[99], 2);
    {
      const auto seen = x.update();  // of two tiles, whatever validation shows of them
      EXPECT_EQ(seen[0], 2);
      seen.elements()[99] = 10;
    }
    rt.replay(*step);
    EXPECT_EQ(x.read()[99], 11);
    // What others read of it is read from the tiles that there are.
    model.region("other", {.policy = policy::range({1, 99})}, iterate(0, 100), read(x), write(y),
                 [](auto i, auto x, auto y) { y[i] = x[i]; });
    EXPECT_EQ(y.read()[99], 11);
    EXPECT_THROW(more("range:1,99"), error);
    step.reset();
    more("range:1,99");
    EXPECT_EQ(x.read()[99], 12);
    EXPECT_THROW((void)rt.record([&] {
      more("range:1,99");
      throw error(error_kind::usage, "not to be");
    }),
                 error);
    more("static");  // nor does one keep them that was not finished
    EXPECT_EQ(x.read()[0], 5);
  }
}

}  // namespace
}  // namespace tessera
