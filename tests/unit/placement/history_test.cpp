// The model of execution times: medians, outliers, buckets, what is kept from run to run. Pure: no device, no clock.
#include "core/placement/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/unit/placement/history_rig.hpp"

namespace tessera::placement {
namespace {

using ::testing::ElementsAre;
using rig = history_rig;

TEST(history, medians) {
  EXPECT_EQ(median_of({}), 0);
  EXPECT_EQ(median_of(std::vector<float>{3}), 3);
  EXPECT_EQ(median_of(std::vector<float>{9, 3}), 3) << "of two the lower: a first call warms up";
  EXPECT_EQ(median_of(std::vector<float>{5, 1, 9}), 5);
  EXPECT_EQ(median_of(std::vector<float>{4, 1, 3, 2}), 2);
  std::vector<float> many(101);
  for (std::size_t k = 0; k < many.size(); ++k) many[k] = static_cast<float>(k * 37 % 101);
  EXPECT_EQ(median_of(many), 50);
}

TEST(history, buckets_are_powers_of_two) {
  EXPECT_EQ(history::bucket_of(0), 0u);
  EXPECT_EQ(history::bucket_of(1), 0u);
  EXPECT_EQ(history::bucket_of(2), 1u);
  EXPECT_EQ(history::bucket_of(1023), 9u);
  EXPECT_EQ(history::bucket_of(1024), 10u);
  EXPECT_EQ(history::bucket_of(1e300), history::buckets - 1);
  EXPECT_EQ(history::bucket_of(std::nan("")), 0u);
}

TEST(history, without_measurements_the_work_over_the_speed) {
  rig r;
  EXPECT_DOUBLE_EQ(r.ns(cpu, 1e6), 1e6 + 100);
  EXPECT_DOUBLE_EQ(r.ns(fast, 1e6), 1e5 + 1000);
}

TEST(history, the_median_of_a_bucket_scales_with_the_amount) {
  rig r;
  r.measure(cpu, 1000, 3000);
  r.measure(cpu, 1000, 2000);
  r.measure(cpu, 1000, 2500);
  EXPECT_NEAR(r.ns(cpu, 1000), 2500, 1);
  EXPECT_NEAR(r.ns(cpu, 600), 1500, 1) << "the same bucket";
  EXPECT_DOUBLE_EQ(r.ns(fast, 1000), 1100) << "another kind is not touched";
}

TEST(history, only_the_latest_measurements_count) {
  rig r;
  r.measure(cpu, 1000, 1000, 15);
  for (int k = 0; k < 40; ++k) r.measure(cpu, 1000, 1000 + 50 * std::min(k, 20));
  EXPECT_NEAR(r.ns(cpu, 1000), 2000, 1);
}

TEST(history, outliers_are_rejected_until_they_are_the_rule) {
  rig r;
  r.measure(cpu, 1000, 1000, 5);
  r.measure(cpu, 1000, 90000, 2);
  EXPECT_NEAR(r.ns(cpu, 1000), 1000, 1);
  r.measure(cpu, 1000, 1000);  // an ordinary one in between: the count begins anew
  r.measure(cpu, 1000, 90000, 2);
  EXPECT_NEAR(r.ns(cpu, 1000), 1000, 1);
  r.measure(cpu, 1000, 90000);  // the third in a row
  EXPECT_NEAR(r.ns(cpu, 1000), 90000, 10) << "the place has become slow";
  r.measure(cpu, 1000, 1000, 6);
  EXPECT_NEAR(r.ns(cpu, 1000), 1000, 1) << "and fast again";
}

TEST(history, one_slow_first_call_does_not_matter) {
  rig r;
  r.measure(fast, 1000, 5e8);
  r.measure(fast, 1000, 2000);
  EXPECT_NEAR(r.ns(fast, 1000), 2000, 1);
}

TEST(history, between_and_beyond_measured_buckets) {
  rig r;
  const auto truth = [](double amount) { return 5000 + 0.5 * amount; };  // a fixed part, and one per operation
  for (const double amount : {1 << 12, 1 << 16}) r.measure(fast, amount, truth(amount), 3);
  for (const double amount : {1 << 14, 50000, 1 << 20, 1 << 8})
    EXPECT_NEAR(r.ns(fast, amount), truth(amount), 0.01 * truth(amount)) << amount;
  // With a single one: the slope of the described speed, 0.1 ns per operation, but no steeper than in proportion.
  rig one;
  one.measure(fast, 1024, 2048, 3);
  EXPECT_NEAR(one.ns(fast, 8192), 2048 + 0.1 * 7168, 1) << "the overhead of a small task does not grow with its size";
  EXPECT_NEAR(one.ns(fast, 128), 2048 - 0.1 * 896, 1);
  rig quick;
  quick.measure(cpu, 1024, 512, 3);
  EXPECT_NEAR(quick.ns(cpu, 8192), 4096, 1);
  EXPECT_NEAR(quick.ns(cpu, 128), 64, 1);
  // Noise never makes a time negative, nor smaller for more work beyond the measured ones.
  rig odd;
  odd.measure(cpu, 1 << 12, 9000, 3);
  odd.measure(cpu, 1 << 13, 1000, 3);
  EXPECT_GE(odd.ns(cpu, 1 << 20), 1000 - 1);
  EXPECT_GE(odd.ns(cpu, 2), 0);
}

TEST(history, property_estimates_are_finite_and_positive) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> exponent(0, 46), time(1, 9);
  rig r;
  for (int k = 0; k < 3000; ++k) {
    r.model.observe(*r.p, random() % 3, {std::exp2(exponent(random))}, std::pow(10.0, time(random)), random() % 4 != 0);
    const double amount = std::exp2(exponent(random));
    for (const std::uint32_t kind : {cpu, fast, far}) {
      const double s = r.model.seconds(r.p, kind, amount);
      ASSERT_TRUE(std::isfinite(s) && s >= 0) << kind << " " << amount << " " << s;
    }
  }
}

TEST(history, times_that_may_contain_waiting_count_while_there_is_nothing_better) {
  rig r;
  r.model.observe(*r.p, fast, {1000}, 9000, false);
  EXPECT_NEAR(r.ns(fast, 1000), 9000, 1);
  r.model.observe(*r.p, fast, {1000}, 7000, false);
  EXPECT_NEAR(r.ns(fast, 1000), 7000, 1) << "less waiting is nearer to the truth";
  r.measure(fast, 1000, 8000);
  EXPECT_NEAR(r.ns(fast, 1000), 8000, 1);
  r.model.observe(*r.p, fast, {1000}, 10, false);
  EXPECT_NEAR(r.ns(fast, 1000), 8000, 1);
}

TEST(history, a_wrong_guess_at_one_device_corrects_the_others) {
  rig r;  // both devices are guessed at 100 + 1 us
  r.measure(fast, 1e6, 101000 * 50.0, 3);
  EXPECT_NEAR(r.ns(far, 1e6), 101000 * 50.0, 10);
  EXPECT_DOUBLE_EQ(r.ns(cpu, 1e6), 1e6 + 100) << "the host has other implementations";
  r.measure(far, 1e6, 2e5, 3);
  EXPECT_NEAR(r.ns(far, 1e6), 2e5, 1);
}

TEST(history, says_when_an_estimate_surprises) {
  rig r;
  EXPECT_TRUE(r.model.observe(*r.p, cpu, {1000}, 5000)) << "expected 1100";
  EXPECT_FALSE(r.model.observe(*r.p, cpu, {1000}, 5100));
  EXPECT_FALSE(r.model.observe(*r.p, fast, {1000}, 1200)) << "as expected";
  EXPECT_TRUE(r.model.observe(*r.p, far, {1000}, 12000));
}

TEST(history, a_place_with_a_clock_of_its_own_is_not_measured) {
  auto with_clock = three_kinds();
  with_clock[fast].learns = false;
  rig r(with_clock);
  r.measure(fast, 1000, 7e6, 5);
  EXPECT_DOUBLE_EQ(r.ns(fast, 1000), 1100);
  const std::vector<history::option> options{{cpu, 1, 1}, {fast, 2, 2}};
  for (int k = 0; k < 2000; ++k) EXPECT_EQ(r.model.decide(*r.p, 1000, options, 0), 0u);
}

TEST(history, profiles_are_told_apart) {
  rig r;
  operation::definition other = operation::syrk();
  other.number = 8;
  EXPECT_EQ(r.model.profile_of(r.what, element_type::f64), r.p);
  EXPECT_NE(r.model.profile_of(r.what, element_type::f32), r.p);
  EXPECT_NE(r.model.profile_of(other, element_type::f64), r.p);
  r.measure(cpu, 1000, 12345, 3);
  EXPECT_DOUBLE_EQ(r.model.seconds(r.model.profile_of(r.what, element_type::f32), cpu, 1000) * 1e9, 1100);
}

TEST(history, a_full_table_falls_back_to_the_work) {
  rig r;
  operation::definition other = operation::syrk();
  std::size_t made = 1;
  for (std::uint32_t number = 100; number < 100 + history::max_profiles; ++number) {
    other.number = number;
    made += r.model.profile_of(other, element_type::f64) != nullptr;
  }
  EXPECT_EQ(made, history::max_profiles);
  other.number = 4000;
  EXPECT_EQ(r.model.profile_of(other, element_type::f64), nullptr);
  EXPECT_DOUBLE_EQ(r.model.seconds(nullptr, cpu, 1e6) * 1e9, 1e6 + 100);
  EXPECT_EQ(r.model.profile_of(r.what, element_type::f64), r.p) << "those that are in it stay";
}

// --- keeping and reporting

TEST(history, what_was_restored_needs_no_trials) {
  rig r;
  r.model.observe(*r.p, cpu, {1e6, 8192, 16384, 2}, 7e5);
  for (int k = 0; k < 20; ++k) r.measure(fast, 1e6, 1e5 + k);
  r.measure(cpu, 1e6, 7e5, 2);
  auto cells = r.model.cells();
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[1].samples.size(), history::kept);
  EXPECT_TRUE(cells[0].fresh);

  history again(three_kinds());
  again.restore(cells);
  EXPECT_EQ(again.cells(true).size(), 2u) << "what nobody asks for is kept";
  EXPECT_TRUE(again.cells(false).empty());
  auto* p = again.profile_of(r.what, element_type::f64);
  EXPECT_DOUBLE_EQ(again.seconds(p, cpu, 1e6), r.model.seconds(r.p, cpu, 1e6));
  EXPECT_DOUBLE_EQ(again.seconds(p, fast, 1e6), r.model.seconds(r.p, fast, 1e6));
  const std::vector<history::option> options{{cpu, 7e-4, 7e-4}, {fast, 1e-4, 1e-4}};
  for (std::uint32_t k = 0; k < history::resample_after; ++k) EXPECT_EQ(again.decide(*p, 1e6, options, 1), 1u) << k;
  EXPECT_EQ(again.decide(*p, 1e6, options, 1), 0u) << "its time has come again";
  ASSERT_EQ(again.cells(true).size(), 2u);
  EXPECT_FALSE(again.cells(true)[0].fresh);
  EXPECT_EQ(again.cells(true)[1].samples, cells[1].samples) << "in their order";
}

TEST(history, impossible_cells_are_not_restored) {
  const history_cell good{.operation = "gemm",
                          .type = element_type::f64,
                          .place = "cpu",
                          .bucket = 10,
                          .amount = 1024,
                          .samples = {1, 2, 3}};
  std::vector<history_cell> cells(7, good);
  cells[1].place = "cuda: H200";
  cells[2].bucket = 99;
  cells[3].samples = {1, -2};
  cells[4].samples.clear();
  cells[5].samples = {std::numeric_limits<float>::infinity()};
  cells[6].samples.assign(99, 1.0F);
  history model(three_kinds());
  model.restore(cells);
  EXPECT_EQ(model.cells(true).size(), 1u);
}

TEST(history, operations_of_the_host_alone_are_not_kept) {
  rig r;
  r.measure(cpu, 1000, 1000, 3);
  operation::definition host;
  host.name = "lambda";
  host.number = 9;
  auto* p = r.model.profile_of(host, element_type::f64);
  r.model.observe(*p, cpu, {4096}, 1000);
  EXPECT_EQ(r.model.cells(false).size(), 2u);
  EXPECT_FALSE(r.model.cells(false)[1].counts_operations) << "no work function: bytes";
  EXPECT_EQ(r.model.cells(true).size(), 1u);
}

}  // namespace
}  // namespace tessera::placement
