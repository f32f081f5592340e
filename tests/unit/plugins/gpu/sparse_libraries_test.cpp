// cuSPARSE and rocSPARSE in emulated GPU plugins: which products are theirs, and what is done without them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/unit/plugins/gpu/vendor_library.hpp"
#include "tests/unit/plugins/sparse_matrix.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

struct sparse_vendor {
  const char *plugin, *folder, *old_folder, *file, *spmv, *spmm, *size, *create, *why_old;
  int unsupported;
};
void PrintTo(const sparse_vendor& one, std::ostream* to) { *to << one.plugin; }

/// A small matrix of doubles, in tiles of `side` x `side`: about half of them, whole numbers.
struct tiled_matrix {
  std::int64_t lines, across, side;
  std::vector<std::int64_t> starts{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;

  tiled_matrix(std::int64_t lines_of_tiles, std::int64_t columns_of_tiles, std::int64_t side_of_tile)
      : lines(lines_of_tiles), across(columns_of_tiles), side(side_of_tile) {
    std::mt19937 random(7);
    for (std::int64_t line = 0; line < lines; ++line) {
      for (std::int64_t column = 0; column < across; ++column)
        if (random() % 2 == 0 || column == line) columns.push_back(static_cast<std::int32_t>(column));
      starts.push_back(static_cast<std::int64_t>(columns.size()));
    }
    values.resize(columns.size() * static_cast<std::size_t>(side * side));
    for (double& one : values) one = static_cast<double>(random() % 17) - 8;
  }
  std::int64_t rows() const { return lines * side; }

  /// alpha A X + beta Y, or of the transposed; all dense, b columns.
  std::vector<double> times(const std::vector<double>& x, std::vector<double> y, std::int64_t b, double alpha,
                            double beta, bool transposed) const {
    for (double& one : y) one = beta == 0 ? 0 : beta * one;
    for (std::int64_t line = 0; line < lines; ++line)
      for (std::int64_t e = starts[static_cast<std::size_t>(line)]; e < starts[static_cast<std::size_t>(line) + 1]; ++e)
        for (std::int64_t at = 0; at < side * side; ++at) {
          const std::int64_t row = line * side + at % side,
                             column = columns[static_cast<std::size_t>(e)] * side + at / side;
          for (std::int64_t q = 0; q < b; ++q)
            y[static_cast<std::size_t>((transposed ? column : row) * b + q)] +=
                alpha * values[static_cast<std::size_t>(e * side * side + at)] *
                x[static_cast<std::size_t>((transposed ? row : column) * b + q)];
        }
    return y;
  }
};

class sparse_libraries : public testing::TestWithParam<sparse_vendor> {
 protected:
  static fs::path folder() { return fs::path(TESSERA_BINARY_DIR) / "tests/vendor" / GetParam().folder; }
  static opened_plugin open(const fs::path& path) {
    return opened_plugin(GetParam().plugin, {{"library_path", TSR_OPTION_STRING, 0, 0, path.string()}});
  }

  /// A matrix on a device.
  struct placed {
    placed(const opened_plugin::device& on, const tiled_matrix& from) : device(on), data(on), host(from) {
      tsr_bsr bsr{};
      bsr.struct_size = sizeof bsr;
      bsr.type = TSR_F64;
      bsr.rows = host.rows(), bsr.columns = host.across * host.side;
      bsr.tile_rows = bsr.tile_columns = host.side, bsr.tiles = static_cast<std::int64_t>(host.columns.size());
      bsr.row_starts = data.put(host.starts), bsr.column_indices = data.put(host.columns),
      bsr.values = data.put(host.values);
      opened_plugin::check(device.sparse->create_bsr(device.handle, &bsr, &matrix));
    }
    ~placed() { device.sparse->destroy(device.handle, matrix); }
    placed(const placed&) = delete;
    placed& operator=(const placed&) = delete;

    /// Multiplies by b columns, with `gap` elements between rows, and checks the result.
    void multiply(std::int64_t b, std::int64_t gap = 0, double alpha = 2, double beta = -1, bool transposed = false) {
      const std::int64_t in = transposed ? host.rows() : host.across * host.side,
                         out = transposed ? host.across * host.side : host.rows();
      std::vector<double> x(static_cast<std::size_t>(in * b)), y(static_cast<std::size_t>(out * b));
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 7) - 3;
      for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<double>(i % 5);
      const std::int64_t ld = std::max<std::int64_t>(b, 1) + gap;
      const auto spread = [&](const std::vector<double>& dense, std::int64_t rows) {
        std::vector<double> wide(static_cast<std::size_t>(rows * ld), 99);
        for (std::int64_t i = 0; i < rows * b; ++i)
          wide[static_cast<std::size_t>(i / b * ld + i % b)] = dense[static_cast<std::size_t>(i)];
        return wide;
      };
      const tsr_address on_x = data.put(spread(x, in)), on_y = data.put(spread(y, out));
      opened_plugin::check(device.sparse->spmm(device.handle, data.stream(),
                                               transposed ? TSR_TRANSPOSE : TSR_NO_TRANSPOSE, &alpha, matrix, on_x, ld,
                                               b, &beta, on_y, ld, {}));
      EXPECT_EQ(data.get<double>(on_y, static_cast<std::size_t>(out * ld)),
                spread(host.times(x, y, b, alpha, beta, transposed), out));
    }

    const opened_plugin::device& device;
    placed_data data;
    const tiled_matrix host;
    tsr_sparse* matrix = nullptr;
  };
};

TEST_P(sparse_libraries, do_products_that_are_not_transposed) {
  const vendor_library library(folder() / GetParam().file);
  const auto plugin = open(folder());
  library.calls_of(GetParam().spmv), library.calls_of(GetParam().spmm), library.calls_of(GetParam().create);
  {
    placed matrix(plugin.devices[0], tiled_matrix(9, 7, 1));
    matrix.multiply(1);
    matrix.multiply(1, 0, 1, 0);
    EXPECT_EQ(library.calls_of(GetParam().spmv), 2);
    matrix.multiply(3);
    matrix.multiply(5, 2);
    matrix.multiply(1, 1);  // vectors of a library have no gaps
    EXPECT_EQ(library.calls_of(GetParam().spmm), 3);
    matrix.multiply(3, 0, 1, 0, true);  // would give other bits each time
    matrix.multiply(3, 0, 0, 2);        // A and X are not read
    matrix.multiply(0);
    EXPECT_EQ(library.calls_of(GetParam().spmm) + library.calls_of(GetParam().spmv), 0);
  }
  EXPECT_EQ(library.calls_of(GetParam().create), 1) << "one handle a stream";
  EXPECT_EQ(library.call<int (*)()>("tessera_live_descriptors")(), 0);
}

TEST_P(sparse_libraries, do_tiles_where_theirs_are_column_major_squares) {
  const vendor_library library(folder() / GetParam().file);
  const auto plugin = open(folder());
  library.calls_of(GetParam().spmm), library.calls_of(GetParam().spmv);
  placed matrix(plugin.devices[0], tiled_matrix(4, 5, 3));
  matrix.multiply(1);
  matrix.multiply(4);
  const bool amd = std::string(GetParam().folder) == "amd";
  EXPECT_EQ(library.calls_of(GetParam().spmm), amd ? 2 : 0);
  EXPECT_EQ(library.calls_of(GetParam().spmv), 0);
}

TEST_P(sparse_libraries, are_not_given_columns_that_do_not_ascend) {
  const vendor_library library(folder() / GetParam().file);
  const auto plugin = open(folder());
  tiled_matrix twice(3, 3, 1);
  twice.starts = {0, 2, 3, 5}, twice.columns = {1, 1, 0, 2, 0}, twice.values = {1, 2, 3, 4, 5};
  library.calls_of(GetParam().spmv);
  placed matrix(plugin.devices[0], twice);
  matrix.multiply(1);
  EXPECT_EQ(library.calls_of(GetParam().spmv), 0);
}

TEST_P(sparse_libraries, tell_of_a_call_that_failed) {
  const vendor_library library(folder() / GetParam().file);
  const auto plugin = open(folder());
  placed matrix(plugin.devices[0], tiled_matrix(4, 4, 1));
  for (const auto& [function, b] : {std::pair{GetParam().spmv, 1}, {GetParam().spmm, 2}}) {
    library.fail(function);
    try {
      matrix.multiply(b);
      ADD_FAILURE() << "the failure of " << function << " is lost";
    } catch (const std::runtime_error& failure) {
      EXPECT_THAT(failure.what(), HasSubstr(std::string(GetParam().file) + "): "));
      EXPECT_THAT(failure.what(), HasSubstr("failed with status 13"));
    }
  }
  library.fail("");
  EXPECT_EQ(library.call<int (*)()>("tessera_live_descriptors")(), 0);
  matrix.multiply(2);
  EXPECT_EQ(plugin.devices[0].table->health(plugin.devices[0].handle), TSR_OK);
}

TEST_P(sparse_libraries, are_done_without_where_they_have_no_such_call_or_no_handle) {
  const vendor_library library(folder() / GetParam().file);
  const auto plugin = open(folder());
  placed matrix(plugin.devices[0], tiled_matrix(4, 4, 1));
  library.calls_of(GetParam().spmm);
  library.fail(GetParam().size, GetParam().unsupported);
  matrix.multiply(2);
  library.fail(GetParam().create);
  placed(plugin.devices[0], tiled_matrix(4, 4, 1)).multiply(2);  // on a stream that has no handle yet
  library.fail("");
  EXPECT_EQ(library.calls_of(GetParam().spmm), 0);
}

TEST_P(sparse_libraries, take_the_rows_starts_in_32_bits_where_there_is_room) {
  const vendor_library library(folder() / GetParam().file);
  opened_plugin plugin(GetParam().plugin, {{"library_path", TSR_OPTION_STRING, 0, 0, folder().string()},
                                           {"memory_limit", TSR_OPTION_BYTES, 1 << 20, 0, {}}});
  const auto& d = plugin.devices[0];
  const auto free_bytes = [&] {
    std::uint64_t bytes = 0;
    opened_plugin::check(d.table->query(d.handle, TSR_QUERY_FREE_BYTES, 0, &bytes));
    return bytes;
  };
  placed_data data(d);
  const tsr_csr csr = data.diagonal(1000, 1000, 3, TSR_CSR_NEVER_TRANSPOSED);
  const tsr_address x = data.put(std::vector<float>(1000, 2)), y = data.put(std::vector<float>(1000));
  const auto before = free_bytes();
  tsr_sparse *first = nullptr, *second = nullptr;
  ASSERT_EQ(d.sparse->create_csr(d.handle, &csr, &first), TSR_OK);
  EXPECT_EQ(before - free_bytes(), 4004u);
  const tsr_address filler = data.put(std::vector<char>(free_bytes() - 1000));
  ASSERT_EQ(d.sparse->create_csr(d.handle, &csr, &second), TSR_OK) << opened_plugin::last_error();
  EXPECT_EQ(free_bytes(), 1000u);
  std::string spmv = GetParam().spmv;
  if (const auto letter = spmv.find("_dcsrmv"); letter != std::string::npos) spmv[letter + 1] = 's';
  library.calls_of(spmv);
  for (tsr_sparse* matrix : {first, second}) {
    EXPECT_EQ(data.multiply(matrix, 1, x, y), TSR_OK);
    EXPECT_EQ(data.get<float>(y, 1000), std::vector<float>(1000, 6));
    EXPECT_EQ(library.calls_of(spmv), matrix == first ? 1 : 0);
    EXPECT_EQ(d.sparse->destroy(d.handle, matrix), TSR_OK);
  }
  data.free(filler);
  EXPECT_EQ(free_bytes(), before);
}

TEST_P(sparse_libraries, do_not_take_memory_while_work_is_recorded) {
  const vendor_library library(folder() / GetParam().file);
  const auto plugin = open(folder());
  const auto& d = plugin.devices[0];
  const void* raw = nullptr;
  opened_plugin::check(plugin.table->extension(plugin.plugin, d.handle, TSR_EXTENSION_GRAPH, 1, &raw));
  const auto& graphs = *static_cast<const tsr_graph_table*>(raw);
  placed matrix(d, tiled_matrix(6, 6, 1));
  const std::vector<double> x(6, 1);
  const tsr_address on_x = matrix.data.put(x), scratch = matrix.data.put(std::vector<char>(1024));
  const double one = 1, none = 0;
  const bool nvidia = std::string(GetParam().folder) == "nvidia";
  for (const bool with_workspace : {false, true}) {
    library.calls_of(GetParam().spmv);
    const tsr_address y = matrix.data.put(std::vector<double>(6, 7));
    opened_plugin::check(graphs.capture_begin(d.handle, matrix.data.stream()));
    const tsr_workspace workspace = with_workspace ? tsr_workspace{scratch, 1024} : tsr_workspace{};
    opened_plugin::check(d.sparse->spmm(d.handle, matrix.data.stream(), TSR_NO_TRANSPOSE, &one, matrix.matrix, on_x, 1,
                                        1, &none, y, 1, workspace));
    tsr_graph* graph = nullptr;
    opened_plugin::check(graphs.capture_end(d.handle, matrix.data.stream(), &graph));
    EXPECT_EQ(library.calls_of(GetParam().spmv), with_workspace || !nvidia ? 1 : 0);  // AMD's wants no buffer
    for (int run = 0; run < 2; ++run) opened_plugin::check(graphs.launch(d.handle, matrix.data.stream(), graph));
    EXPECT_EQ(matrix.data.get<double>(y, 6), matrix.host.times(x, std::vector<double>(6), 1, 1, 0, false));
    opened_plugin::check(graphs.destroy(d.handle, graph));
  }
}

TEST_P(sparse_libraries, are_told_of_where_they_are_too_old_or_missing) {
  const fs::path old = fs::path(TESSERA_BINARY_DIR) / "tests/vendor" / GetParam().old_folder;
  const auto plugin = open(old);
  EXPECT_THAT(plugin.logged(), HasSubstr(GetParam().why_old));
  placed(plugin.devices[0], tiled_matrix(4, 4, 1)).multiply(2);
  const auto without = open(old / "nothing");
  EXPECT_THAT(without.logged(),
              HasSubstr(std::string(std::string(GetParam().folder) == "amd" ? "rocSPARSE (" : "cuSPARSE (")));
  placed(without.devices[0], tiled_matrix(4, 4, 1)).multiply(1);
}

TEST(cusparse, is_not_used_in_a_version_before_12) {
  const fs::path folder = fs::path(TESSERA_BINARY_DIR) / "tests/vendor/nvidia";
  const vendor_library library(folder / "libcusparse.so.12");
  const auto set = library.call<void (*)(int, int)>("tessera_version");
  set(11, 7);
  const opened_plugin plugin("cuda_emulated", {{"library_path", TSR_OPTION_STRING, 0, 0, folder.string()}});
  set(12, 6);
  EXPECT_THAT(plugin.logged(), HasSubstr("libcusparse.so.12 is version 11.7; used from 12.0 on"));
  EXPECT_THAT(plugin.devices[0].blas->library, testing::Not(HasSubstr("cuSPARSE")));
}

INSTANTIATE_TEST_SUITE_P(
    vendors, sparse_libraries,
    testing::Values(sparse_vendor{"cuda_emulated", "nvidia", "nvidia_old", "libcusparse.so.12", "cusparseSpMV",
                                  "cusparseSpMM", "cusparseSpMM_bufferSize", "cusparseCreate",
                                  "cuSPARSE (libcusparse.so.12 has no cusparseCreate)", 10},
                    sparse_vendor{"hip_emulated", "amd", "amd_old", "librocsparse.so.1", "rocsparse_dcsrmv",
                                  "rocsparse_spmm", "rocsparse_spmm: size", "rocsparse_create_handle",
                                  "rocSPARSE (librocsparse.so.0 has no rocsparse_create_bsr_descr)", 2}),
    [](const auto& one) { return std::string(one.param.folder); });

}  // namespace
}  // namespace tessera::test
