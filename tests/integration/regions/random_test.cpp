// Random programs of regions beside the same loops in one thread.
// The parameters of a body have the names of the arrays that they stand for.
#pragma GCC diagnostic ignored "-Wshadow"
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <random>
#include <string>

#include "tessera/region.hpp"
#include "tests/integration/runtime/machines.hpp"
#include "tests/support/slow_down.hpp"

namespace tessera {
namespace {

struct random_regions_setting {
  const char* name;
  int steps;
  machine (*make)();
};
void PrintTo(const random_regions_setting& s, std::ostream* out) { *out << s.name; }

/// Arrays of the program, and what they must hold.
class random_program {
 public:
  random_program(runtime& rt, unsigned seed) : m_rt(rt), m_model(rt), m_total(rt, "total"), m_random(seed) {
    for (int k = 0; k < 4; ++k) {
      m_arrays.push_back(m_model.make_array<std::int64_t>("a" + std::to_string(k), {rows}));
      m_expected.emplace_back(rows, 0);
    }
  }

  void step() {
    switch (number(0, 9)) {
      case 0:
        look();
        break;
      case 1:
        reduce();
        break;
      case 2:
        gather();
        break;
      case 3:
        overwrite();
        break;
      case 4:
        replay();
        break;
      default:
        combine();
    }
  }

  void check() {
    m_model.fence();
    for (std::size_t k = 0; k < m_arrays.size(); ++k) {
      const auto seen = m_arrays[k].read();
      ASSERT_TRUE(std::ranges::equal(seen.elements(), m_expected[k])) << "array " << k;
    }
  }

 private:
  static constexpr std::int64_t rows = 257;

  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(m_random);
  }
  std::size_t other_than(std::size_t k) { return (k + static_cast<std::size_t>(number(1, 3))) % 4; }

  struct some_loop {
    loop_bounds bounds;
    std::string policy;
  };
  some_loop any_loop() {
    some_loop l;
    std::int64_t a = number(0, rows), b = number(0, rows);
    if (number(0, 2) == 0) a = 0, b = rows;
    if (a > b) std::swap(a, b);
    l.bounds = {a, b, 1};
    if (number(0, 4) == 0) l.bounds.step = number(2, 5);
    if (number(0, 6) == 0 && a < b) l.bounds = {b - 1, a - 1, -number(1, 4)};
    const std::int64_t share = number(0, 100);
    const std::string policies[] = {"static", "flatten", "any", "auto",
                                    "percentage:" + std::to_string(share) + "," + std::to_string(100 - share)};
    l.policy = policies[number(0, 4)];
    return l;
  }
  template <class Body>
  static void serially(const loop_bounds& over, const Body& body) {
    if (over.step > 0)
      for (std::int64_t i = over.begin; i < over.end; i += over.step) body(i);
    else
      for (std::int64_t i = over.begin; i > over.end; i += over.step) body(i);
  }
  /// What one thread does instead: now, or for each replay of the recording that is made.
  void expect(std::function<void()> step) {
    if (m_recorded != nullptr)
      m_recorded->push_back(std::move(step));
    else
      step();
  }
  static iteration_space<1> space(const loop_bounds& l) { return iterate(l.begin, l.end, l.step); }

  /// to[i] += sum of from[i - width] .. from[i + width]
  void combine() {
    const auto to = static_cast<std::size_t>(number(0, 3)), from = other_than(to);
    const some_loop l = any_loop();
    const std::int64_t width = number(0, 9);
    const auto body = [width](std::int64_t i, const auto& x, const auto& y) {
      for (std::int64_t k = std::max<std::int64_t>(i - width, 0); k <= std::min(i + width, rows - 1); ++k)
        y[i] = (y[i] + x[k]) % 1'000'003;
    };
    m_model.region("combine", {.policy = region_policy::from_text(l.policy)}, space(l.bounds),
                   read(m_arrays[from], width == 0 ? chunk : halo(width)), update(m_arrays[to]), body);
    expect([=, this] {
      serially(l.bounds, [&](std::int64_t i) {
        std::int64_t* const y = m_expected[to].data();
        const std::int64_t* const x = m_expected[from].data();
        body(i, x, y);
      });
    });
  }
  void overwrite() {
    const auto to = static_cast<std::size_t>(number(0, 3));
    const some_loop l = any_loop();
    const std::int64_t with = number(0, 1000);
    m_model.region("overwrite", {.policy = region_policy::from_text(l.policy)}, space(l.bounds), write(m_arrays[to]),
                   [with](auto i, auto x) { x[i] = with + i; });
    expect([=, this] {
      serially(l.bounds, [&](std::int64_t i) { m_expected[to][static_cast<std::size_t>(i)] = with + i; });
    });
  }
  void gather() {
    const auto to = static_cast<std::size_t>(number(0, 3)), from = other_than(to);
    const some_loop l = any_loop();
    const std::int64_t factor = number(1, 256);
    m_model.region("gather", {.policy = region_policy::from_text(l.policy)}, space(l.bounds),
                   read(m_arrays[from], whole), update(m_arrays[to]),
                   [factor](auto i, auto x, auto y) { y[i] = (y[i] + x[(i * factor) % rows]) % 1'000'003; });
    expect([=, this] {
      serially(l.bounds, [&](std::int64_t i) {
        std::int64_t& y = m_expected[to][static_cast<std::size_t>(i)];
        y = (y + m_expected[from][static_cast<std::size_t>((i * factor) % rows)]) % 1'000'003;
      });
    });
  }
  /// Loops in any splits, recorded and replayed, with looks at the arrays in between.
  void replay() {
    std::vector<std::function<void()>> serial;
    m_recorded = &serial;
    recording all = m_rt.record([&] {
      for (std::int64_t k = number(1, 6); k > 0; --k) {
        const std::int64_t which = number(0, 4);
        which == 0 ? overwrite() : which == 1 ? gather() : combine();
      }
    });
    m_recorded = nullptr;
    for (std::int64_t k = number(1, 4); k > 0; --k) {
      m_rt.replay(all);
      for (const auto& step : serial) step();
      if (number(0, 2) == 0) look();
    }
  }
  void reduce() {
    const auto from = static_cast<std::size_t>(number(0, 3));
    const some_loop l = any_loop();
    m_model.region("reduce", {.policy = region_policy::from_text(l.policy)}, space(l.bounds), read(m_arrays[from]),
                   sum(m_total), [](auto i, auto x, std::int64_t& s) { s += x[i]; });
    std::int64_t expected = 0;
    serially(l.bounds, [&](std::int64_t i) { expected += m_expected[from][static_cast<std::size_t>(i)]; });
    ASSERT_EQ(m_total.get(), expected);
  }
  void look() {
    const auto which = static_cast<std::size_t>(number(0, 3));
    const std::int64_t at = number(0, rows - 1);
    if (number(0, 1) == 0) {
      ASSERT_EQ(m_arrays[which].read()[at], m_expected[which][static_cast<std::size_t>(at)]);
    } else {
      m_arrays[which].update()[at] = at;
      m_expected[which][static_cast<std::size_t>(at)] = at;
    }
  }

  runtime& m_rt;
  location_model m_model;
  region_result<std::int64_t> m_total;
  std::mt19937 m_random;
  std::vector<array<std::int64_t>> m_arrays;
  std::vector<std::vector<std::int64_t>> m_expected;
  std::vector<std::function<void()>>* m_recorded = nullptr;  // null: no recording is made
};

struct random_regions : ::testing::TestWithParam<random_regions_setting> {};

INSTANTIATE_TEST_SUITE_P(
    machines, random_regions,
    ::testing::Values(
        random_regions_setting{"one_worker", 4000, [] { return testing::host_only(1); }},
        random_regions_setting{"two_workers", 4000, [] { return testing::host_only(2); }},
        random_regions_setting{"two_hosts", 4000,
                               [] { return testing::machine_of("plugins = [\"host\"]\n" + testing::two_hosts, 4); }},
        random_regions_setting{"two_devices", 2000, [] { return testing::with_sims(2, "16 MiB"); }},
        random_regions_setting{"deterministic", 2000,
                               [] { return testing::machine_of("plugins = [\"host\"]\ndeterministic = true\n", 2); }},
        random_regions_setting{"small_window", 2000,
                               [] { return testing::machine_of("plugins = [\"host\"]\nwindow_tasks = 8\n", 2); }},
        random_regions_setting{"validated", 300,
                               [] { return testing::machine_of("plugins = [\"host\"]\nvalidate = true\n", 2); }},
        random_regions_setting{
            "two_hosts_validated", 300,
            [] { return testing::machine_of("plugins = [\"host\"]\nvalidate = true\n" + testing::two_hosts, 4); }}),
    [](const auto& which) { return which.param.name; });

TEST_P(random_regions, give_what_one_thread_gives) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  runtime rt(GetParam().make());
  random_program program(rt, seed);
  const int part = static_cast<int>(testing::slow_down), steps = GetParam().steps / part, between = 500 / part;
  for (int k = 0; k < steps; ++k) {
    program.step();
    if (k % between == between - 1) program.check();
    if (HasFatalFailure()) return;
  }
  program.check();
}

}  // namespace
}  // namespace tessera
