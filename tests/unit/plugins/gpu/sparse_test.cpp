// Sparse matrices and reductions on GPU plugins: the index for transposed products, and sizes beyond one grid.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "tests/unit/plugins/gpu/plugins.hpp"
#include "tests/unit/plugins/sparse_matrix.hpp"

namespace tessera::test {
namespace {

class gpu_sparse : public testing::TestWithParam<std::string> {
 protected:
  static std::uint64_t free_bytes(const opened_plugin::device& d) {
    std::uint64_t bytes = 0;
    opened_plugin::check(d.table->query(d.handle, TSR_QUERY_FREE_BYTES, 0, &bytes));
    return bytes;
  }
};
INSTANTIATE_TEST_SUITE_P(plugins, gpu_sparse, testing::ValuesIn(gpu_plugins()),
                         [](const auto& test) { return test.param; });

given_option limit(std::int64_t bytes) { return {"memory_limit", TSR_OPTION_BYTES, bytes, 0, {}}; }

TEST_P(gpu_sparse, the_index_counts_as_memory_as_long_as_the_handle_lives) {
  opened_plugin plugin(GetParam(), {limit(1 << 20)});
  const auto& d = plugin.devices.at(0);
  placed_data data(d);
  const tsr_csr plain = data.diagonal(1000, 500, 3, TSR_CSR_NEVER_TRANSPOSED);
  tsr_csr both = plain;
  both.flags = 0;
  const auto before = free_bytes(d);
  tsr_sparse *one = nullptr, *other = nullptr;
  ASSERT_EQ(d.sparse->create_csr(d.handle, &plain, &one), TSR_OK);
  EXPECT_EQ(free_bytes(d), before);
  ASSERT_EQ(d.sparse->create_csr(d.handle, &both, &other), TSR_OK);
  EXPECT_EQ(before - free_bytes(d), 1001u * 8 + 500 * 12);
  EXPECT_EQ(d.sparse->destroy(d.handle, one), TSR_OK);
  EXPECT_EQ(d.sparse->destroy(d.handle, other), TSR_OK);
  EXPECT_EQ(free_bytes(d), before);
}

TEST_P(gpu_sparse, the_index_of_tiles_counts_tiles) {
  opened_plugin plugin(GetParam(), {limit(1 << 20)});
  const auto& d = plugin.devices.at(0);
  placed_data data(d);
  tsr_bsr bsr{};
  bsr.struct_size = sizeof bsr;
  bsr.type = TSR_F32;
  bsr.rows = 7, bsr.columns = 50, bsr.tile_rows = 4, bsr.tile_columns = 3, bsr.tiles = 3;
  bsr.row_starts = data.put(std::vector<std::int64_t>{0, 1, 3});
  bsr.column_indices = data.put(std::vector<std::int32_t>{16, 0, 16});
  bsr.values = data.put(std::vector<float>(36, 1));
  const auto before = free_bytes(d);
  tsr_sparse* matrix = nullptr;
  ASSERT_EQ(d.sparse->create_bsr(d.handle, &bsr, &matrix), TSR_OK) << opened_plugin::last_error();
  EXPECT_EQ(before - free_bytes(d), 18u * 8 + 3 * 12);
  EXPECT_EQ(d.sparse->destroy(d.handle, matrix), TSR_OK);
  EXPECT_EQ(free_bytes(d), before);
}

/// Whole numbers, so that every order of adding up gives the same.
TEST_P(gpu_sparse, tiles_are_what_their_elements_are) {
  opened_plugin plugin(GetParam());
  const auto& d = plugin.devices.at(0);
  std::mt19937 random(20);
  const auto below = [&](unsigned n) { return static_cast<std::int64_t>(random() % n); };
  for (int round = 0; round < 12; ++round) {
    placed_data data(d);
    const std::int64_t h = 1 + below(9), w = 1 + below(40), rows = 1 + below(60), columns = 1 + below(90),
                       b = 1 + below(40);
    const std::int64_t lines = (rows + h - 1) / h, across = (columns + w - 1) / w;
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> at;
    for (std::int64_t line = 0; line < lines; ++line) {
      for (auto tiles = below(5); tiles > 0; --tiles)
        at.push_back(static_cast<std::int32_t>(below(static_cast<unsigned>(across))));
      starts.push_back(static_cast<std::int64_t>(at.size()));
    }
    const auto numbers = [&](std::int64_t count) {
      std::vector<float> made(static_cast<std::size_t>(count));
      for (float& one : made) one = static_cast<float>(below(17)) - 8;
      return made;
    };
    const auto values = numbers(static_cast<std::int64_t>(at.size()) * h * w), x = numbers(std::max(rows, columns) * b);
    tsr_bsr bsr{};
    bsr.struct_size = sizeof bsr;
    bsr.type = TSR_F32;
    bsr.rows = rows, bsr.columns = columns, bsr.tile_rows = h, bsr.tile_columns = w,
    bsr.tiles = static_cast<std::int64_t>(at.size());
    bsr.row_starts = data.put(starts), bsr.column_indices = data.put(at), bsr.values = data.put(values);
    const tsr_address on_x = data.put(x);
    tsr_sparse* matrix = nullptr;
    ASSERT_EQ(d.sparse->create_bsr(d.handle, &bsr, &matrix), TSR_OK) << opened_plugin::last_error();
    for (const tsr_transpose transpose : {TSR_NO_TRANSPOSE, TSR_TRANSPOSE}) {
      const std::int64_t out = transpose == TSR_NO_TRANSPOSE ? rows : columns;
      std::vector<float> wanted(static_cast<std::size_t>(out * b));
      for (std::int64_t line = 0; line < lines; ++line)
        for (std::int64_t e = starts[static_cast<std::size_t>(line)]; e < starts[static_cast<std::size_t>(line) + 1];
             ++e)
          for (std::int64_t j = 0; j < w; ++j)
            for (std::int64_t i = 0; i < h; ++i) {
              const std::int64_t row = line * h + i, column = at[static_cast<std::size_t>(e)] * w + j;
              if (row >= rows || column >= columns) continue;
              const std::int64_t to = transpose == TSR_NO_TRANSPOSE ? row : column, from = row + column - to;
              for (std::int64_t q = 0; q < b; ++q)
                wanted[static_cast<std::size_t>(to * b + q)] +=
                    values[static_cast<std::size_t>((e * w + j) * h + i)] * x[static_cast<std::size_t>(from * b + q)];
            }
      const tsr_address y = data.put(std::vector<float>(wanted.size(), NAN));
      const float one = 1, none = 0;
      ASSERT_EQ(d.sparse->spmm(d.handle, data.stream(), transpose, &one, matrix, on_x, b, b, &none, y, b, {}), TSR_OK);
      EXPECT_EQ(data.get<float>(y, wanted.size()), wanted)
          << rows << " x " << columns << " of " << h << " x " << w << " by " << b;
    }
    EXPECT_EQ(d.sparse->destroy(d.handle, matrix), TSR_OK);
  }
}

TEST_P(gpu_sparse, a_matrix_whose_index_has_no_room_can_do_without) {
  opened_plugin plugin(GetParam(), {limit(1 << 20)});
  const auto& d = plugin.devices.at(0);
  placed_data data(d);
  tsr_csr csr = data.diagonal(1000, 1000, 3);
  const tsr_address x = data.put(std::vector<float>(1000, 2)), y = data.put(std::vector<float>(1000));
  data.put(std::vector<char>(free_bytes(d) - 10000));
  tsr_sparse* matrix = nullptr;
  const auto before = free_bytes(d);
  EXPECT_EQ(d.sparse->create_csr(d.handle, &csr, &matrix), TSR_RESOURCE_EXHAUSTED);
  EXPECT_NE(opened_plugin::last_error().find("20008 bytes"), std::string::npos) << opened_plugin::last_error();
  EXPECT_EQ(free_bytes(d), before);
  csr.flags = TSR_CSR_NEVER_TRANSPOSED;
  ASSERT_EQ(d.sparse->create_csr(d.handle, &csr, &matrix), TSR_OK);
  EXPECT_EQ(data.multiply(matrix, 1, x, y), TSR_OK);
  EXPECT_EQ(data.get<float>(y, 1000), std::vector<float>(1000, 6));
  EXPECT_EQ(data.multiply(matrix, 1, x, y, TSR_TRANSPOSE), TSR_FAILED_PRECONDITION);
  EXPECT_EQ(d.sparse->destroy(d.handle, matrix), TSR_OK);
}

TEST_P(gpu_sparse, more_rows_than_a_grid_has_threads) {
  opened_plugin plugin(GetParam());
  const auto& d = plugin.devices.at(0);
  placed_data data(d);
  const std::int64_t count = largest_grid(GetParam()) * 256 + 1000, nonzeros = count - 10;
  const auto n = static_cast<std::size_t>(count);
  const tsr_csr csr = data.diagonal(count, nonzeros, 0.5f);
  std::vector<float> ramp(n), wanted(n);
  std::iota(ramp.begin(), ramp.end(), 0.0f);
  for (std::size_t i = 0; i < static_cast<std::size_t>(nonzeros); ++i) wanted[i] = 0.5f * ramp[i];
  const tsr_address x = data.put(ramp), y = data.put(std::vector<float>(n, 1));
  tsr_sparse* matrix = nullptr;
  ASSERT_EQ(d.sparse->create_csr(d.handle, &csr, &matrix), TSR_OK);
  for (const tsr_transpose transpose : {TSR_NO_TRANSPOSE, TSR_TRANSPOSE}) {
    ASSERT_EQ(data.multiply(matrix, 1, x, y, transpose), TSR_OK);
    EXPECT_EQ(data.get<float>(y, n), wanted);
  }
  EXPECT_EQ(d.sparse->destroy(d.handle, matrix), TSR_OK);
}

TEST_P(gpu_sparse, handles_that_are_none_are_recognised_and_others_go_with_the_device) {
  opened_plugin plugin(GetParam());
  const auto& d = plugin.devices.at(0);
  placed_data data(d);
  const tsr_csr csr = data.diagonal(2, 2, 1);
  tsr_sparse *matrix = nullptr, *left = nullptr;
  ASSERT_EQ(d.sparse->create_csr(d.handle, &csr, &matrix), TSR_OK);
  ASSERT_EQ(d.sparse->create_csr(d.handle, &csr, &left), TSR_OK);
  EXPECT_EQ(d.sparse->destroy(d.handle, matrix), TSR_OK);
  EXPECT_EQ(d.sparse->destroy(d.handle, matrix), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(data.multiply(matrix, 1, csr.values, csr.values), TSR_INVALID_ARGUMENT);
}

TEST_P(gpu_sparse, reductions_longer_and_more_than_a_grid_takes) {
  opened_plugin plugin(GetParam());
  const auto& d = plugin.devices.at(0);
  placed_data data(d);
  const auto reduced = [&](std::int64_t m, std::int64_t n, tsr_reduction_direction direction) {
    std::vector<std::int32_t> values(static_cast<std::size_t>(m * n));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i % 1013);
    const bool per_row = direction == TSR_REDUCTION_PER_ROW;
    const auto results = static_cast<std::size_t>(per_row ? m : n);
    tsr_reduce r{};
    r.struct_size = sizeof r;
    r.type = TSR_I32;
    r.reduction = TSR_REDUCTION_SUM;
    r.direction = direction;
    r.m = r.ld = m, r.n = n;
    r.source = data.put(values);
    r.destination = data.put(std::vector<std::int32_t>(results));
    EXPECT_EQ(d.tensor->reduce(d.handle, data.stream(), &r), TSR_OK);
    std::vector<std::int32_t> wanted(results);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i)
        wanted[static_cast<std::size_t>(per_row ? i : j)] += values[static_cast<std::size_t>(i + j * m)];
    EXPECT_EQ(data.get<std::int32_t>(r.destination, results), wanted) << m << " x " << n;
  };
  for (const auto direction : {TSR_REDUCTION_PER_ROW, TSR_REDUCTION_PER_COLUMN}) {
    const std::int64_t grid = largest_grid(GetParam());  // 32 results a block, or one
    reduced(1, grid * 25, direction);
    reduced(grid * 25, 1, direction);
    reduced(5, grid * 8, direction);
    reduced(grid * 34, 3, direction);
  }
}

}  // namespace
}  // namespace tessera::test
