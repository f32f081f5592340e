// From entries to a lower triangle by columns, and what is computed with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "core/base/error.hpp"
#include "libraries/matrix_market/symmetric.hpp"

namespace tessera::matrix_market {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

error error_of(const std::string& text) {
  try {
    (void)symmetric_of(parse(text, "m.mtx"));
  } catch (const error& e) {
    return e;
  }
  ADD_FAILURE() << "it was accepted";
  return error(error_kind::internal, "none");
}

TEST(matrix_market_symmetric, columns_in_order_rows_ascending) {
  const lower_triangle a = symmetric_of(parse(
      "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n3 1 31\n3 3 33\n1 1 11\n3 2 32\n2 2 22\n", "m.mtx"));
  EXPECT_EQ(a.n, 3);
  EXPECT_THAT(a.starts, ElementsAre(0, 2, 4, 5));
  EXPECT_THAT(a.rows, ElementsAre(0, 2, 1, 2, 2));
  EXPECT_THAT(a.values, ElementsAre(11, 31, 22, 32, 33));
  std::vector<double> y(3);
  multiply(a, std::vector<double>{1, 10, 100}, y);
  EXPECT_THAT(y, ElementsAre(11 + 3100, 220 + 3200, 31 + 320 + 3300));
  EXPECT_EQ(infinity_norm(a), 31 + 32 + 33);
}

TEST(matrix_market_symmetric, a_general_matrix_that_is_its_own_mirror_image) {
  const lower_triangle a = symmetric_of(
      parse("%%MatrixMarket matrix coordinate real general\n2 2 4\n1 2 5\n1 1 1\n2 1 5\n2 2 2\n", "m.mtx"));
  EXPECT_THAT(a.values, ElementsAre(1, 5, 2));
  // Printed with too few digits, or summed in another order: the same to the last places.
  const lower_triangle rounded = symmetric_of(
      parse("%%MatrixMarket matrix coordinate real general\n2 2 4\n1 2 5.00000000001\n1 1 1\n2 1 5\n2 2 2\n", "m.mtx"));
  EXPECT_THAT(rounded.values, ElementsAre(1, 5, 2)) << "the lower one is taken";
}

TEST(matrix_market_symmetric, mistakes) {
  const error wide = error_of("%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
  EXPECT_EQ(wide.kind(), error_kind::input);
  EXPECT_THAT(wide.message(), HasSubstr("2 x 3, not square"));
  EXPECT_EQ(wide.where(), "m.mtx");

  const error twice = error_of("%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n2 1 5\n1 1 1\n2 1 5\n");
  EXPECT_THAT(twice.message(), HasSubstr("(2, 1) is given twice, first in line 3"));
  EXPECT_EQ(twice.where(), "m.mtx:5");

  const error different =
      error_of("%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 1\n2 1 5\n1 2 6\n2 2 2\n");
  EXPECT_THAT(different.message(), HasSubstr("not symmetric: (2, 1) is 5 and (1, 2) is 6"));
  EXPECT_EQ(different.where(), "m.mtx:4");

  const error absent = error_of("%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n1 2 6\n2 2 2\n");
  EXPECT_THAT(absent.message(), HasSubstr("not symmetric: (1, 2) is 6 and (2, 1) is 0"));
}

// Random matrices against a map of all elements.
TEST(matrix_market_symmetric, agrees_with_a_dense_product) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 50; ++round) {
    const int n = std::uniform_int_distribution(1, 30)(random);
    std::map<std::pair<int, int>, int> lower;
    for (int k = 0; k < 3 * n; ++k) {
      const int i = std::uniform_int_distribution(0, n - 1)(random),
                j = std::uniform_int_distribution(0, n - 1)(random);
      lower[{std::max(i, j), std::min(i, j)}] = std::uniform_int_distribution(-9, 9)(random);
    }
    std::vector<std::pair<std::pair<int, int>, int>> shuffled(lower.begin(), lower.end());
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    std::string text = "%%MatrixMarket matrix coordinate integer symmetric\n" + std::to_string(n) + " " +
                       std::to_string(n) + " " + std::to_string(shuffled.size()) + "\n";
    for (const auto& [at, value] : shuffled)
      text += std::to_string(at.first + 1) + " " + std::to_string(at.second + 1) + " " + std::to_string(value) + "\n";
    const lower_triangle a = symmetric_of(parse(text, "random"));

    std::vector<double> x(static_cast<std::size_t>(n)), expected(x.size(), 0), sums(x.size(), 0), y(x.size());
    for (double& v : x) v = std::uniform_int_distribution(-100, 100)(random);
    for (const auto& [at, value] : lower) {
      const auto i = static_cast<std::size_t>(at.first), j = static_cast<std::size_t>(at.second);
      expected[i] += value * x[j];
      sums[i] += std::abs(value);
      if (i == j) continue;
      expected[j] += value * x[i];
      sums[j] += std::abs(value);
    }
    multiply(a, x, y);
    EXPECT_EQ(y, expected);  // whole numbers: exact
    EXPECT_EQ(infinity_norm(a), *std::max_element(sums.begin(), sums.end()));
  }
}

}  // namespace
}  // namespace tessera::matrix_market
