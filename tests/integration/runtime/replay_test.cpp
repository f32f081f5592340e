// Recordings: random programs against a sequential oracle, tasks around replays, what may be exchanged, what is
// refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "machines.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/random_program.hpp"

namespace tessera {
namespace {

using test_support::error_of;
using ::testing::HasSubstr;
using testing::random_setting;

class random_replay : public ::testing::TestWithParam<random_setting> {};

TEST_P(random_replay, agrees_with_a_sequential_oracle) {
  const random_setting& s = GetParam();
  std::mt19937_64 random = testing::seeded_random();
  runtime rt(s.make());
  testing::random_blocks on(rt, s.blocks, s.extent());
  const auto any_task = [&] { return on.any_task(random); };
  std::vector<std::vector<testing::random_task>> programs(3);
  for (auto& program : programs)
    for (std::uint64_t k = 0; k < s.tasks / testing::slow_down; ++k) program.push_back(any_task());
  testing::replay_at_random(
      rt, on, random, programs, 24, [&](const auto& t) { on.submit(t); }, [&](const auto& t) { on.apply(t); },
      any_task);
}

INSTANTIATE_TEST_SUITE_P(machines, random_replay,
                         ::testing::Values(random_setting{"host", 0, "", true, "locality", 5000, 300},
                                           random_setting{"few_blocks", 0, "", true, "locality", 2000, 5},
                                           random_setting{"two_devices", 2, "64 MiB", true, "locality", 2000, 200},
                                           random_setting{"tight_memory", 2, "96 KiB", true, "eager", 1000, 100}),
                         [](const auto& parameters) { return std::string(parameters.param.name); });

TEST(replay, iterations_need_no_barrier_and_keep_their_order) {
  runtime rt(testing::host_only());
  auto x = rt.make_array<std::int64_t>("x", {1}, {1});
  fill(rt, x(0), std::int64_t{1});
  recording step = rt.record([&] {
    for (std::int64_t k = 0; k < 10; ++k)
      rt.submit(
          "step", [k](view<std::int64_t> v) { v[0] = v[0] * 3 % 1000003 + k; }, update(x(0)));
  });
  std::int64_t expected = 1;
  for (int i = 0; i < 500; ++i) {
    rt.replay(step);
    for (std::int64_t k = 0; k < 10; ++k) expected = expected * 3 % 1000003 + k;
  }
  EXPECT_EQ(x(0).read()[0], expected);
}

TEST(replay, blocks_are_exchanged_between_replays) {
  runtime rt(testing::with_sims(1, "1 MiB"));
  auto x = rt.make_matrix<double>("x", {20, 2}, {20, 1});
  auto history = rt.make_matrix<double>("history", {20, 5}, {20, 1});
  fill(rt, x(0, 0), 1.0);
  recording step = rt.record([&] {  // the new x is twice the old one; the old one is kept
    rt.submit(
        "double",
        [](matrix_view<const double> from, matrix_view<double> to, matrix_view<double> kept) {
          for (std::int64_t i = 0; i < to.size(); ++i) to[i] = 2 * from[i], kept[i] = from[i];
        },
        read(x(0, 0)), write(x(0, 1)), write(history(0, 0)));
  });
  for (int k = 0; k < 5; ++k) {
    const auto from = x(0, k % 2), to = x(0, 1 - k % 2);
    step.substitute({{x(0, 0), from}, {x(0, 1), to}, {history(0, 0), history(0, k)}});
    rt.replay(step);
  }
  for (int k = 0; k < 5; ++k) EXPECT_EQ(history(0, k).read()[7], double(1 << k)) << k;
  EXPECT_EQ(x(0, 1).read()[3], 32.0);

  auto other = rt.make_array<double>("other", {19}, {19});
  EXPECT_THAT(error_of([&] {
                step.substitute({{x(0, 0), other(0)}});
              }).what(),
              HasSubstr("other(0) cannot take the place of x(0,0)"));
  EXPECT_THAT(error_of([&] {
                step.substitute({{other(0), other(0)}});
              }).what(),
              HasSubstr("not used by the recording"));
  EXPECT_THAT(error_of([&] { step.substitute({{x(0, 0), history(0, 4)}}); }).what(), HasSubstr("two places"));
  step.substitute({{x(0, 0), x(0, 1)}, {x(0, 1), x(0, 0)}});
  rt.replay(step);
  EXPECT_EQ(x(0, 0).read()[0], 64.0) << "a refused exchange has changed nothing";
}

TEST(replay, each_has_a_value_that_its_tasks_see) {
  runtime rt(testing::host_only(4));
  constexpr int width = 8, rounds = 200;
  auto x = rt.make_array<double>("x", {width}, {1});
  for (int k = 0; k < width; ++k) fill(rt, x(k), 0.0);
  struct step_in_time {
    std::int32_t number;
    double dt;
  };
  recording step = rt.record(
      [&] {
        for (int k = 0; k < width; ++k)
          rt.submit(
              "advance",
              [](task_context here, view<double> v) {
                const auto now = here.replay_value<step_in_time>();
                v[0] = 1.25 * v[0] + now.number * now.dt;
              },
              update(x(k)));
      },
      {.replays_under_way = 5});
  double expected = 0;
  for (int k = 0; k < rounds; ++k) {
    const double dt = 1.0 / (1 + k);
    rt.replay(step, step_in_time{k, dt});
    expected = (1.25 * expected + k * dt);
  }
  for (int k = 0; k < width; ++k) EXPECT_EQ(x(k).read()[0], expected) << k;
}

TEST(replay, more_than_two_of_a_recording_overlap_by_option) {
  // The first task of each replay ends when as many replays as may be have begun theirs, on blocks of their own.
  constexpr int overlap = 4;
  runtime rt(testing::host_only(overlap));
  auto x = rt.make_array<std::int64_t>("x", {overlap}, {1});
  for (int k = 0; k < overlap; ++k) fill(rt, x(k), std::int64_t{0});
  rt.fence();
  std::atomic<int> begun{0};
  std::atomic<bool> all_met{true};
  recording step = rt.record(
      [&] {
        rt.submit(
            "meet",
            [&](view<std::int64_t> v) {
              ++begun;
              const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
              while (begun < overlap && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
              if (begun < overlap) all_met = false;
              ++v[0];
            },
            update(x(0)));
      },
      {.replays_under_way = overlap});
  for (int k = 0; k < overlap; ++k) {
    step.substitute({{x(0), x(k)}});
    rt.replay(step);
  }
  rt.fence();
  EXPECT_TRUE(all_met) << begun << " of " << overlap << " replays were under way together";
  for (int k = 0; k < overlap; ++k) EXPECT_EQ(x(k).read()[0], 1) << k;
}

TEST(replay, a_value_that_was_not_given_fails_the_task_and_wrong_options_are_refused) {
  runtime rt(testing::host_only());
  auto x = rt.make_array<double>("x", {1}, {1});
  fill(rt, x(0), 1.0);
  const auto asks = [](task_context here, view<double> v) { v[0] = here.replay_value<double>(); };
  recording step = rt.record([&] { rt.submit("asks", asks, update(x(0))); });
  const auto said = [&](auto&& submit) {
    return std::string(error_of([&] {
                         submit();
                         rt.fence();
                       }).what());
  };
  EXPECT_THAT(said([&] { rt.replay(step); }), HasSubstr("the replay was given none"));
  fill(rt, x(0), 1.0);
  EXPECT_THAT(said([&] { rt.replay(step, 3); }), HasSubstr("of type double, and the replay was given one of type int"));
  fill(rt, x(0), 1.0);
  EXPECT_THAT(said([&] { rt.submit("asks", asks, update(x(0))); }), HasSubstr("it is of no replay"));
  fill(rt, x(0), 1.0);
  rt.replay(step, 3.0);
  EXPECT_EQ(x(0).read()[0], 3.0);
  EXPECT_THAT(error_of([&] { rt.record([] {}, {.replays_under_way = 0}); }).what(), HasSubstr("1 to 64"));
  EXPECT_THAT(error_of([&] { rt.record([] {}, {.replays_under_way = 65}); }).what(), HasSubstr("1 to 64"));
  rt.record([] {}, {.replays_under_way = 64});  // after a refusal the thread can record
}

TEST(replay, arguments_are_exchanged_between_replays) {
  runtime rt(testing::host_only());
  auto x = rt.make_array<double>("x", {4}, {4});
  fill(rt, x(0), 1.0);
  const auto add = [](double amount) {
    return [amount](view<double> v) {
      for (double& e : v) e += amount;
    };
  };
  recording step = rt.record([&] {
    rt.submit("add", add(1), update(x(0)));
    scal(rt, 2.0, x(0));
  });
  rt.replay(step);  // (1 + 1) 2
  step.set_arguments(0, add(10));
  rt.replay(step);  // (4 + 10) 2
  step.set_arguments(1, operation::scal_arguments{std::complex<double>(0.5)});
  rt.replay(step);  // (28 + 10) / 2
  EXPECT_EQ(x(0).read()[3], 19.0);
  EXPECT_THAT(error_of([&] { step.set_arguments(1, 1.0F); }).what(), HasSubstr("given 4"));
  EXPECT_THAT(error_of([&] { step.set_arguments(2, 1.0F); }).what(), HasSubstr("2 submitted tasks"));
}

TEST(replay, captures_that_own_something_live_as_long_as_the_recording) {
  runtime rt(testing::host_only());
  auto x = rt.make_array<double>("x", {4}, {4});
  const auto shared = std::make_shared<std::atomic<int>>(0);
  {
    recording step = rt.record([&] {
      rt.submit(
          "count",
          [shared, name = std::string("a text too long for the small buffer")](view<double> v) {
            v[0] = double(name.size());
            ++*shared;
          },
          write(x(0)));
    });
    for (int k = 0; k < 10; ++k) rt.replay(step);
    EXPECT_GE(shared.use_count(), 2);
  }
  EXPECT_EQ(*shared, 10);
  EXPECT_EQ(shared.use_count(), 1);
}

TEST(replay, accumulates_are_summed_in_one_order_whatever_runs_them) {
  // Sums of numbers of very different size round differently in every order.
  std::vector<double> results;
  for (const int devices : {0, 0, 1, 2})
    for (const unsigned workers : {1u, 3u}) {
      runtime rt(devices == 0 ? testing::host_only(workers)
                              : testing::with_sims(devices, "1 MiB", devices > 1, workers));
      auto x = rt.make_array<double>("x", {40}, {1});
      auto sum = rt.make_array<double>("sum", {1}, {1});
      for (int k = 0; k < 40; ++k) fill(rt, x(k), std::pow(-1.7, k) / 3);
      recording step = rt.record([&] {
        for (int k = 0; k < 40; ++k) axpy_accumulate(rt, 0.3, x(k), sum(0));
      });
      EXPECT_EQ(step.size(), 41u) << "and the sum";
      fill(rt, sum(0), 0.1);
      for (int k = 0; k < 3; ++k) rt.replay(step);
      results.push_back(sum(0).read()[0]);
    }
  for (const double r : results) EXPECT_EQ(r, results.front());
}

TEST(replay, a_sum_may_start_from_nothing) {
  runtime rt(testing::host_only());
  auto sum = rt.make_array<double>("sum", {3}, {3});
  recording step = rt.record([&] {
    for (int k = 1; k <= 6; ++k)
      rt.submit(
          "give",
          [k](view<double> s) {
            for (double& v : s) v += k;
          },
          accumulate(sum(0)));
  });
  rt.replay(step);
  EXPECT_EQ(sum(0).read()[2], 21.0);
  rt.replay(step);
  EXPECT_EQ(sum(0).read()[2], 42.0);
}

TEST(replay, a_failure_spoils_what_depends_on_it_and_the_next_replay_mends_it) {
  runtime rt(testing::host_only());
  auto x = rt.make_array<double>("x", {2}, {1});
  std::atomic<bool> fails{true};
  std::atomic<int> ran{0};
  recording step = rt.record([&] {
    rt.submit(
        "make",
        [&](view<double> v) {
          if (fails) throw std::runtime_error("boom 7");
          v[0] = 1;
        },
        write(x(0)));
    rt.submit(
        "use",
        [&](view<const double> v, view<double> w) {
          ++ran;
          w[0] = v[0];
        },
        read(x(0)), write(x(1)));
  });
  rt.replay(step);
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("boom 7"));
  EXPECT_EQ(ran, 0);
  fails = false;
  rt.replay(step);
  rt.fence();
  EXPECT_EQ(x(1).read()[0], 1.0);
}

TEST(replay, what_a_recording_refuses) {
  runtime rt(testing::host_only());
  auto x = rt.make_array<double>("x", {2}, {1});
  fill(rt, x(0), 1.0);
  EXPECT_THAT(error_of([&] { rt.record([&] { rt.fence(); }); }).what(),
              AllOf(HasSubstr("fence inside a recording"), HasSubstr("replay_test.cpp:")));
  EXPECT_THAT(error_of([&] { rt.record([&] { (void)x(0).read(); }); }).what(),
              AllOf(HasSubstr("host view inside a recording"), HasSubstr("replay_test.cpp:")));
  EXPECT_THAT(error_of([&] { rt.record([&] { rt.record([] {}); }); }).what(),
              HasSubstr("a recording inside a recording"));
  EXPECT_THAT(error_of([&] {
                rt.record([&] {
                  auto gone = rt.make_array<double>("gone", {1}, {1});
                  fill(rt, gone(0), 1.0);
                });
              }).what(),
              HasSubstr("gone(0) was destroyed"));
  recording empty = rt.record([] {});
  rt.replay(empty);
  recording step = rt.record([&] { scal(rt, 2.0, x(0)); });
  EXPECT_THAT(error_of([&] { rt.record([&] { rt.replay(step); }); }).what(), HasSubstr("a replay inside a recording"));
  rt.submit("inside", [&] { rt.replay(step); });
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("a replay inside a task"));
  struct oops {};
  EXPECT_THROW(rt.record([&]() {
    rt.submit(
        "owner", [p = std::make_shared<int>(1)](view<double> v) { v[0] = *p; }, write(x(1)));
    throw oops{};
  }),
               oops);
  rt.replay(step);  // recording has ended nevertheless
  EXPECT_EQ(x(0).read()[0], 2.0);
}

TEST(replay, of_a_recording_whose_array_has_ended_names_it) {
  runtime rt(testing::host_only());
  std::optional<array<double>> x = rt.make_array<double>("x", {4}, {2});
  fill(rt, (*x)(1), 1.0);
  recording step = rt.record([&] { scal(rt, 2.0, (*x)(1)); });
  rt.replay(step);
  auto other = rt.make_array<double>("other", {2}, {2});
  fill(rt, other(0), 3.0);
  recording own = rt.record([&] { scal(rt, 2.0, other(0)); });
  x.reset();
  rt.fence();
  auto later = rt.make_array<double>("later", {4}, {2});  // may have the records of x
  fill(rt, later(0), 1.0);
  fill(rt, later(1), 1.0);
  const error refused = error_of([&] { rt.replay(step); });
  EXPECT_EQ(refused.kind(), error_kind::usage);
  EXPECT_THAT(refused.what(), HasSubstr("array 'x' has ended before the replay of a recording that uses it"));
  rt.replay(own);
  EXPECT_EQ(other(0).read()[0], 6.0);
  EXPECT_EQ(later(1).read()[1], 1.0);
}

TEST(replay, may_follow_the_end_of_an_array_that_was_exchanged) {
  runtime rt(testing::host_only());
  std::optional<array<double>> x = rt.make_array<double>("x", {2}, {2});
  auto y = rt.make_array<double>("y", {2}, {2});
  fill(rt, y(0), 1.0);
  recording step = rt.record([&] { fill(rt, (*x)(0), 5.0); });
  step.substitute({{(*x)(0), y(0)}});
  x.reset();
  rt.replay(step);
  EXPECT_EQ(y(0).read()[0], 5.0);
}

TEST(replay, tasks_without_blocks_run_once_per_replay) {
  runtime rt(testing::host_only());
  std::atomic<int> ran{0};
  recording step = rt.record([&] {
    for (int k = 0; k < 100; ++k) rt.submit("free", [&] { ++ran; });
  });
  for (int k = 0; k < 50; ++k) rt.replay(step);
  rt.fence();
  EXPECT_EQ(ran, 5000);
}

TEST(replay, two_threads_replay_their_own_recordings_on_shared_blocks) {
  runtime rt(testing::host_only());
  auto shared = rt.make_array<std::int64_t>("shared", {3}, {1});
  for (int k = 0; k < 3; ++k) fill(rt, shared(k), std::int64_t{0});
  const auto player = [&](std::int64_t amount) {
    recording step = rt.record([&] {
      for (int k = 0; k < 30; ++k)
        rt.submit(
            "give",
            [amount](view<std::int64_t> v, view<std::int64_t> w) {
              v[0] += amount;
              w[0] -= amount;
            },
            update(shared(k % 3)), update(shared((k + 1) % 3)));
      rt.submit(
          "one", [](view<std::int64_t> v) { ++v[0]; }, update(shared(0)));
    });
    for (int k = 0; k < 200; ++k) rt.replay(step);
  };
  std::thread other([&] { player(3); });
  player(5);
  other.join();
  rt.fence();
  std::int64_t sum = 0;
  for (int k = 0; k < 3; ++k) sum += shared(k).read()[0];
  EXPECT_EQ(sum, 400);
}

}  // namespace
}  // namespace tessera
