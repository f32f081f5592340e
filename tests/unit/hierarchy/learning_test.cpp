// The policy auto finds the best split: its splits and what it learns, against a sweep, with computed times.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "hierarchy/policy/learning.hpp"
#include "hierarchy/policy/split.hpp"

namespace tessera::hierarchy {
namespace {

using location::node_id;

/// A machine of three leaves, and the seconds that a region takes on it: those of the slowest leaf.
struct machine_of_speeds {
  std::vector<double> iterations_per_second;
  double seconds_per_task = 0;  ///< beside its iterations
  double seconds(std::size_t leaf, std::uint64_t iterations) const {
    return iterations == 0 ? 0 : seconds_per_task + static_cast<double>(iterations) / iterations_per_second[leaf];
  }
};

struct learning : ::testing::Test {
  location::tree t{[] {
    location::properties p;
    p.name = "machine";
    p.kind = location::kind::machine;
    return p;
  }()};
  std::vector<node_id> leaves = [this] {
    std::vector<node_id> made;
    for (const char* name : {"slow", "middle", "fast"}) {
      location::properties p;
      p.name = name;
      p.kind = location::kind::worker;
      made.push_back(t.add(t.root(), p));
    }
    return made;
  }();
  std::vector<double> rates = {0, 0, 0};

  /// One launch: the split, its time, and what is learnt from it. `noise`: factor of each task's time.
  template <class Noise>
  double launch(const machine_of_speeds& on, std::uint64_t n, const Noise& noise) {
    std::vector<leaf_state> states;
    for (const double rate : rates) states.push_back({.throughput = rate});
    double slowest = 0;
    for (const chunk& c : split({policy_kind::automatic, {}, {}}, n, t, t.root(), {"r", states})) {
      const auto leaf = static_cast<std::size_t>(std::ranges::find(leaves, c.leaf) - leaves.begin());
      const double seconds = on.seconds(leaf, c.end - c.begin) * noise();
      slowest = std::max(slowest, seconds);
      rates[leaf] = learnt_rate(rates[leaf], static_cast<double>(c.end - c.begin) / seconds);
    }
    return slowest;
  }
  double launch(const machine_of_speeds& on, std::uint64_t n) {
    return launch(on, n, [] { return 1.0; });
  }
  /// The best of all percentages in whole numbers.
  double best_of_a_sweep(const machine_of_speeds& on, std::uint64_t n) const {
    double best = std::numeric_limits<double>::infinity();
    for (int a = 0; a <= 100; ++a)
      for (int b = 0; a + b <= 100; ++b) {
        double slowest = 0;
        const policy by{policy_kind::percentage, {double(a), double(b), double(100 - a - b)}, {}};
        for (const chunk& c : split(by, n, t, t.root(), {"r"})) {
          const auto leaf = static_cast<std::size_t>(std::ranges::find(leaves, c.leaf) - leaves.begin());
          slowest = std::max(slowest, on.seconds(leaf, c.end - c.begin));
        }
        best = std::min(best, slowest);
      }
    return best;
  }
};

TEST_F(learning, finds_the_best_split_of_speeds_one_three_and_nine) {
  const machine_of_speeds on{{1e6, 3e6, 9e6}, 0};
  const double best = best_of_a_sweep(on, 1'000'000);
  EXPECT_GT(launch(on, 1'000'000), 2 * best);  // nothing is known: equal parts
  EXPECT_LE(launch(on, 1'000'000), 1.05 * best);
  for (int k = 0; k < 20; ++k) EXPECT_LE(launch(on, 1'000'000), 1.05 * best) << k;
}

TEST_F(learning, finds_it_where_tasks_cost_something_beside_their_iterations) {
  const machine_of_speeds on{{1e6, 3e6, 9e6}, 2e-3};
  const double best = best_of_a_sweep(on, 1'000'000);
  for (int k = 0; k < 8; ++k) launch(on, 1'000'000);
  for (int k = 0; k < 20; ++k) EXPECT_LE(launch(on, 1'000'000), 1.05 * best) << k;
}

TEST_F(learning, finds_it_again_when_a_leaf_slows_down_by_half) {
  const machine_of_speeds before{{1e6, 3e6, 9e6}, 0};
  for (std::size_t slower = 0; slower < 3; ++slower) {
    rates = {0, 0, 0};
    for (int k = 0; k < 10; ++k) launch(before, 1'000'000);
    machine_of_speeds after = before;
    after.iterations_per_second[slower] /= 2;
    const double best = best_of_a_sweep(after, 1'000'000);
    EXPECT_GT(launch(after, 1'000'000), 1.05 * best) << slower;
    for (int k = 0; k < 5; ++k) launch(after, 1'000'000);
    for (int k = 0; k < 10; ++k) EXPECT_LE(launch(after, 1'000'000), 1.05 * best) << slower << " " << k;
  }
}

/// Times that vary by three percent do not lead it away.
TEST_F(learning, stays_near_it_where_times_vary) {
  const machine_of_speeds on{{1e6, 3e6, 9e6}, 0};
  const double best = best_of_a_sweep(on, 1'000'000);
  std::mt19937 random(11);
  std::uniform_real_distribution<double> factor(0.97, 1.03);
  for (int k = 0; k < 10; ++k) launch(on, 1'000'000, [&] { return factor(random); });
  double sum = 0;
  for (int k = 0; k < 200; ++k) sum += launch(on, 1'000'000, [&] { return factor(random); });
  EXPECT_LE(sum / 200, 1.05 * best);
}

}  // namespace
}  // namespace tessera::hierarchy
