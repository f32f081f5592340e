// The SPARSE table, for every claimed type, against the definition, at random shapes.
#include <algorithm>
#include <cstring>

#include "tests/conformance/suite/sparse.hpp"

namespace tessera::conformance {
namespace {

/// A matrix in compressed rows, in host memory.
template <class T>
struct compressed {
  std::int64_t rows = 0, columns = 0;
  std::vector<std::int64_t> starts{0};
  std::vector<std::int32_t> at;
  std::vector<T> values;
};

/// Of random shape and density; some rows are empty, some long, columns are in no order and may come twice.
template <class T>
compressed<T> random_matrix(random_source& random) {
  compressed<T> made;
  made.rows = random_size(random, random() % 5 == 0 ? 600 : 70);
  made.columns = random_size(random, random() % 5 == 0 ? 600 : 70);
  const std::uint64_t usual = random() % 9;
  for (std::int64_t row = 0; row < made.rows; ++row) {
    const std::uint64_t count = random() % 30 == 0 ? random() % 500 : random() % 3 == 0 ? 0 : random() % (usual + 1);
    for (std::uint64_t e = 0; e < count && made.columns > 0; ++e)
      made.at.push_back(static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(made.columns)));
    made.starts.push_back(static_cast<std::int64_t>(made.at.size()));
  }
  made.values = random_numbers<T>(random, made.at.size());
  return made;
}

/// The matrix's arrays on the device, with its handle.
template <class T>
class on_device {
 public:
  on_device(const queue& stream, const compressed<T>& from, std::uint32_t flags = 0)
      : m_device(stream.owner()),
        m_starts(uploaded(stream, compute_space(m_device), from.starts)),
        m_at(uploaded(stream, compute_space(m_device), from.at)),
        m_values(uploaded(stream, compute_space(m_device), from.values)) {
    csr.struct_size = sizeof csr;
    csr.type = number<T>::type;
    csr.rows = from.rows, csr.columns = from.columns, csr.nonzeros = static_cast<std::int64_t>(from.at.size());
    csr.row_starts = m_starts.at(0), csr.column_indices = m_at.at(0), csr.values = m_values.at(0);
    csr.flags = flags;
    expect_ok(m_device.sparse()->create_csr(m_device.handle(), &csr, &handle), "create_csr");
  }
  ~on_device() { m_device.sparse()->destroy(m_device.handle(), handle); }
  on_device(const on_device&) = delete;
  on_device& operator=(const on_device&) = delete;

  const buffer& values() const { return m_values; }
  tsr_csr csr{};
  tsr_sparse* handle = nullptr;

 private:
  const device& m_device;
  buffer m_starts, m_at, m_values;
};

/// y = alpha op(a) x + beta y, all row-major. Returns the most additions to an element.
template <class T>
std::size_t reference(const compressed<T>& a, tsr_transpose transpose, T alpha, const std::vector<T>& x,
                      std::size_t ldx, std::size_t b, T beta, std::vector<T>& y, std::size_t ldy,
                      std::size_t rows_of_y) {
  const bool flipped = transpose != TSR_NO_TRANSPOSE;
  std::vector<std::size_t> additions(rows_of_y);
  for (std::size_t i = 0; i < rows_of_y; ++i)
    for (std::size_t q = 0; q < b; ++q) y[i * ldy + q] = beta == T(0) ? T(0) : beta * y[i * ldy + q];
  for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows) && alpha != T(0); ++row)
    for (auto e = static_cast<std::size_t>(a.starts[row]); e < static_cast<std::size_t>(a.starts[row + 1]); ++e) {
      const auto column = static_cast<std::size_t>(a.at[e]), from = flipped ? row : column, to = flipped ? column : row;
      const T value = transpose == TSR_CONJUGATE_TRANSPOSE ? conjugate(a.values[e]) : a.values[e];
      ++additions[to];
      for (std::size_t q = 0; q < b; ++q) y[to * ldy + q] += alpha * value * x[from * ldx + q];
    }
  return additions.empty() ? 0 : *std::max_element(additions.begin(), additions.end());
}

template <class T>
void one_product(const queue& stream, const tsr_sparse_table& sparse, random_source& random, tsr_transpose transpose) {
  static constexpr std::size_t widths[] = {0, 1, 1, 1, 2, 3, 4, 7, 8, 16, 17, 33, 40};
  const auto a = random_matrix<T>(random);
  const auto shape = fmt::format("{} x {} with {} nonzeros", a.rows, a.columns, a.at.size());
  check_product<T, on_device<T>>(stream, sparse, random, transpose, a, shape, widths,
                                 [&](auto&&... call) { return reference(a, call...); });
}

void spmm(const subject& what) {
  each_claimed(what, TSR_SPARSE_SPMM, 40,
               [](const queue& stream, const tsr_sparse_table& sparse, auto zero, auto& random) {
                 one_product<decltype(zero)>(stream, sparse, random, TSR_NO_TRANSPOSE);
               });
}

void spmm_transposed(const subject& what) {
  each_claimed(what, TSR_SPARSE_SPMM_TRANSPOSED, 40,
               [](const queue& stream, const tsr_sparse_table& sparse, auto zero, auto& random) {
                 one_product<decltype(zero)>(stream, sparse, random, TSR_TRANSPOSE);
                 one_product<decltype(zero)>(stream, sparse, random, TSR_CONJUGATE_TRANSPOSE);
               });
}

/// Values that a copy on the same stream changes are those that the next product uses, both ways.
void values_change(const subject& what) {
  each_claimed(what, TSR_SPARSE_SPMM_TRANSPOSED, 1,
               [](const queue& stream, const tsr_sparse_table& sparse, auto zero, auto&) {
                 using T = decltype(zero);
                 const device& device = stream.owner();
                 const std::uint32_t space = compute_space(device);
                 const compressed<T> a{2, 3, {0, 2, 3}, {2, 0, 1}, {T(1), T(2), T(3)}};
                 const on_device<T> matrix(stream, a);
                 const buffer x = uploaded(stream, space, std::vector<T>(3, T(1))),
                              y = uploaded(stream, space, std::vector<T>(9, T(0)));
                 const std::vector<T> later{T(10), T(20), T(30)};
                 const T one(1), none(0);
                 const auto multiply = [&](tsr_transpose transpose, std::uint64_t to) {
                   expect_ok(sparse.spmm(device.handle(), stream.handle(), transpose, &one, matrix.handle, x.at(0), 1,
                                         1, &none, y.at(to * sizeof(T)), 1, {}),
                             "spmm");
                 };
                 multiply(TSR_NO_TRANSPOSE, 0);
                 const tsr_copy copy = plain_copy(matrix.values().where(), matrix.values().at(0), host_space,
                                                  host_address(later.data()), 3 * sizeof(T));
                 expect_ok(device.table().copy(device.handle(), stream.handle(), &copy), "copy");
                 multiply(TSR_NO_TRANSPOSE, 2);
                 multiply(TSR_TRANSPOSE, 4);
                 stream.finish();
                 const std::vector<T> wanted{T(3), T(3), T(30), T(30), T(20), T(30), T(10), T(0), T(0)};
                 expect_near(downloaded<T>(stream, y, 9), wanted, 0, "products before and after the values change");
               });
}

/// What create_csr refuses, the structure's contents among it.
void create_arguments(const subject& what) {
  each_claimed(what, TSR_SPARSE_SPMM, 1, [](const queue& stream, const tsr_sparse_table& sparse, auto zero, auto&) {
    using T = decltype(zero);
    const device& device = stream.owner();
    const std::uint32_t space = compute_space(device);
    const compressed<T> a{2, 3, {0, 2, 3}, {2, 0, 1}, {T(1), T(2), T(3)}};
    const on_device<T> good(stream, a);
    const auto refused = [&](tsr_status wanted, const std::string& call, auto&& spoil) {
      tsr_csr bad = good.csr;
      tsr_sparse* made = nullptr;
      spoil(bad);
      expect_status(sparse.create_csr(device.handle(), &bad, &made), wanted, call);
      expect(made == nullptr, "{}: a failed create_csr wrote its out_ argument", call);
    };
    tsr_sparse* none = nullptr;
    expect_status(sparse.create_csr(device.handle(), nullptr, &none), TSR_INVALID_ARGUMENT, "create_csr of NULL");
    expect_status(sparse.create_csr(device.handle(), &good.csr, nullptr), TSR_INVALID_ARGUMENT,
                  "create_csr with out_matrix NULL");
    expect_status(sparse.destroy(device.handle(), nullptr), TSR_INVALID_ARGUMENT, "destroy of NULL");
    refused(TSR_INVALID_ARGUMENT, "struct_size 0", [](tsr_csr& m) { m.struct_size = 0; });
    refused(TSR_UNIMPLEMENTED, "a type that is none", [](tsr_csr& m) { m.type = TSR_U8; });
    refused(TSR_INVALID_ARGUMENT, "unknown flags", [](tsr_csr& m) { m.flags = 1u << 31; });
    refused(TSR_INVALID_ARGUMENT, "negative rows", [](tsr_csr& m) { m.rows = -1; });
    refused(TSR_INVALID_ARGUMENT, "negative columns", [](tsr_csr& m) { m.columns = -1; });
    refused(TSR_INVALID_ARGUMENT, "negative nonzeros", [](tsr_csr& m) { m.nonzeros = -1; });
    refused(TSR_OUT_OF_RANGE, "more columns than 32 bits index",
            [](tsr_csr& m) { m.columns = (std::int64_t{1} << 31) + 1; });
    refused(TSR_INVALID_ARGUMENT, "nonzeros without a column", [](tsr_csr& m) { m.columns = 0; });
    refused(TSR_INVALID_ARGUMENT, "nonzeros without a row", [](tsr_csr& m) { m.rows = 0; });
    refused(TSR_OUT_OF_RANGE, "row_starts beyond their allocation", [](tsr_csr& m) { m.rows = 3; });
    refused(TSR_OUT_OF_RANGE, "column_indices beyond their allocation",
            [](tsr_csr& m) { m.column_indices.offset = 4; });
    refused(TSR_OUT_OF_RANGE, "values beyond their allocation", [](tsr_csr& m) { m.values.offset = sizeof(T); });
    refused(TSR_OUT_OF_RANGE, "more nonzeros than 64 bits count", [](tsr_csr& m) { m.nonzeros = INT64_MAX; });
    if (device.spaces()[space].description.kind == TSR_SPACE_DEVICE)
      refused(TSR_INVALID_ARGUMENT, "row_starts in host memory",
              [&](tsr_csr& m) { m.row_starts = host_address(a.starts.data()); });
    const auto with_starts = [&](tsr_status wanted, const std::string& call, const std::vector<std::int64_t>& starts) {
      const buffer on = uploaded(stream, space, starts);
      refused(wanted, call, [&](tsr_csr& m) { m.row_starts = on.at(0); });
    };
    with_starts(TSR_INVALID_ARGUMENT, "row_starts that begin with 1", {1, 2, 3});
    with_starts(TSR_INVALID_ARGUMENT, "row_starts that begin below 0", {-1, 2, 3});
    with_starts(TSR_INVALID_ARGUMENT, "row_starts that fall", {0, 4, 3});
    with_starts(TSR_INVALID_ARGUMENT, "row_starts that end early", {0, 2, 2});
    with_starts(TSR_INVALID_ARGUMENT, "row_starts that end late", {0, 2, std::int64_t{1} << 60});
    for (const std::int32_t column : {-1, 3, INT32_MAX}) {
      const buffer on = uploaded(stream, space, std::vector<std::int32_t>{2, column, 1});
      refused(TSR_OUT_OF_RANGE, fmt::format("column {} of 3", column),
              [&](tsr_csr& m) { m.column_indices = on.at(0); });
    }
    // A struct that ends before the flags is one of version 0.1.
    tsr_csr old = good.csr;
    old.struct_size = offsetof(tsr_csr, flags);
    old.flags = ~0u;
    expect_ok(sparse.create_csr(device.handle(), &old, &none), "create_csr without flags");
    expect_ok(sparse.destroy(device.handle(), none), "destroy");
  });
}

/// What spmm refuses, and that nothing is written then.
void spmm_arguments(const subject& what) {
  each_claimed(what, TSR_SPARSE_SPMM, 1, [](const queue& stream, const tsr_sparse_table& sparse, auto zero, auto&) {
    using T = decltype(zero);
    const device& device = stream.owner();
    const std::uint32_t space = compute_space(device);
    const compressed<T> a{2, 3, {0, 2, 3}, {2, 0, 1}, {T(1), T(2), T(3)}};
    const on_device<T> matrix(stream, a), plain(stream, a, TSR_CSR_NEVER_TRANSPOSED);
    const buffer x = uploaded(stream, space, std::vector<T>(6, T(1))),
                 y = uploaded(stream, space, std::vector<T>(6, T(7)));
    const T one(1);
    struct request {
      tsr_transpose transpose = TSR_NO_TRANSPOSE;
      const void *alpha, *beta;
      tsr_sparse* matrix;
      tsr_address x, y;
      std::int64_t ldx = 2, b = 2, ldy = 2;
    };
    const auto answer = [&](const request& r) {
      return sparse.spmm(device.handle(), stream.handle(), r.transpose, r.alpha, r.matrix, r.x, r.ldx, r.b, r.beta, r.y,
                         r.ldy, {});
    };
    const auto refused = [&](tsr_status wanted, const char* call, auto&& spoil) {
      request r{TSR_NO_TRANSPOSE, &one, &one, matrix.handle, x.at(0), y.at(0)};
      spoil(r);
      expect_status(answer(r), wanted, call);
    };
    refused(TSR_INVALID_ARGUMENT, "spmm of a matrix that is NULL", [](request& r) { r.matrix = nullptr; });
    refused(TSR_INVALID_ARGUMENT, "spmm with transpose 3", [](request& r) { r.transpose = 3; });
    refused(TSR_INVALID_ARGUMENT, "spmm with alpha NULL", [](request& r) { r.alpha = nullptr; });
    refused(TSR_INVALID_ARGUMENT, "spmm with beta NULL", [](request& r) { r.beta = nullptr; });
    refused(TSR_INVALID_ARGUMENT, "spmm with a negative b", [](request& r) { r.b = -1; });
    refused(TSR_INVALID_ARGUMENT, "spmm with ldx < b", [](request& r) { r.ldx = 1; });
    refused(TSR_INVALID_ARGUMENT, "spmm with ldy < b", [](request& r) { r.ldy = 1; });
    refused(TSR_INVALID_ARGUMENT, "spmm with ldx 0", [](request& r) { r.b = 0, r.ldx = 0; });
    refused(TSR_OUT_OF_RANGE, "spmm with X beyond its allocation", [&](request& r) { r.x = x.at(sizeof(T)); });
    refused(TSR_OUT_OF_RANGE, "spmm with Y beyond its allocation", [&](request& r) { r.y = y.at(3 * sizeof(T)); });
    refused(TSR_OUT_OF_RANGE, "spmm with more of X than 64 bits count", [](request& r) { r.ldx = INT64_MAX; });
    refused(TSR_INVALID_ARGUMENT, "spmm onto X", [&](request& r) { r.y = x.at(sizeof(T)); });
    refused(TSR_FAILED_PRECONDITION, "a transposed spmm of a matrix that is never transposed", [&](request& r) {
      r.matrix = plain.handle;
      r.transpose = TSR_TRANSPOSE;
    });
    if (device.spaces()[space].description.kind == TSR_SPACE_DEVICE) {
      const std::vector<T> on_host(6);
      refused(TSR_INVALID_ARGUMENT, "spmm with X in host memory",
              [&](request& r) { r.x = host_address(on_host.data()); });
      refused(TSR_INVALID_ARGUMENT, "spmm with Y in host memory",
              [&](request& r) { r.y = host_address(on_host.data()); });
    }
    stream.finish();
    expect(downloaded<T>(stream, y, 6) == std::vector<T>(6, T(7)), "an spmm that was refused wrote something");
    refused(TSR_OK, "spmm with b 0", [](request& r) { r.b = 0; });
    stream.finish();
    expect(downloaded<T>(stream, y, 6) == std::vector<T>(6, T(7)), "an spmm with b 0 wrote something");
  });
}

/// Products that are recorded run when the graph does; matrices are neither made nor destroyed meanwhile.
void recorded(const subject& what) {
  each_claimed(what, TSR_SPARSE_SPMM, 1, [](const queue& stream, const tsr_sparse_table& sparse, auto zero, auto&) {
    using T = decltype(zero);
    const device& device = stream.owner();
    const tsr_graph_table* graphs = device.graph();
    if (graphs == nullptr) return;
    const std::uint32_t space = compute_space(device);
    const compressed<T> a{2, 3, {0, 2, 3}, {2, 0, 1}, {T(1), T(2), T(3)}};
    const on_device<T> matrix(stream, a);
    const buffer x = uploaded(stream, space, std::vector<T>(3, T(1))),
                 y = uploaded(stream, space, std::vector<T>(2, T(1)));
    const T one(1);
    tsr_graph* graph = nullptr;
    expect_ok(graphs->capture_begin(device.handle(), stream.handle()), "capture_begin");
    expect_ok(sparse.spmm(device.handle(), stream.handle(), TSR_NO_TRANSPOSE, &one, matrix.handle, x.at(0), 1, 1, &one,
                          y.at(0), 1, {}),
              "spmm while recording");
    expect_ok(graphs->capture_end(device.handle(), stream.handle(), &graph), "capture_end");
    for (int k = 0; k < 3; ++k) expect_ok(graphs->launch(device.handle(), stream.handle(), graph), "launch");
    stream.finish();
    expect(downloaded<T>(stream, y, 2) == std::vector<T>(2, T(10)),
           "a recorded spmm launched three times is not the spmm three times");
    expect_ok(graphs->destroy(device.handle(), graph), "destroy of the graph");

    tsr_sparse* none = nullptr;
    expect_ok(graphs->capture_begin(device.handle(), stream.handle()), "capture_begin");
    expect_status(sparse.create_csr(device.handle(), &matrix.csr, &none), TSR_FAILED_PRECONDITION,
                  "create_csr by a thread that records");
    expect_status(sparse.destroy(device.handle(), matrix.handle), TSR_FAILED_PRECONDITION,
                  "destroy by a thread that records");
    if (graphs->capture_end(device.handle(), stream.handle(), &graph) == TSR_OK)
      expect_ok(graphs->destroy(device.handle(), graph), "destroy of the graph");
  });
}

}  // namespace

std::vector<check> sparse_checks() {
  return {{"sparse.spmm", spmm},
          {"sparse.spmm_transposed", spmm_transposed},
          {"sparse.values_change", values_change},
          {"sparse.create_arguments", create_arguments},
          {"sparse.spmm_arguments", spmm_arguments},
          {"sparse.recorded", recorded}};
}

}  // namespace tessera::conformance
