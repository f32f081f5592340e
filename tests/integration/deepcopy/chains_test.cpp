// Chains and scalars in regions.
// The parameters of a body have the names of the arrays that they stand for.
#pragma GCC diagnostic ignored "-Wshadow"
#include "tessera/detail/chain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

#include "settings.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using test_support::message_of;
using testing::copy_setting;
using ::testing::HasSubstr;

struct particle_data {
  double* positions = nullptr;
  double* speeds = nullptr;
  const float* masses = nullptr;
  std::int64_t count = 0;
};
struct simulation {
  particle_data* particles = nullptr;
  double step = 0.5;
  double energy = 0;
};

class chains : public ::testing::TestWithParam<copy_setting> {
 protected:
  static constexpr std::int64_t n = 1000;
  chains() {
    std::iota(positions.begin(), positions.end(), 0.0);
    data = {positions.data(), speeds.data(), masses.data(), n};
  }
  std::vector<double> positions = std::vector<double>(n), speeds = std::vector<double>(n, 2);
  std::vector<float> masses = std::vector<float>(n, 3);
  particle_data data;
  simulation sim{&data};
  runtime rt{GetParam().make()};  // ends first: chains are the regions' until then
  location_model model{rt};
};

TEST_P(chains, are_listed_like_arrays) {
  const auto x = chain(sim, &simulation::particles, &particle_data::positions)[n];
  for (int round = 0; round < 3; ++round)
    model.region("drift", iterate(0, n), update(x),
                 read(chain(sim, &simulation::particles, &particle_data::speeds)[n], chunk), read(scalar(sim.step)),
                 with_kernel([](auto i, auto x, auto v, auto step) { x[i] += step[0] * v[i]; },
                             "(i, x, v, step) { x[i] += step[0] * v[i]; }"));
  model.fence();
  for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(positions[std::size_t(i)], double(i) + 3) << i;
}

TEST_P(chains, that_are_made_again_each_time_are_the_same_memory) {
  for (int round = 0; round < 20; ++round)
    model.region("double", {.policy = round % 2 == 0 ? policy::static_split : policy::flatten}, iterate(0, n),
                 update(chain(sim, &simulation::particles, &particle_data::positions)[n]),
                 [](auto i, auto x) { x[i] = x[i] * 2 + 1; });
  model.fence();
  double expected = 7;
  for (int round = 0; round < 20; ++round) expected = expected * 2 + 1;
  EXPECT_EQ(positions[7], expected);
}

TEST_P(chains, give_the_memory_back_at_each_pause) {
  for (int step = 1; step <= 3; ++step) {
    model.region("one more", iterate(0, n), update(chain(data, &particle_data::positions)[n]),
                 with_kernel([](auto i, auto x) { x[i] += 1; }, "(i, x) { x[i] += 1; }"));
    model.fence();
    ASSERT_EQ(positions[5], 5 + 1.5 * step - 0.5) << step;
    for (double& p : positions) p += 0.5;  // the program's again
  }
}

TEST_P(chains, of_constants_are_read) {
  region_result<float> total(rt, "total");
  model.region("sum", iterate(0, n), read(chain(data, &particle_data::masses)[n]), sum(total),
               [](auto i, auto m, float& s) { s += m[i]; });
  EXPECT_EQ(total.get(), 3000.0f);
}

TEST_P(chains, scalars_are_taken_when_the_region_is_submitted) {
  auto seen = model.make_array<double>("seen", {4});
  for (int k = 0; k < 4; ++k) {
    sim.step = 10 + k;
    model.region("note", iterate(k, k + 1), read(scalar(sim, &simulation::step)), write(seen),
                 [](auto i, auto step, auto seen) { seen[i] = step[0]; });
  }
  sim.step = -1;
  const auto values = seen.read();
  for (int k = 0; k < 4; ++k) EXPECT_EQ(values[k], 10 + k);
}

TEST_P(chains, scalars_are_not_taken_in_recordings) {
  auto seen = model.make_array<double>("seen", {4});
  const auto note = [&] {
    model.region("note", {.policy = policy::static_split}, iterate(0, 4), read(scalar(sim.step)), write(seen),
                 [](auto i, auto step, auto seen) { seen[i] = step[0]; });
  };
  note();
  const std::string message = message_of([&] { (void)rt.record(note); }, error_kind::usage);
  EXPECT_THAT(message, HasSubstr("'scalar' is read inside a recording"));
  EXPECT_THAT(message, HasSubstr("chains_test.cpp:"));
  EXPECT_EQ(seen.read()[3], sim.step);
}

TEST_P(chains, scalars_that_regions_write_are_there_after_the_pause) {
  sim.energy = 4;
  const auto add = [&](double more) {
    model.region("add", {.policy = policy::any}, iterate(0, 1), update(scalar(sim.energy)),
                 [more](auto, auto e) { e[0] += more; });
  };
  add(1);
  add(2);
  auto seen = model.make_array<double>("seen", {1});
  model.region("look", {.policy = policy::any}, iterate(0, 1), read(scalar(sim.energy)), write(seen),
               [](auto, auto e, auto seen) { seen[0] = e[0]; });
  model.fence();
  EXPECT_EQ(sim.energy, 7);
  EXPECT_EQ(seen.read()[0], 7) << "a region that reads it comes after those that write it";
}

TEST_P(chains, have_rows_of_several_elements) {
  const auto x = chain(sim, &simulation::particles, &particle_data::positions)[{10, 20, 5}];
  EXPECT_EQ(x.size(), n);
  model.region("rows", iterate(0, 10), update(x),
               with_kernel(
                   [](auto i, auto x) {
                     for (std::int64_t j = 0; j < 20; ++j) x(i, j, 4) = double(1000 * i + j);
                   },
                   inner(20), "(i, j, x) { x(i, j, 4) = 1000 * i + j; }"));
  const auto flat = [&] {
    model.region("flat", iterate(0, n), update(chain(data, &particle_data::positions)[n]), [](auto, auto) {});
  };
  EXPECT_THAT(message_of(flat, error_kind::usage), HasSubstr("10 x 20 x 5 elements until the next fence"));
  model.fence();
  for (std::size_t k = 0; k < std::size_t(n); ++k)
    ASSERT_EQ(positions[k], k % 5 == 4 ? double(1000 * (k / 100) + k % 100 / 5) : double(k));
  flat();
  EXPECT_THAT(message_of(
                  [&] {
                    model.region("none", iterate(0, 10), read(chain(data, &particle_data::positions)[{10, 0}]),
                                 [](auto, auto) {});
                  },
                  error_kind::usage),
              HasSubstr("extents 10 x 0"));
}

TEST_P(chains, of_no_elements_are_fine) {
  data.positions = nullptr;
  model.region("nothing", iterate(0, 0), update(chain(data, &particle_data::positions)[0]), [](auto, auto) {});
  model.fence();
}

TEST_P(chains, of_a_refused_region_are_free_at_once) {
  const auto one = [&](std::int64_t rows, std::int64_t of) {
    model.region("one", iterate(0, rows), update(chain(data, &particle_data::positions)[of]),
                 [](auto i, auto x) { x[i] = 7; });
  };
  EXPECT_THAT(message_of([&] { one(n, n / 2); }, error_kind::usage), HasSubstr("has no row in array"));
  one(n, n);  // without a fence
  EXPECT_THAT(message_of([&] { one(n / 2, n / 2); }, error_kind::usage), HasSubstr("overlaps that of"));
  model.fence();
  EXPECT_EQ(positions[n - 1], 7);
}

TEST_P(chains, are_refused_where_they_overlap) {
  model.region("all", iterate(0, n), update(chain(data, &particle_data::positions)[n]),
               [](auto i, auto x) { x[i] = 0; });
  const auto half = [&] {
    model.region("half", iterate(0, n / 2), update(chain(data, &particle_data::positions)[n / 2]),
                 [](auto i, auto x) { x[i] = 1; });
  };
  EXPECT_THAT(message_of(half, error_kind::usage), HasSubstr("(500 elements of f64) overlaps that of"));
  model.fence();
  half();
  model.fence();
  EXPECT_EQ(positions[499], 1);
  EXPECT_EQ(positions[500], 0);
}

TEST_P(chains, a_scalar_that_many_leaves_would_write_is_refused) {
  EXPECT_THAT(message_of(
                  [&] {
                    model.region("race", {.policy = policy::flatten}, iterate(0, n), update(scalar(sim.energy)),
                                 [](auto, auto e) { e[0] += 1; });
                  },
                  error_kind::usage),
              HasSubstr("race"));
}

/// Memory that one region writes for some time, and another one looks at after it, if they are in order.
class chains_of_other_threads : public ::testing::Test {
 protected:
  ~chains_of_other_threads() override { looked = true; }
  void write() {
    model.region("write", {.policy = policy::any}, iterate(0, 1), update(model.array_over("p", std::span(memory))),
                 [this](auto i, auto p) {
                   began = true;
                   const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
                   while (!looked && std::chrono::steady_clock::now() < end) std::this_thread::yield();
                   p[i] = 7;
                 });
    while (!began) std::this_thread::yield();  // by a worker: this thread runs no task here
  }
  void look() {
    model.region("look", {.policy = policy::any}, iterate(0, 1), read(model.array_over("p", std::span(memory))),
                 [this](auto i, auto p) {
                   seen = p[i];
                   looked = true;
                 });
  }
  runtime rt{testing::host_only(3)};
  location_model model{rt};
  std::vector<double> memory = std::vector<double>(1), other = std::vector<double>(1);
  std::atomic<bool> began{false}, looked{false};
  double seen = 0;
};

TEST_F(chains_of_other_threads, are_in_order_while_one_pauses) {
  write();
  std::thread pausing([&] { model.fence(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // so that it waits, most probably
  look();
  pausing.join();
  model.fence();
  EXPECT_EQ(seen, 7);
}

TEST_F(chains_of_other_threads, are_in_order_where_a_pause_is_refused) {
  write();
  std::atomic<bool> refused{false};
  model.region("fences", {.policy = policy::any}, iterate(0, 1), update(model.array_over("o", std::span(other))),
               [&](auto, auto) {
                 (void)message_of([&] { model.fence(); }, error_kind::usage);
                 refused = true;
               });
  while (!refused) std::this_thread::yield();
  look();
  model.fence();
  EXPECT_EQ(seen, 7);
}

INSTANTIATE_TEST_SUITE_P(memories, chains, testing::copy_settings, testing::name_of);
#if defined(TESSERA_TEST_OPENCL)
INSTANTIATE_TEST_SUITE_P(opencl, chains, testing::copy_settings_opencl, testing::name_of);
#endif

}  // namespace
}  // namespace tessera
