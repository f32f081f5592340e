// Orders of rows: reverse Cuthill-McKee, and back.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "libraries/sparse/matrix/generate.hpp"
#include "libraries/sparse/matrix/reorder.hpp"

namespace tessera::sparse {
namespace {

/// Any order.
row_order shuffled(std::int64_t rows) {
  row_order made;
  made.old_rows.resize(static_cast<std::size_t>(rows));
  std::iota(made.old_rows.begin(), made.old_rows.end(), 0);
  std::ranges::shuffle(made.old_rows, std::mt19937(7));
  return made;
}

bool is_permutation(std::vector<std::int32_t> rows) {
  std::ranges::sort(rows);
  for (std::size_t k = 0; k < rows.size(); ++k)
    if (rows[k] != static_cast<std::int32_t>(k)) return false;
  return true;
}

TEST(reordered_matrix, has_the_same_entries_at_other_places) {
  const csr_matrix a = generate("xxz:8");
  const row_order order = shuffled(a.rows);
  const csr_matrix b = order.reordered(a);
  require_well_formed(b);
  require_symmetric(b);
  EXPECT_EQ(b.nonzeros(), a.nonzeros());
  EXPECT_EQ(infinity_norm(b), infinity_norm(a));
  // y = A x in the other order, and back.
  std::vector<double> x(static_cast<std::size_t>(a.rows));
  std::iota(x.begin(), x.end(), 1.0);
  const auto product = [](const csr_matrix& m, const std::vector<double>& from) {
    std::vector<double> y(from.size(), 0.0);
    for (std::size_t i = 0; i < y.size(); ++i)
      for (auto k = static_cast<std::size_t>(m.row_starts[i]); k < static_cast<std::size_t>(m.row_starts[i + 1]); ++k)
        y[i] += m.values[k] * from[static_cast<std::size_t>(m.entry_columns[k])];
    return y;
  };
  const std::vector<double> direct = product(a, x), there_and_back = order.restored(product(b, order.reordered(x)));
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(there_and_back[i], direct[i], 1e-10);
}

TEST(row_order, goes_back_with_several_columns) {
  const row_order order = shuffled(50);
  std::vector<double> x(150);
  std::iota(x.begin(), x.end(), 0.0);
  EXPECT_NE(order.reordered(x), x);
  EXPECT_EQ(order.restored(order.reordered(x)), x);
  EXPECT_TRUE(order.reordered(std::vector<double>()).empty());
}

TEST(reverse_cuthill_mckee, finds_the_bandwidth_of_a_lattice_again) {
  const csr_matrix a = generate("lap2d:20"), mixed = shuffled(a.rows).reordered(a);
  ASSERT_EQ(bandwidth(a), 20);
  ASSERT_GT(bandwidth(mixed), 200);
  const row_order order = reverse_cuthill_mckee(mixed);
  EXPECT_TRUE(is_permutation(order.old_rows));
  EXPECT_LE(bandwidth(order.reordered(mixed)), 22);
}

TEST(reverse_cuthill_mckee, numbers_each_connected_part) {
  // A path 0 - 3 - 1 - 5, a pair 2 - 4, and two rows by themselves, one of them empty.
  std::vector<triplet> entries{{6, 6, 1}};
  for (const auto& [u, v] : std::vector<std::pair<int, int>>{{0, 3}, {3, 1}, {1, 5}, {2, 4}})
    entries.push_back({u, v, 1}), entries.push_back({v, u, 1});
  const csr_matrix a = matrix_of("parts", 8, 8, entries);
  const row_order order = reverse_cuthill_mckee(a);
  EXPECT_TRUE(is_permutation(order.old_rows));
  EXPECT_EQ(bandwidth(order.reordered(a)), 1);
}

}  // namespace
}  // namespace tessera::sparse
