// Sparse matrices of the host and of simulated devices: what the conformance suite may not ask of everybody.
#include <gtest/gtest.h>

#include "tests/unit/plugins/sparse_matrix.hpp"

namespace tessera::test {
namespace {

class sparse_matrices : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(plugins, sparse_matrices, testing::Values("host", "sim"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(sparse_matrices, handles_that_are_none_are_recognised) {
  opened_plugin plugin(GetParam());
  const auto& d = plugin.devices.at(0);
  ASSERT_NE(d.sparse, nullptr);
  placed_data data(d);
  const tsr_csr csr = data.diagonal(4, 4, 2);
  const tsr_address x = data.put(std::vector<float>{1, 2, 3, 4}), y = data.put(std::vector<float>(4));
  tsr_sparse* matrix = nullptr;
  ASSERT_EQ(d.sparse->create_csr(d.handle, &csr, &matrix), TSR_OK);
  EXPECT_EQ(data.multiply(matrix, 10, x, y), TSR_OK);
  EXPECT_EQ(data.get<float>(y, 4), (std::vector<float>{20, 40, 60, 80}));
  EXPECT_EQ(d.sparse->destroy(d.handle, matrix), TSR_OK);
  EXPECT_EQ(data.multiply(matrix, 10, x, y), TSR_INVALID_ARGUMENT);
  EXPECT_NE(opened_plugin::last_error().find("not a live matrix of this device"), std::string::npos)
      << opened_plugin::last_error();
  EXPECT_EQ(d.sparse->destroy(d.handle, matrix), TSR_INVALID_ARGUMENT);
  alignas(64) char rubbish[512] = {};
  EXPECT_EQ(data.multiply(reinterpret_cast<tsr_sparse*>(rubbish), 1, x, y), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(d.sparse->destroy(d.handle, reinterpret_cast<tsr_sparse*>(rubbish + 1)), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(d.sparse->create_csr(nullptr, &csr, &matrix), TSR_INVALID_ARGUMENT);
}

TEST_P(sparse_matrices, memory_that_is_gone_is_noticed) {
  opened_plugin plugin(GetParam());
  const auto& d = plugin.devices.at(0);
  placed_data data(d);
  const tsr_csr csr = data.diagonal(4, 4, 2);
  const tsr_address x = data.put(std::vector<float>(4)), y = data.put(std::vector<float>(4));
  tsr_sparse* matrix = nullptr;
  ASSERT_EQ(d.sparse->create_csr(d.handle, &csr, &matrix), TSR_OK);
  data.free(csr.values);
  EXPECT_EQ(data.multiply(matrix, 1, x, y), TSR_INVALID_ARGUMENT);
  EXPECT_NE(opened_plugin::last_error().find("values"), std::string::npos) << opened_plugin::last_error();
  EXPECT_EQ(d.sparse->destroy(d.handle, matrix), TSR_OK);
}

TEST_P(sparse_matrices, mistakes_are_told_with_their_place) {
  opened_plugin plugin(GetParam());
  const auto& d = plugin.devices.at(0);
  placed_data data(d);
  tsr_csr csr = data.diagonal(3, 3, 1);
  tsr_sparse* matrix = nullptr;
  const auto told = [&](const tsr_csr& what) {
    EXPECT_NE(d.sparse->create_csr(d.handle, &what, &matrix), TSR_OK);
    return opened_plugin::last_error();
  };
  tsr_csr bad = csr;
  bad.row_starts = data.put(std::vector<std::int64_t>{0, 2, 1, 3});
  EXPECT_NE(told(bad).find("row_starts fall from 2 to 1 at row 1"), std::string::npos) << opened_plugin::last_error();
  bad = csr;
  bad.column_indices = data.put(std::vector<std::int32_t>{0, 1, 3});
  EXPECT_NE(told(bad).find("nonzero 2 is in column 3 of 3"), std::string::npos) << opened_plugin::last_error();
  bad = csr;
  bad.row_starts = data.put(std::vector<std::int64_t>{0, 1, 2, 5});
  EXPECT_NE(told(bad).find("end with 5, not with the 3 nonzeros"), std::string::npos) << opened_plugin::last_error();
  EXPECT_EQ(matrix, nullptr);
}

TEST_P(sparse_matrices, of_tiles_are_multiplied_and_mistakes_told_in_tiles) {
  opened_plugin plugin(GetParam());
  const auto& d = plugin.devices.at(0);
  placed_data data(d);
  tsr_bsr bsr{};
  bsr.struct_size = sizeof bsr;
  bsr.type = TSR_F32;
  bsr.rows = 3, bsr.columns = 4, bsr.tile_rows = 2, bsr.tile_columns = 2, bsr.tiles = 2;
  bsr.row_starts = data.put(std::vector<std::int64_t>{0, 1, 2});
  bsr.column_indices = data.put(std::vector<std::int32_t>{1, 0});
  bsr.values = data.put(
      std::vector<float>{1, 2, 3, 4, 5, 99, 6, 99});  // (0, 2) (1, 2) (0, 3) (1, 3); (2, 0), beyond, (2, 1), beyond
  const tsr_address x = data.put(std::vector<float>{1, 10, 100, 1000}), y = data.put(std::vector<float>(4));
  tsr_sparse* matrix = nullptr;
  ASSERT_EQ(d.sparse->create_bsr(d.handle, &bsr, &matrix), TSR_OK) << opened_plugin::last_error();
  EXPECT_EQ(data.multiply(matrix, 1, x, y), TSR_OK);
  EXPECT_EQ(data.get<float>(y, 3), (std::vector<float>{3100, 4200, 65}));
  EXPECT_EQ(data.multiply(matrix, 1, x, y, TSR_TRANSPOSE), TSR_OK);
  EXPECT_EQ(data.get<float>(y, 4), (std::vector<float>{500, 600, 21, 43}));
  EXPECT_EQ(d.sparse->destroy(d.handle, matrix), TSR_OK);
  matrix = nullptr;
  const auto told = [&](const tsr_bsr& what) {
    EXPECT_NE(d.sparse->create_bsr(d.handle, &what, &matrix), TSR_OK);
    return opened_plugin::last_error();
  };
  tsr_bsr bad = bsr;
  bad.tile_columns = 0;
  EXPECT_NE(told(bad).find("create_bsr: tiles of 2 x 0"), std::string::npos) << opened_plugin::last_error();
  bad = bsr;
  bad.row_starts = data.put(std::vector<std::int64_t>{0, 3, 2});
  EXPECT_NE(told(bad).find("row_starts fall from 3 to 2 at row 1 of tiles"), std::string::npos)
      << opened_plugin::last_error();
  bad = bsr;
  bad.column_indices = data.put(std::vector<std::int32_t>{1, 2});
  EXPECT_NE(told(bad).find("tile 1 is in column 2 of 2 of tiles"), std::string::npos) << opened_plugin::last_error();
  EXPECT_EQ(matrix, nullptr);
}

/// A device that is closed, or a plugin that is shut down, takes its matrices along.
TEST_P(sparse_matrices, may_be_left_to_the_device) {
  opened_plugin plugin(GetParam());
  const auto d = plugin.devices.at(0);
  tsr_sparse* matrix = nullptr;
  {
    placed_data data(d);
    const tsr_csr csr = data.diagonal(2, 2, 1);
    ASSERT_EQ(d.sparse->create_csr(d.handle, &csr, &matrix), TSR_OK);
  }
  EXPECT_EQ(plugin.table->device_close(plugin.plugin, d.handle), TSR_OK);
  EXPECT_EQ(d.sparse->destroy(d.handle, matrix), TSR_INVALID_ARGUMENT);
}

TEST(sparse_matrices_of_two_devices, are_not_mixed) {
  opened_plugin plugin("sim", {{"device[0].name", TSR_OPTION_STRING, 0, 0, "left"},
                               {"device[1].name", TSR_OPTION_STRING, 0, 0, "right"}});
  ASSERT_EQ(plugin.devices.size(), 2u);
  const auto &left = plugin.devices[0], &right = plugin.devices[1];
  placed_data on_left(left), on_right(right);
  const tsr_csr csr = on_left.diagonal(2, 2, 1);
  const tsr_address x = on_right.put(std::vector<float>(2)), y = on_right.put(std::vector<float>(2));
  tsr_sparse *matrix = nullptr, *none = nullptr;
  EXPECT_EQ(right.sparse->create_csr(right.handle, &csr, &none), TSR_INVALID_ARGUMENT);
  ASSERT_EQ(left.sparse->create_csr(left.handle, &csr, &matrix), TSR_OK);
  EXPECT_EQ(on_right.multiply(matrix, 1, x, y), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(right.sparse->destroy(right.handle, matrix), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(left.sparse->destroy(left.handle, matrix), TSR_OK);
}

}  // namespace
}  // namespace tessera::test
