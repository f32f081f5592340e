#pragma once
// One small call of every operation that a device's BLAS, TENSOR and SPARSE tables offer, for checks that ask the same
// of each.
#include <array>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "tests/conformance/suite/held_work.hpp"
#include "tests/conformance/suite/numbers.hpp"

namespace tessera::conformance::small_calls {

inline constexpr std::int64_t order = 4, elements = order * order;

/// What a call is given by pointers, in memory that is overwritten as soon as it has returned.
template <class T>
struct given {
  T alpha = T(2), beta = T(3);
  std::array<tsr_address, 2> a{}, b{}, c{};
  std::array<std::int64_t, 2> extents{order, order};
  std::array<std::int32_t, 2> modes_a{0, 1}, modes_b{1, 2}, modes_c{0, 2};
  tsr_gemm gemm{};
  tsr_syrk syrk{};
  tsr_trsm trsm{};
  tsr_vector_operation vector{};
  tsr_permute permute{};
  tsr_contract contract{};
};

/// Three operands of two matrices each, and room for what tables ask as a workspace.
template <class T>
struct operands {
  operands(const queue& on)
      : stream(on),
        space(compute_space(on.owner())),
        a(on.owner(), space, bytes),
        b(on.owner(), space, bytes),
        c(on.owner(), space, bytes),
        decoy(on.owner(), space, bytes) {}
  /// Small integers, so that every order of summation gives the same bits; a has a unit triangle.
  void reset() {
    std::vector<T> values(2 * elements);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = T(static_cast<typename number<T>::real>(1 + i % 5));
    for (const buffer* to : {&a, &b, &c, &decoy}) upload(stream, *to, values.data(), bytes);
  }
  std::vector<T> result() const { return downloaded<T>(stream, c, 2 * elements); }

  static constexpr std::uint64_t bytes = 2 * elements * sizeof(T), matrix = elements * sizeof(T);
  const queue& stream;
  std::uint32_t space;
  buffer a, b, c, decoy;
};

/// One operation: its name, and a call of it whose pointers are to `from`.
template <class T>
struct operation {
  const char* name;
  std::function<tsr_status(given<T>& from)> call;
};

template <class T>
void fill_gemm(const operands<T>& with, given<T>& from) {
  tsr_gemm& g = from.gemm;
  g.struct_size = sizeof g;
  g.type = number<T>::type;
  g.m = g.n = g.k = g.lda = g.ldb = g.ldc = order;
  g.alpha = &from.alpha, g.beta = &from.beta;
  g.a = with.a.at(0), g.b = with.b.at(0), g.c = with.c.at(0);
  g.batch = 2;
  g.stride_a = g.stride_b = g.stride_c = static_cast<std::int64_t>(with.matrix);
  for (std::size_t i = 0; i < 2; ++i)
    from.a[i] = with.a.at(i * with.matrix), from.b[i] = with.b.at(i * with.matrix),
    from.c[i] = with.c.at(i * with.matrix);
  g.a_array = from.a.data(), g.b_array = from.b.data(), g.c_array = from.c.data();
}

template <class T>
void add_blas(std::vector<operation<T>>& all, const operands<T>& with) {
  const device& device = with.stream.owner();
  const tsr_blas_table* const blas = device.blas();
  tsr_device* const handle = device.handle();
  tsr_stream* const stream = with.stream.handle();
  if (blas == nullptr) return;
  const auto add = [&](tsr_blas_operation op, const char* name, std::function<tsr_status(given<T>&)> call) {
    if (blas->supports(handle, op, number<T>::type)) all.push_back({name, std::move(call)});
  };
  using call_of_gemm = tsr_status (*)(tsr_device*, tsr_stream*, const tsr_gemm*);
  const auto gemm = [&with, handle, stream](call_of_gemm call) {
    return [&with, handle, stream, call](given<T>& from) {
      fill_gemm(with, from);
      return call(handle, stream, &from.gemm);
    };
  };
  add(TSR_BLAS_GEMM, "gemm", gemm(blas->gemm));
  add(TSR_BLAS_GEMM_STRIDED, "gemm_strided", gemm(blas->gemm_strided));
  add(TSR_BLAS_GEMM_BATCHED, "gemm_batched", gemm(blas->gemm_batched));
  using call_of_vector = tsr_status (*)(tsr_device*, tsr_stream*, const tsr_vector_operation*);
  const auto vector = [&with, handle, stream](call_of_vector call, bool in_place) {
    return [&with, handle, stream, call, in_place](given<T>& from) {
      tsr_vector_operation& v = from.vector;
      v.struct_size = sizeof v;
      v.type = number<T>::type;
      v.n = elements, v.incx = v.incy = 1;
      v.alpha = &from.alpha;
      v.x = in_place ? with.c.at(0) : with.a.at(0), v.y = with.c.at(0);
      return call(handle, stream, &v);
    };
  };
  add(TSR_BLAS_AXPY, "axpy", vector(blas->axpy, false));
  add(TSR_BLAS_SCAL, "scal", vector(blas->scal, true));
  add(TSR_BLAS_SYRK, "syrk", [&with, blas, handle, stream](given<T>& from) {
    tsr_syrk& s = from.syrk;
    s.struct_size = sizeof s;
    s.type = number<T>::type;
    s.n = s.k = s.lda = s.ldc = order;
    s.alpha = &from.alpha, s.beta = &from.beta;
    s.a = with.a.at(0), s.c = with.c.at(0);
    return blas->syrk(handle, stream, &s);
  });
  add(TSR_BLAS_TRSM, "trsm", [&with, blas, handle, stream](given<T>& from) {
    tsr_trsm& t = from.trsm;
    t.struct_size = sizeof t;
    t.type = number<T>::type;
    t.unit_diagonal = true;
    t.m = t.n = t.lda = t.ldb = order;
    t.alpha = &from.alpha;
    t.a = with.a.at(0), t.b = with.c.at(0);
    return blas->trsm(handle, stream, &t);
  });
}

template <class T>
void add_tensor(std::vector<operation<T>>& all, const operands<T>& with, const std::optional<buffer>& workspace) {
  const device& device = with.stream.owner();
  const tsr_tensor_table* const tensor = device.tensor();
  tsr_device* const handle = device.handle();
  tsr_stream* const stream = with.stream.handle();
  if (tensor == nullptr) return;
  const auto add = [&](tsr_tensor_operation op, bool there, const char* name,
                       std::function<tsr_status(given<T>&)> call) {
    if (there && tensor->supports(handle, op, number<T>::type)) all.push_back({name, std::move(call)});
  };
  const tsr_workspace room = workspace ? tsr_workspace{workspace->at(0), workspace->bytes()} : tsr_workspace{};
  add(TSR_TENSOR_PERMUTE, tensor->permute != nullptr, "permute", [&with, tensor, handle, stream, room](given<T>& from) {
    tsr_permute& p = from.permute;
    p.struct_size = sizeof p;
    p.type = number<T>::type;
    p.rank = 2;
    p.extents[0] = p.extents[1] = order;
    p.permutation[0] = 1, p.permutation[1] = 0;
    p.alpha = &from.alpha, p.beta = &from.beta;
    p.source = with.a.at(0), p.destination = with.c.at(0);
    p.workspace = room;
    return tensor->permute(handle, stream, &p);
  });
  add(TSR_TENSOR_REDUCE_ADD, tensor->reduce_add != nullptr, "reduce_add",
      [&with, tensor, handle, stream](given<T>& from) {
        from.a = {with.a.at(0), with.b.at(0)};
        return tensor->reduce_add(handle, stream, number<T>::type, elements, with.c.at(0), from.a.data(), 2);
      });
  add(TSR_TENSOR_FILL, tensor->fill != nullptr, "TENSOR fill", [&with, tensor, handle, stream](given<T>& from) {
    return tensor->fill(handle, stream, number<T>::type, elements, with.c.at(0), &from.alpha);
  });
  add(TSR_TENSOR_CONTRACT, tensor->contract != nullptr, "contract",
      [&with, tensor, handle, stream, room](given<T>& from) {
        return tensor->contract(handle, stream, number<T>::type, &from.alpha, &from.beta, with.a.at(0), 2,
                                from.extents.data(), from.modes_a.data(), with.b.at(0), 2, from.extents.data(),
                                from.modes_b.data(), with.c.at(0), 2, from.modes_c.data(), room);
      });
  add(TSR_TENSOR_CONTRACT, tensor->contract_batched != nullptr, "contract_batched",
      [&with, tensor, handle, stream, room](given<T>& from) {
        tsr_contract& k = from.contract;
        k.struct_size = sizeof k;
        k.type = number<T>::type;
        k.rank_a = k.rank_b = k.rank_c = 2;
        for (std::size_t d = 0; d < 2; ++d) {
          k.extents_a[d] = k.extents_b[d] = order;
          k.modes_a[d] = from.modes_a[d], k.modes_b[d] = from.modes_b[d], k.modes_c[d] = from.modes_c[d];
        }
        k.alpha = &from.alpha, k.beta = &from.beta;
        k.batch = 2;
        for (std::size_t i = 0; i < 2; ++i)
          from.a[i] = with.a.at(i * with.matrix), from.b[i] = with.b.at(i * with.matrix),
          from.c[i] = with.c.at(i * with.matrix);
        k.a_array = from.a.data(), k.b_array = from.b.data(), k.c_array = from.c.data();
        k.workspace = room;
        return tensor->contract_batched(handle, stream, &k);
      });
}

/// A sparse matrix of order x order on the device, for as long as its products are tried; none where the device makes
/// none of the type.
template <class T>
class sparse_matrix {
 public:
  explicit sparse_matrix(const operands<T>& with) : m_device(with.stream.owner()) {
    const tsr_sparse_table* const table = m_device.sparse();
    if (table == nullptr || !table->supports(m_device.handle(), TSR_SPARSE_SPMM, number<T>::type)) return;
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> columns;
    std::vector<T> values;
    for (std::int64_t row = 0; row < order; ++row) {  // the diagonal, and what is right of it
      for (const std::int64_t column : {row, (row + 1) % order})
        columns.push_back(static_cast<std::int32_t>(column)), values.push_back(T(2));
      starts.push_back(static_cast<std::int64_t>(columns.size()));
    }
    m_starts.emplace(uploaded(with.stream, with.space, starts));
    m_columns.emplace(uploaded(with.stream, with.space, columns));
    m_values.emplace(uploaded(with.stream, with.space, values));
    tsr_csr csr{};
    csr.struct_size = sizeof csr;
    csr.type = number<T>::type;
    csr.rows = csr.columns = order, csr.nonzeros = static_cast<std::int64_t>(columns.size());
    csr.row_starts = m_starts->at(0), csr.column_indices = m_columns->at(0), csr.values = m_values->at(0);
    expect_ok(table->create_csr(m_device.handle(), &csr, &m_handle), "create_csr");
  }
  ~sparse_matrix() {
    if (m_handle != nullptr) m_device.sparse()->destroy(m_device.handle(), m_handle);
  }
  sparse_matrix(const sparse_matrix&) = delete;
  sparse_matrix& operator=(const sparse_matrix&) = delete;
  tsr_sparse* handle() const { return m_handle; }

 private:
  const device& m_device;
  std::optional<buffer> m_starts, m_columns, m_values;
  tsr_sparse* m_handle = nullptr;
};

template <class T>
void add_sparse(std::vector<operation<T>>& all, const operands<T>& with, const sparse_matrix<T>& matrix) {
  if (matrix.handle() == nullptr) return;
  const device& device = with.stream.owner();
  const auto add = [&](tsr_sparse_operation op, tsr_transpose transpose, const char* name) {
    if (!device.sparse()->supports(device.handle(), op, number<T>::type)) return;
    all.push_back({name, [&with, &device, transpose, handle = matrix.handle()](given<T>& from) {
                     return device.sparse()->spmm(device.handle(), with.stream.handle(), transpose, &from.alpha, handle,
                                                  with.a.at(0), order, order, &from.beta, with.c.at(0), order, {});
                   }});
  };
  add(TSR_SPARSE_SPMM, TSR_NO_TRANSPOSE, "spmm");
  add(TSR_SPARSE_SPMM_TRANSPOSED, TSR_TRANSPOSE, "spmm, transposed,");
}

/// The bytes that contractions of `order`, one or two, ask for.
template <class T>
std::optional<buffer> workspace_of(const operands<T>& with) {
  const device& device = with.stream.owner();
  const tsr_tensor_table* const tensor = device.tensor();
  if (tensor == nullptr || tensor->workspace == nullptr ||
      !tensor->supports(device.handle(), TSR_TENSOR_CONTRACT, number<T>::type))
    return std::nullopt;
  std::uint64_t most = 0;
  for (const std::int64_t batch : {1, 2}) {
    tsr_contract k{};
    k.struct_size = sizeof k;
    k.type = number<T>::type;
    k.rank_a = k.rank_b = k.rank_c = 2;
    const given<T> labels;
    for (std::size_t d = 0; d < 2; ++d) {
      k.extents_a[d] = k.extents_b[d] = order;
      k.modes_a[d] = labels.modes_a[d], k.modes_b[d] = labels.modes_b[d], k.modes_c[d] = labels.modes_c[d];
    }
    k.batch = batch;
    std::uint64_t bytes = 0;
    expect_ok(tensor->workspace(device.handle(), TSR_TENSOR_CONTRACT, &k, &bytes), "workspace");
    most = std::max(most, bytes);
  }
  return most == 0 ? std::nullopt : std::optional<buffer>(std::in_place, device, with.space, most);
}

/// Overwrites what a call was given: scalars with others, addresses with those of other memory, all else with zeros.
template <class T>
void wipe(given<T>& from, const operands<T>& with) {
  const T other = T(77);
  from = {};
  from.alpha = from.beta = other;
  from.a = from.b = from.c = {with.decoy.at(0), with.decoy.at(0)};
  from.extents = {1, 1};
  from.modes_a = from.modes_b = from.modes_c = {5, 6};
}

/// Runs `look(operation, operands, how)` for every operation of a type that each device offers; the plugin's libraries
/// have been called once before. `how` work is held back on it: devices whose work is done inside the calls are left
/// out. False: no device offers one.
template <class Look>
bool each_operation(const opened& all, Look&& look) {
  bool any = false;
  for_each_device(all, [&](const device& device) {
    const hold how = hold_of(queue(device));
    for_each_number([&](auto zero) {
      using T = decltype(zero);
      const queue stream(device);
      operands<T> with(stream);
      const std::optional<buffer> workspace = workspace_of(with);
      const sparse_matrix<T> matrix(with);
      std::vector<operation<T>> operations;
      add_blas(operations, with);
      add_tensor(operations, with, workspace);
      add_sparse(operations, with, matrix);
      any = any || !operations.empty();
      if (how == hold::nothing) return;
      for (const operation<T>& one : operations) {
        with.reset();
        const auto first = std::make_unique<given<T>>();
        expect_ok(one.call(*first), one.name);
        stream.finish();
        look(one, with, how);
      }
    });
  });
  return any;
}

}  // namespace tessera::conformance::small_calls
