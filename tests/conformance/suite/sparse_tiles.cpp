// Matrices of tiles in the SPARSE table, for every claimed type, against the definition, at random shapes.
#include <algorithm>
#include <cstring>

#include "tests/conformance/suite/sparse.hpp"

namespace tessera::conformance {
namespace {

/// A matrix of tiles in compressed rows, in host memory.
template <class T>
struct tiled {
  std::int64_t rows = 0, columns = 0, tile_rows = 1, tile_columns = 1;
  std::vector<std::int64_t> starts{0};
  std::vector<std::int32_t> at;
  std::vector<T> values;
};

/// Of random shape and density. Tiles are in no order, may come twice and reach over the edge, where they are no
/// numbers.
template <class T>
tiled<T> random_matrix(random_source& random) {
  tiled<T> made;
  const std::int64_t sides[] = {1, 1, 2, 3, 4, 5, 7, 8, 16, 17, 40};
  made.tile_rows = sides[random() % std::size(sides)];
  made.tile_columns = sides[random() % std::size(sides)];
  made.rows = random_size(random, random() % 5 == 0 ? 300 : 60);
  made.columns = random_size(random, random() % 5 == 0 ? 300 : 60);
  const std::int64_t lines = (made.rows + made.tile_rows - 1) / made.tile_rows;
  const std::int64_t across = (made.columns + made.tile_columns - 1) / made.tile_columns;
  for (std::int64_t line = 0; line < lines; ++line) {
    const std::uint64_t count = random() % 20 == 0 ? random() % 40 : random() % 4;
    for (std::uint64_t e = 0; e < count && across > 0; ++e) {
      const auto column = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(across));
      made.at.push_back(static_cast<std::int32_t>(column));
      for (std::int64_t j = 0; j < made.tile_columns; ++j)
        for (std::int64_t i = 0; i < made.tile_rows; ++i) {
          const bool inside = line * made.tile_rows + i < made.rows && column * made.tile_columns + j < made.columns;
          made.values.push_back(inside ? random_number<T>(random) : not_a_number<T>());
        }
    }
    made.starts.push_back(static_cast<std::int64_t>(made.at.size()));
  }
  return made;
}

/// The matrix's arrays on the device, with its handle.
template <class T>
class on_device {
 public:
  on_device(const queue& stream, const tiled<T>& from, std::uint32_t flags = 0)
      : m_device(stream.owner()),
        m_starts(uploaded(stream, compute_space(m_device), from.starts)),
        m_at(uploaded(stream, compute_space(m_device), from.at)),
        m_values(uploaded(stream, compute_space(m_device), from.values)) {
    bsr.struct_size = sizeof bsr;
    bsr.type = number<T>::type;
    bsr.rows = from.rows, bsr.columns = from.columns;
    bsr.tile_rows = from.tile_rows, bsr.tile_columns = from.tile_columns;
    bsr.tiles = static_cast<std::int64_t>(from.at.size());
    bsr.row_starts = m_starts.at(0), bsr.column_indices = m_at.at(0), bsr.values = m_values.at(0);
    bsr.flags = flags;
    expect(m_device.sparse()->create_bsr != nullptr, "supports claims matrices of tiles, and create_bsr is NULL");
    expect_ok(m_device.sparse()->create_bsr(m_device.handle(), &bsr, &handle), "create_bsr");
  }
  ~on_device() { m_device.sparse()->destroy(m_device.handle(), handle); }
  on_device(const on_device&) = delete;
  on_device& operator=(const on_device&) = delete;

  tsr_bsr bsr{};
  tsr_sparse* handle = nullptr;

 private:
  const device& m_device;
  buffer m_starts, m_at, m_values;
};

/// y = alpha op(a) x + beta y, element by element of the matrix. Returns the most additions to an element.
template <class T>
std::size_t reference(const tiled<T>& a, tsr_transpose transpose, T alpha, const std::vector<T>& x, std::size_t ldx,
                      std::size_t b, T beta, std::vector<T>& y, std::size_t ldy, std::size_t rows_of_y) {
  std::vector<std::size_t> additions(rows_of_y);
  for (std::size_t i = 0; i < rows_of_y; ++i)
    for (std::size_t q = 0; q < b; ++q) y[i * ldy + q] = beta == T(0) ? T(0) : beta * y[i * ldy + q];
  if (alpha == T(0)) return 0;
  for (std::int64_t row = 0; row < a.rows; ++row)
    for (std::int64_t column = 0; column < a.columns; ++column) {
      const auto line = static_cast<std::size_t>(row / a.tile_rows);
      for (auto e = a.starts[line]; e < a.starts[line + 1]; ++e) {
        if (a.at[static_cast<std::size_t>(e)] != column / a.tile_columns) continue;
        const std::int64_t place = (e * a.tile_columns + column % a.tile_columns) * a.tile_rows + row % a.tile_rows;
        const T stored = a.values[static_cast<std::size_t>(place)];
        const T value = transpose == TSR_CONJUGATE_TRANSPOSE ? conjugate(stored) : stored;
        const bool flipped = transpose != TSR_NO_TRANSPOSE;
        const auto from = static_cast<std::size_t>(flipped ? row : column),
                   to = static_cast<std::size_t>(flipped ? column : row);
        ++additions[to];
        for (std::size_t q = 0; q < b; ++q) y[to * ldy + q] += alpha * value * x[from * ldx + q];
      }
    }
  return additions.empty() ? 0 : *std::max_element(additions.begin(), additions.end());
}

template <class T>
void one_product(const queue& stream, const tsr_sparse_table& sparse, random_source& random, tsr_transpose transpose) {
  static constexpr std::size_t widths[] = {0, 1, 1, 2, 3, 5, 8, 16, 33};
  const auto a = random_matrix<T>(random);
  const auto shape =
      fmt::format("{} x {} with {} tiles of {} x {}", a.rows, a.columns, a.at.size(), a.tile_rows, a.tile_columns);
  check_product<T, on_device<T>>(stream, sparse, random, transpose, a, shape, widths,
                                 [&](auto&&... call) { return reference(a, call...); });
}

void spmm(const subject& what) {
  each_claimed(what, TSR_SPARSE_BSR_SPMM, 30,
               [](const queue& stream, const tsr_sparse_table& sparse, auto zero, auto& random) {
                 one_product<decltype(zero)>(stream, sparse, random, TSR_NO_TRANSPOSE);
               });
}

void spmm_transposed(const subject& what) {
  each_claimed(what, TSR_SPARSE_BSR_SPMM_TRANSPOSED, 30,
               [](const queue& stream, const tsr_sparse_table& sparse, auto zero, auto& random) {
                 one_product<decltype(zero)>(stream, sparse, random, TSR_TRANSPOSE);
                 one_product<decltype(zero)>(stream, sparse, random, TSR_CONJUGATE_TRANSPOSE);
               });
}

/// What create_bsr refuses, the structure's contents among it; and spmm of a matrix without an index.
void create_arguments(const subject& what) {
  each_claimed(what, TSR_SPARSE_BSR_SPMM, 1, [](const queue& stream, const tsr_sparse_table& sparse, auto zero, auto&) {
    using T = decltype(zero);
    const device& device = stream.owner();
    const std::uint32_t space = compute_space(device);
    const tiled<T> a{3, 5, 2, 3, {0, 2, 3}, {1, 0, 1}, std::vector<T>(18, T(1))};
    const on_device<T> good(stream, a), plain(stream, a, TSR_CSR_NEVER_TRANSPOSED);
    const auto refused = [&](tsr_status wanted, const std::string& call, auto&& spoil) {
      tsr_bsr bad = good.bsr;
      tsr_sparse* made = nullptr;
      spoil(bad);
      expect_status(sparse.create_bsr(device.handle(), &bad, &made), wanted, call);
      expect(made == nullptr, "{}: a failed create_bsr wrote its out_ argument", call);
    };
    tsr_sparse* none = nullptr;
    expect_status(sparse.create_bsr(device.handle(), nullptr, &none), TSR_INVALID_ARGUMENT, "create_bsr of NULL");
    expect_status(sparse.create_bsr(device.handle(), &good.bsr, nullptr), TSR_INVALID_ARGUMENT,
                  "create_bsr with out_matrix NULL");
    refused(TSR_INVALID_ARGUMENT, "struct_size 0", [](tsr_bsr& m) { m.struct_size = 0; });
    refused(TSR_UNIMPLEMENTED, "a type that is none", [](tsr_bsr& m) { m.type = TSR_U8; });
    refused(TSR_INVALID_ARGUMENT, "unknown flags", [](tsr_bsr& m) { m.flags = 1u << 31; });
    refused(TSR_INVALID_ARGUMENT, "negative rows", [](tsr_bsr& m) { m.rows = -1; });
    refused(TSR_INVALID_ARGUMENT, "negative columns", [](tsr_bsr& m) { m.columns = -1; });
    refused(TSR_INVALID_ARGUMENT, "negative tiles", [](tsr_bsr& m) { m.tiles = -1; });
    refused(TSR_INVALID_ARGUMENT, "tiles without rows", [](tsr_bsr& m) { m.tile_rows = 0; });
    refused(TSR_INVALID_ARGUMENT, "tiles of negative columns", [](tsr_bsr& m) { m.tile_columns = -3; });
    refused(TSR_OUT_OF_RANGE, "tiles of too many rows", [](tsr_bsr& m) { m.tile_rows = (std::int64_t{1} << 31) + 1; });
    refused(TSR_OUT_OF_RANGE, "tiles of too many columns",
            [](tsr_bsr& m) { m.tile_columns = (std::int64_t{1} << 31) + 1; });
    refused(TSR_OUT_OF_RANGE, "more columns than 32 bits index",
            [](tsr_bsr& m) { m.columns = (std::int64_t{1} << 31) + 1; });
    refused(TSR_INVALID_ARGUMENT, "tiles without a column", [](tsr_bsr& m) { m.columns = 0; });
    refused(TSR_INVALID_ARGUMENT, "tiles without a row", [](tsr_bsr& m) { m.rows = 0; });
    refused(TSR_OUT_OF_RANGE, "row_starts beyond their allocation", [](tsr_bsr& m) { m.rows = 5; });
    refused(TSR_OUT_OF_RANGE, "column_indices beyond their allocation",
            [](tsr_bsr& m) { m.column_indices.offset = 4; });
    refused(TSR_OUT_OF_RANGE, "values beyond their allocation", [](tsr_bsr& m) { m.values.offset = sizeof(T); });
    refused(TSR_OUT_OF_RANGE, "tiles larger than their allocation", [](tsr_bsr& m) { m.tile_rows = 3; });
    refused(TSR_OUT_OF_RANGE, "more bytes than 63 bits count",
            [](tsr_bsr& m) { m.tile_rows = m.tile_columns = std::int64_t{1} << 31; });
    const auto with_starts = [&](tsr_status wanted, const std::string& call, const std::vector<std::int64_t>& starts) {
      const buffer on = uploaded(stream, space, starts);
      refused(wanted, call, [&](tsr_bsr& m) { m.row_starts = on.at(0); });
    };
    with_starts(TSR_INVALID_ARGUMENT, "row_starts that begin with 1", {1, 2, 3});
    with_starts(TSR_INVALID_ARGUMENT, "row_starts that fall", {0, 4, 3});
    with_starts(TSR_INVALID_ARGUMENT, "row_starts that end early", {0, 2, 2});
    for (const std::int32_t column : {-1, 2, INT32_MAX}) {
      const buffer on = uploaded(stream, space, std::vector<std::int32_t>{1, column, 0});
      refused(TSR_OUT_OF_RANGE, fmt::format("column {} of 2 of tiles", column),
              [&](tsr_bsr& m) { m.column_indices = on.at(0); });
    }
    const buffer x = uploaded(stream, space, std::vector<T>(5, T(1))),
                 y = uploaded(stream, space, std::vector<T>(5, T(7)));
    const T one(1);
    const auto multiply = [&](tsr_sparse* matrix, tsr_transpose transpose) {
      return sparse.spmm(device.handle(), stream.handle(), transpose, &one, matrix, x.at(0), 1, 1, &one, y.at(0), 1,
                         {});
    };
    expect_status(multiply(plain.handle, TSR_TRANSPOSE), TSR_FAILED_PRECONDITION,
                  "a transposed spmm of a matrix that is never transposed");
    expect_ok(multiply(good.handle, TSR_NO_TRANSPOSE), "spmm");
    stream.finish();
    expect(downloaded<T>(stream, y, 5) == std::vector<T>{T(12), T(12), T(9), T(7), T(7)},
           "a product by a matrix of ones is wrong");
  });
}

}  // namespace

std::vector<check> tiled_sparse_checks() {
  return {{"sparse.tiles_spmm", spmm},
          {"sparse.tiles_spmm_transposed", spmm_transposed},
          {"sparse.tiles_create_arguments", create_arguments}};
}

}  // namespace tessera::conformance
