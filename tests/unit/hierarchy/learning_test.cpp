// The policy auto finds the best split: its splits and what it learns, against a sweep, with computed times.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "hierarchy/policy/common_split.hpp"
#include "hierarchy/policy/learning.hpp"
#include "hierarchy/policy/seen_splits.hpp"
#include "hierarchy/policy/split.hpp"

namespace tessera::hierarchy {
namespace {

using location::node_id;

TEST(shares, of_numbers_that_have_no_sum_are_equal) {
  const leaf_shares equal{500, 500};
  EXPECT_EQ(earliest_shares(1000, std::vector<leaf_cost>{{1e308, 1e-200}, {1e308, 1e-200}}), equal);
  EXPECT_EQ(earliest_shares(1000, std::vector<leaf_cost>{{1e308, 1e-6}, {1e308, 1e-6}}), equal);
  EXPECT_EQ(earliest_shares(1000, {}), leaf_shares()) << "of no leaves";
}

/// A machine of three leaves, and the seconds that a region takes on it: those of the slowest leaf.
struct machine_of_speeds {
  std::vector<double> iterations_per_second;
  std::vector<double> seconds_per_task = {0, 0, 0};  ///< beside its iterations
  double seconds(std::size_t leaf, std::uint64_t iterations) const {
    return iterations == 0 ? 0 : seconds_per_task[leaf] + static_cast<double>(iterations) / iterations_per_second[leaf];
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
  std::vector<learnt_cost> learnt = std::vector<learnt_cost>(3);
  std::map<std::uint64_t, common_split> splits;  // by iterations
  leaf_shares last;
  trial_budget trials;
  const std::vector<double> moving = std::vector<double>(3);

  std::vector<leaf_cost> costs() const {
    std::vector<leaf_cost> all;
    for (const learnt_cost& l : learnt) all.push_back(l.now());
    return all;
  }
  /// One launch: the split, its time, and what is learnt from it. `noise`: factor of each task's time.
  template <class Noise>
  double launch(const machine_of_speeds& on, std::uint64_t n, const Noise& noise) {
    leaf_shares shares = splits[n].of("r", n, costs(), moving);
    if (shares.empty()) shares = earliest_shares(n, costs());
    last = shares;
    trials.apply(shares, costs(), moving);
    double slowest = 0;
    std::uint64_t sum = 0;
    for (std::size_t leaf = 0; leaf < shares.size(); ++leaf) {
      sum += shares[leaf];
      if (shares[leaf] == 0) continue;
      const double seconds = on.seconds(leaf, shares[leaf]) * noise();
      slowest = std::max(slowest, seconds);
      learnt[leaf].note(static_cast<double>(shares[leaf]), seconds);
    }
    EXPECT_EQ(sum, n);
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
  const machine_of_speeds on{{1e6, 3e6, 9e6}};
  const double best = best_of_a_sweep(on, 1'000'000);
  EXPECT_GT(launch(on, 1'000'000), 2 * best);  // nothing is known: equal parts
  EXPECT_LE(launch(on, 1'000'000), 1.05 * best);
  for (int k = 0; k < 20; ++k) EXPECT_LE(launch(on, 1'000'000), 1.05 * best) << k;
}

TEST_F(learning, finds_it_where_tasks_cost_something_beside_their_iterations) {
  const machine_of_speeds on{{1e6, 3e6, 9e6}, {2e-3, 2e-3, 2e-3}};
  const double best = best_of_a_sweep(on, 1'000'000);
  for (int k = 0; k < 4; ++k) launch(on, 1'000'000);
  for (int k = 0; k < 20; ++k) EXPECT_LE(launch(on, 1'000'000), 1.05 * best) << k;
}

/// A device that is slower than a core, and slow to start: the region is faster without it, and it is left out.
TEST_F(learning, leaves_out_what_would_be_late_by_its_fixed_cost_alone) {
  const machine_of_speeds on{{1e6, 1e6, 0.05e6}, {0, 0, 0.6}};
  const double best = best_of_a_sweep(on, 1'000'000);
  for (int k = 0; k < 4; ++k) launch(on, 1'000'000);
  for (int k = 0; k < 20; ++k) EXPECT_LE(launch(on, 1'000'000), 1.05 * best) << k;
  EXPECT_EQ(last[2], 0u);
}

/// The same lengths again and again tell nothing of the fixed cost, and it is not forgotten.
TEST_F(learning, knows_the_fixed_cost_after_many_launches_of_one_length) {
  const machine_of_speeds on{{1e6, 1e6, 9e6}, {0, 0, 0.02}};
  std::mt19937 random(5);
  std::uniform_real_distribution<double> factor(0.95, 1.05);
  for (int k = 0; k < 300; ++k) launch(on, 1'000'000, [&] { return factor(random); });
  EXPECT_LE(launch(on, 200'000), 1.06 * best_of_a_sweep(on, 200'000));
  EXPECT_LE(launch(on, 50'000), 1.06 * best_of_a_sweep(on, 50'000));
}

/// What was left out is tried again, seldom, and found when it has become fast.
TEST_F(learning, tries_what_it_left_out_within_a_budget) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "many iterations of what other tests begin";
#endif
  const machine_of_speeds slow{{1e6, 1e6, 0.05e6}, {0, 0, 2}};
  const double best = best_of_a_sweep(slow, 1'000'000);
  for (int k = 0; k < 4; ++k) launch(slow, 1'000'000);
  double sum = 0, longest = 0;
  for (int k = 0; k < 1000; ++k) {
    const double took = launch(slow, 1'000'000);
    sum += took, longest = std::max(longest, took);
  }
  EXPECT_GT(longest, 2) << "it was not tried";
  EXPECT_LE(sum, 1000 * 1.05 * best);
  const machine_of_speeds fast{{1e6, 1e6, 9e6}, {0, 0, 0}};
  int launches = 0;
  while (launch(fast, 1'000'000) > 1.05 * best_of_a_sweep(fast, 1'000'000) && launches < 1000) ++launches;
  EXPECT_LT(launches, 1000);
}

TEST_F(learning, finds_it_again_when_a_leaf_slows_down_by_half) {
  for (const double fixed : {0.0, 0.01}) {
    const machine_of_speeds before{{1e6, 3e6, 9e6}, {fixed, fixed, fixed}};
    for (std::size_t slower = 0; slower < 3; ++slower) {
      learnt = std::vector<learnt_cost>(3);
      splits.clear();
      for (int k = 0; k < 10; ++k) launch(before, 1'000'000);
      machine_of_speeds after = before;
      after.iterations_per_second[slower] /= 2;
      const double best = best_of_a_sweep(after, 1'000'000);
      EXPECT_GT(launch(after, 1'000'000), 1.05 * best) << slower;
      for (int k = 0; k < 5; ++k) launch(after, 1'000'000);
      for (int k = 0; k < 10; ++k) EXPECT_LE(launch(after, 1'000'000), 1.05 * best) << slower << " " << k;
    }
  }
}

/// Times that vary do not lead it away, and the split stays the same: another one moves what devices hold.
TEST_F(learning, stays_near_it_where_times_vary) {
  const machine_of_speeds on{{1e6, 3e6, 9e6}};
  const double best = best_of_a_sweep(on, 1'000'000);
  std::mt19937 random(11);
  std::uniform_real_distribution<double> factor(0.97, 1.03);
  for (int k = 0; k < 10; ++k) launch(on, 1'000'000, [&] { return factor(random); });
  double sum = 0;
  std::set<leaf_shares> seen;
  for (int k = 0; k < 200; ++k) {
    sum += launch(on, 1'000'000, [&] { return factor(random); });
    seen.insert(last);
  }
  EXPECT_LE(sum / 200, 1.05 * best);
  EXPECT_LE(seen.size(), 20u);
}

TEST(common_splits, regions_that_take_turns_have_one_split) {
  // Two leaves, of which the second one is twice as fast at one region and eight times as fast at the other. Alone they
  // would be split at 1/3 and at 1/9, and what moves between two launches would take as long as both.
  const std::vector<leaf_cost> one{{0, 2}, {0, 1}}, other{{0, 8}, {0, 1}};
  const std::vector<double> moving{0, 1};
  constexpr std::uint64_t n = 900;
  common_split split;
  std::set<leaf_shares> seen;
  double took = 0, moved = 0;
  leaf_shares last;
  for (int k = 0; k < 100; ++k)
    for (const auto& [name, costs] : {std::pair{"one", one}, std::pair{"other", other}}) {
      const leaf_shares now = split.of(name, n, costs, moving);
      if (!last.empty()) moved += seconds_to_move(last, now, moving);
      took += seconds_of(now, costs);
      seen.insert(last = now);
    }
  EXPECT_LE(seen.size(), 3u);
  EXPECT_LE(moved, 4 * n);
  double best = std::numeric_limits<double>::infinity();
  for (std::uint64_t first = 0; first <= n; ++first)
    best = std::min(best, seconds_of({first, n - first}, one) + seconds_of({first, n - first}, other));
  EXPECT_LE(took, 1.1 * 100 * best);
  EXPECT_EQ(split.of("new", n, std::vector<leaf_cost>{{}, {}}, moving), last) << "nothing is known of it";
}

TEST(common_splits, change_when_what_is_lost_pays_for_the_move) {
  constexpr std::uint64_t n = 1000;
  common_split split;
  const std::vector<double> moving{0, 0.1};
  const leaf_shares before = split.of("r", n, std::vector<leaf_cost>{{0, 1}, {0, 1}}, moving);
  EXPECT_EQ(before, (leaf_shares{500, 500}));
  const std::vector<leaf_cost> now{{0, 3}, {0, 1}};  // 1500 at the old split, 750 at the best one
  const leaf_shares best{250, 750};
  EXPECT_DOUBLE_EQ(seconds_to_move(before, best, moving), 25) << "the second leaf keeps what it has";
  EXPECT_EQ(split.of("r", n, now, moving), best);
  // Back again: the second leaf gives a part up, and all that it has moves.
  EXPECT_DOUBLE_EQ(seconds_to_move(best, before, moving), 125);
  const std::vector<leaf_cost> equal{{0, 1}, {0, 1}};  // 750 against 500
  int launches = 0;
  while (split.of("r", n, equal, std::vector<double>{0, 1}) == best && launches < 100) ++launches;
  EXPECT_EQ(launches, 4) << "1250 to move, 250 are lost each time";
}

TEST(common_splits, a_leaf_that_is_not_known_is_guessed_from_other_regions) {
  common_split split;
  const std::vector<double> moving(2);
  split.of("known", 1000, std::vector<leaf_cost>{{0, 4}, {0, 1}}, moving);
  // Twice as long on the first leaf, so on the second one, too.
  EXPECT_EQ(split.of("new", 1000, std::vector<leaf_cost>{{0, 8}, {}}, moving), (leaf_shares{200, 800}));
}

/// Two cores and a device that is twenty times as fast, where each launch that both take part in copies borders: which
/// no leaf's own time has. Scripted: seconds are computed.
struct copied_borders : ::testing::Test {
  static constexpr std::uint64_t n = 1'000'000;
  const std::vector<leaf_cost> is{{0, 20e-9}, {0, 20e-9}, {1e-4, 1e-9}};
  const std::vector<double> moving{0, 0, 1e-9};
  double borders = 0.030;
  std::vector<learnt_cost> learnt = std::vector<learnt_cost>(3);
  common_split split;
  trial_budget trials;
  leaf_shares last;
  static bool is_mixed(const leaf_shares& s) { return s[2] > 0 && s[0] + s[1] > 0; }

  /// What a launch takes; as in launch_history.
  double launch() {
    std::vector<leaf_cost> costs;
    for (const learnt_cost& l : learnt) costs.push_back(l.now());
    leaf_shares shares = split.of("r", n, costs, moving);
    if (shares.empty()) shares = earliest_shares(n, costs);
    const leaf_shares without_trial = shares;
    trials.apply(shares, split.guessed(costs), moving,
                 [&](const leaf_shares& trial) { return split.beyond("r", trial); });
    for (std::size_t k = 0; k < 3; ++k)
      if (shares[k] > 0) learnt[k].note(double(shares[k]), is[k].seconds(double(shares[k])));
    const double seconds = seconds_of(shares, is) + (is_mixed(shares) ? borders : 0);
    if (shares == last || shares != without_trial) split.saw("r", shares, seconds);
    last = shares;
    return seconds;
  }
};

/// The device alone takes 1.1 ms, all together 31.
TEST_F(copied_borders, make_a_split_that_was_seen_to_be_slow_be_left_at_the_next_launch) {
  int mixed = 0;
  for (int k = 0; k < 8; ++k) launch(), mixed += is_mixed(last);
  EXPECT_FALSE(is_mixed(last));
  EXPECT_EQ(last, (leaf_shares{0, 0, n}));
  EXPECT_LE(mixed, 4) << "equal parts, the best by costs, that again: it is seen; and no more";
  double sum = 0;
  for (int k = 0; k < 3000; ++k) sum += launch();
  EXPECT_LE(sum, 3000 * 1.1 * is[2].seconds(n)) << "it is tried again, seldom";
}

/// What was slow is found when it has become fast.
TEST_F(copied_borders, that_end_are_noticed) {
  for (int k = 0; k < 50; ++k) launch();
  EXPECT_FALSE(is_mixed(last));
  borders = 0;
  int launches = 0;
  while (!is_mixed(last) && launches < 5000) launch(), ++launches;
  EXPECT_LT(launches, 5000);
}

/// Borders that cost little beside what all together save are no reason to leave anything.
TEST_F(copied_borders, that_cost_little_change_nothing) {
  borders = 1e-5;
  for (int k = 0; k < 50; ++k) launch();
  const leaf_shares before = last;
  EXPECT_TRUE(is_mixed(before));
  for (int k = 0; k < 50; ++k) launch();
  EXPECT_EQ(last, before);
}

TEST(seen_splits, one_look_is_believed_and_one_of_three_is_not) {
  seen_splits seen;
  const leaf_shares both{500, 500}, others{400, 600}, one{0, 1000};
  EXPECT_EQ(seen.beyond(both), 0);
  seen.note(both, 10, 4);
  EXPECT_DOUBLE_EQ(seen.beyond(both), 6);
  EXPECT_DOUBLE_EQ(seen.beyond(others), 6) << "the same leaves";
  EXPECT_EQ(seen.beyond(one), 0);
  seen.note(both, 5, 4);
  EXPECT_DOUBLE_EQ(seen.beyond(both), 1) << "the shorter one of two";
  seen.note(both, 5, 4);
  seen.note(both, 500, 4);
  EXPECT_DOUBLE_EQ(seen.beyond(both), 1);
  seen.note(both, 3, 4);
  EXPECT_DOUBLE_EQ(seen.beyond(both), 1);
}

TEST(seen_splits, are_forgotten_when_a_fiftieth_of_the_time_has_paid_for_a_trial) {
  seen_splits seen;
  const leaf_shares both{500, 500}, one{0, 1000};
  seen.note(both, 14, 4);
  int launches = 0;
  while (seen.beyond(both) > 0 && launches < 10'000) seen.forgive(one, 2), ++launches;
  EXPECT_NEAR(launches, 500, 1) << "20 seconds, 0.04 at each launch";
  seen.note(both, 14, 4);
  for (int k = 0; k < 10'000; ++k) seen.forgive(both, 2);
  EXPECT_GT(seen.beyond(both), 0) << "it is what is used";
}

/// One task that is disturbed changes little; the next ones tell the truth.
TEST(learnt_costs, one_disturbed_task_is_not_believed) {
  learnt_cost of;
  for (int k = 0; k < 20; ++k) of.note(1000, 1);
  of.note(1000, 50);
  EXPECT_LT(of.now().seconds(1000), 1.5);
  for (int k = 0; k < 3; ++k) of.note(1000, 1);
  EXPECT_NEAR(of.now().seconds(1000), 1, 0.1);
}

TEST(learnt_costs, two_lengths_tell_the_fixed_cost) {
  learnt_cost of;
  EXPECT_FALSE(of.now().known());
  const auto seconds = [](double n) { return 0.25 + n * 1e-3; };
  of.note(1000, seconds(1000));
  EXPECT_DOUBLE_EQ(of.now().seconds(1000), seconds(1000));
  for (int k = 0; k < 4; ++k)
    for (const double n : {100.0, 1000.0}) of.note(n, seconds(n));
  EXPECT_NEAR(of.now().fixed, 0.25, 0.025);
  EXPECT_NEAR(of.now().per_iteration, 1e-3, 1e-4);
}

TEST(shares_of_leaves, cover_the_loop_and_are_done_at_one_time) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> fixed(0, 1), slope(1e-6, 1e-4);
  for (int round = 0; round < 500; ++round) {
    std::vector<leaf_cost> costs(1 + random() % 9);
    for (leaf_cost& c : costs)
      if (random() % 8 != 0) c = {random() % 2 == 0 ? 0 : fixed(random), slope(random)};
    const std::uint64_t n = random() % 100'000;
    const leaf_shares shares = earliest_shares(n, costs);
    std::uint64_t sum = 0;
    for (const std::uint64_t s : shares) sum += s;
    ASSERT_EQ(sum, n);
    if (!std::ranges::all_of(costs, &leaf_cost::known)) continue;
    const double best = seconds_of(shares, costs);
    for (int k = 0; k < 20; ++k) {  // no other split is more than a fiftieth faster
      leaf_shares other = shares;
      const std::size_t from = random() % other.size(), to = random() % other.size();
      const std::uint64_t moved = other[from] == 0 ? 0 : random() % other[from];
      other[from] -= moved, other[to] += moved;
      EXPECT_GE(seconds_of(other, costs) * 1.02 + 2e-4, best);
    }
  }
}

}  // namespace
}  // namespace tessera::hierarchy
