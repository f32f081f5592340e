// From which size on a device beats the CPU, as the model of execution times knows it.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/placement/history_rig.hpp"

namespace tessera::placement {
namespace {

using rig = history_rig;

TEST(crossover, is_the_size_from_which_on_a_device_wins) {
  rig r;
  // cpu: 1 ns per operation. fast: 20 us + 0.05 ns per operation, and 1 ms and 1 ns per byte to get there.
  for (unsigned b = 10; b <= 26; b += 2) {
    const double amount = std::exp2(b), block = std::exp2(b / 2.0) * 8;
    for (unsigned k = 0; k < history::minimum; ++k) {
      r.model.observe(*r.p, cpu, {amount, static_cast<float>(block), static_cast<float>(2 * block), 2}, amount);
      r.model.observe(*r.p, fast, {amount, static_cast<float>(block), static_cast<float>(2 * block), 2},
                      2e4 + 0.05 * amount);
    }
  }
  const auto kinds = three_kinds();
  const auto rows = crossovers_of(r.model.cells(), kinds);
  ASSERT_EQ(rows.size(), 1u) << "nothing was measured on 'far'";
  EXPECT_EQ(rows[0].operation, "gemm");
  EXPECT_EQ(rows[0].device, "sim: fast");
  EXPECT_EQ(rows[0].host, "cpu");
  EXPECT_TRUE(rows[0].resident.found);
  EXPECT_EQ(rows[0].resident.amount, std::exp2(16)) << "20 us / 0.95 ns is 21 k operations: 2^14 loses, 2^16 wins";
  EXPECT_TRUE(rows[0].moved.found);
  EXPECT_EQ(rows[0].moved.amount, std::exp2(22)) << "2 ms / 0.95 ns is 2.1 M operations and a bit";
  EXPECT_EQ(rows[0].moved.block_bytes, std::exp2(11) * 8);
  EXPECT_EQ(rows[0].smallest_block, 32 * 8);
}

TEST(crossover, needs_no_measurement_of_both_at_every_size) {
  rig r;
  for (unsigned b = 10; b <= 14; b += 2)
    r.measure(cpu, std::exp2(b), std::exp2(b), 3);  // the large ones never go there again
  for (unsigned b = 14; b <= 20; b += 2) r.measure(fast, std::exp2(b), 2e4 + 0.05 * std::exp2(b), 3);
  const auto rows = crossovers_of(r.model.cells(), r.model.kinds());
  ASSERT_EQ(rows.size(), 1u);
  ASSERT_TRUE(rows[0].resident.found);
  EXPECT_EQ(rows[0].resident.amount, std::exp2(16));
}

TEST(crossover, there_is_none_when_the_device_loses_at_the_largest_size) {
  rig r;
  for (unsigned b = 10; b <= 20; b += 2) {
    r.measure(cpu, std::exp2(b), 1000, 3);
    r.measure(far, std::exp2(b), b == 20 ? 3000 : 500, 3);
  }
  const auto rows = crossovers_of(r.model.cells(), r.model.kinds());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_FALSE(rows[0].resident.found);
  EXPECT_FALSE(rows[0].moved.found);
}

}  // namespace
}  // namespace tessera::placement
