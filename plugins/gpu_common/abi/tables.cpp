// The BLAS and TENSOR tables of a GPU: the checks are those of every plugin, the kernels those of kernels.hpp.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "plugins/gpu_common/abi/handles.hpp"
#include "plugins/gpu_common/api/scalars.hpp"
#include "plugins/gpu_common/kernels/kernels.hpp"
#include "plugins/gpu_common/kernels/sparse_kernels.hpp"
#include "plugins/kit/kernels/blas_table.hpp"
#include "plugins/kit/kernels/tensor_table.hpp"

namespace tessera::gpu {
namespace {

/// A column-major matrix, as it is or transposed.
matrix operand(void* data, std::int64_t ld, tsr_transpose transpose = TSR_NO_TRANSPOSE) {
  matrix made{data, 1, ld};
  if (transpose != TSR_NO_TRANSPOSE) made = made.transposed();
  made.conjugated = transpose == TSR_CONJUGATE_TRANSPOSE;
  return made;
}

/// The same matrix, counted from its last row and column if it is upper triangular: then it is lower triangular.
void flip_triangle(matrix& l, matrix& x, std::int64_t n, std::size_t element_bytes) {
  const auto last = [&](const matrix& of, std::int64_t steps) {
    return static_cast<char*>(of.data) + (n - 1) * steps * static_cast<std::int64_t>(element_bytes);
  };
  l.data = last(l, l.row_step + l.column_step);
  l.row_step = -l.row_step;
  l.column_step = -l.column_step;
  x.data = last(x, x.row_step);
  x.row_step = -x.row_step;
}

error_t enqueue(const kit::gemm_call& g, stream_t stream) {
  product p{g.type,
            g.m,
            g.n,
            g.k,
            g.alpha.bytes,
            g.beta.bytes,
            operand(g.a, g.lda, g.transpose_a),
            operand(g.b, g.ldb, g.transpose_b),
            operand(g.c, g.ldc)};
  p.batch = g.batch;
  p.step_a = g.stride_a;
  p.step_b = g.stride_b;
  p.step_c = g.stride_c;
  if (g.pointers.empty()) return multiply(p, stream);
  std::vector<std::array<void*, 3>> pointers;
  pointers.reserve(g.pointers.size());
  for (const auto& one : g.pointers) pointers.push_back({one.a, one.b, one.c});
  p.pointers = reinterpret_cast<void* const(*)[3]>(pointers.data());
  return multiply(p, stream);
}

error_t enqueue(const kit::vector_call& v, stream_t stream) {
  if (v.operation == TSR_BLAS_AXPY) return axpy(v.type, v.n, v.alpha.bytes, v.x, v.incx, v.y, v.incy, stream);
  return scal(v.type, v.n, v.alpha.bytes, v.x, v.incx, stream);
}

error_t enqueue(const kit::syrk_call& s, stream_t stream) {
  const matrix a = operand(s.a, s.lda, s.transpose == TSR_NO_TRANSPOSE ? TSR_NO_TRANSPOSE : TSR_TRANSPOSE);
  matrix c = operand(s.c, s.ldc);
  if (s.triangle == TSR_UPPER) c = c.transposed();  // the result is symmetric
  product p{s.type, s.n, s.n, s.k, s.alpha.bytes, s.beta.bytes, a, a.transposed(), c};
  p.lower = true;
  return multiply(p, stream);
}

error_t enqueue(const kit::trsm_call& t, stream_t stream) {
  if (t.m == 0 || t.n == 0) return error_t{};
  matrix l = operand(t.a, t.lda, t.transpose), x = operand(t.b, t.ldb);
  bool lower = (t.triangle == TSR_LOWER) == (t.transpose == TSR_NO_TRANSPOSE);
  std::int64_t n = t.m, columns = t.n;
  if (t.side == TSR_RIGHT) {  // X A = B is A^T X^T = B^T
    l = l.transposed();
    x = x.transposed();
    lower = !lower;
    std::swap(n, columns);
  }
  if (!lower) flip_triangle(l, x, n, kit::element_bytes(t.type));
  return solve_lower(t.type, n, columns, t.alpha.bytes, l, t.unit_diagonal, x, stream);
}

error_t enqueue(const kit::potrf_call& p, stream_t stream) {
  matrix a = operand(p.a, p.lda);
  if (p.triangle == TSR_UPPER) a = a.transposed();  // U^H U = A is U^T (U^T)^H = A^T, and U^T is lower triangular
  return factor_lower(p.type, p.n, a, static_cast<std::int32_t*>(p.info), stream);
}

error_t enqueue(const kit::permute_call& call, stream_t stream) {
  const kit::permute_plan& from = call.plan;
  permutation plan{from.rank, from.element_bytes, from.elements, {}, {}, {}};
  std::copy_n(from.extents, TSR_MAX_RANK, plan.extents);
  std::copy_n(from.source_strides, TSR_MAX_RANK, plan.source_strides);
  std::copy_n(from.destination_strides, TSR_MAX_RANK, plan.destination_strides);
  return permute(plan, call.type, call.pure_move ? nullptr : call.alpha.bytes, call.beta.bytes, call.source,
                 call.destination, stream);
}

error_t enqueue(const kit::reduce_call& r, stream_t stream) {
  return reduce_add(r.type, r.count, r.destination, r.sources.data(), r.sources.size(), stream);
}

error_t enqueue(const kit::fill_call& f, stream_t stream) {
  return fill_pattern(f.destination, f.value.bytes, static_cast<std::uint32_t>(kit::element_bytes(f.type)), f.count,
                      stream);
}

error_t enqueue(const kit::matrix_reduce_call& r, stream_t stream) {
  line_reduction lines{r.type, r.reduction, r.results, r.length, r.result_step, r.step, r.source, r.destination, {}};
  with_part(r.type, [&](auto part) {
    using limits = std::numeric_limits<decltype(part)>;
    const auto largest = limits::has_infinity ? limits::infinity() : limits::max();
    const auto least = limits::has_infinity ? -limits::infinity() : limits::lowest();
    part = r.reduction == TSR_REDUCTION_MIN ? largest : least;
    std::memcpy(lines.nothing, &part, sizeof part);
  });
  return reduce_lines(lines, stream);
}

}  // namespace

bool has_numbers(const tsr_device* device, tsr_type type) {
  return device->facts.has_fp64 || (type != TSR_F64 && type != TSR_C128);
}

tsr_status check_numbers(const tsr_device* device, tsr_type type) {
  if (has_numbers(device, type)) return TSR_OK;
  return device->report.fail(TSR_UNIMPLEMENTED, "device '%s' has no double precision; ask supports first",
                             device->facts.name);
}

namespace {

/// What a vendor's library answered to a call that it took.
tsr_status tell_of_library(tsr_device* device, int wrong) {
  if (wrong == 0) return TSR_OK;
  clear_error();  // else the next kernel reports it; a device that broke is noticed by the next call of the runtime
  return device->report.fail(TSR_UNKNOWN, "%s: a call failed with status %d", device->plugin->dense->found().c_str(),
                             wrong);
}

struct backend {
  static tsr_status check(tsr_device* device) {
    return gate::on_device(device, [] { return TSR_OK; });
  }

  static const kit::reporter& report(const tsr_device* device) { return device->report; }

  /// A GPU's costs, roughly: a launch, and what a large one of today does. Only their relations matter.
  static constexpr kit::contract_costs contract_costs{.call = 5e-6,
                                                      .item = 0.02e-6,
                                                      .flops = 10e12,
                                                      .product_bytes = 1.5e12,
                                                      .permute_call = 4e-6,
                                                      .permute_bytes = 1.5e12,
                                                      .tile = 32,
                                                      .together = true};

  /// By a library where there is one for it, else by our kernels.
  template <class Call>
  static tsr_status issue(tsr_device* device, stream_state& state, const Call& call) {
    if constexpr (requires { device->plugin->dense->run(call, state.dense, state.native); })
      if (const auto& library = device->plugin->dense; library != nullptr)
        if (const auto wrong = library->run(call, state.dense, state.native)) return tell_of_library(device, *wrong);
    return tell(device, enqueue(call, state.native), "a kernel");
  }
  static tsr_status issue(tsr_device* device, stream_state& state, const kit::contract_call& call) {
    const auto step = [&](const auto& one) { return issue(device, state, one); };
    return kit::for_each_step(call, step, step);
  }

  template <class Call, class Prepare>
  static tsr_status kernel(tsr_device* device, tsr_stream* stream, Prepare&& prepare_call) {
    return gate::on_stream(device, stream, [&]() -> tsr_status {
      Call call{};
      operands resolver(device);
      if (const auto status = prepare_call(device->report, resolver, call)) return status;
      if constexpr (!std::is_same_v<Call, kit::fill_call>)
        if (const auto status = check_numbers(device, call.type)) return status;
      return issue(device, state_of(stream), call);
    });
  }
};

/// dot and nrm2: with the caller's workspace where it is large enough.
template <tsr_blas_operation Operation>
tsr_status reduction(tsr_device* device, tsr_stream* stream, const tsr_vector_operation* arguments) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    kit::vector_call v{};
    operands resolver(device);
    if (const auto status = kit::prepare(device->report, resolver, arguments, Operation, v)) return status;
    if (const auto status = check_numbers(device, v.type)) return status;
    void* scratch = nullptr;
    if (arguments->workspace.bytes >= reduction_scratch)
      if (const auto status =
              resolver.resolve("the workspace", arguments->workspace.address, reduction_scratch, &scratch))
        return status;
    const auto native = state_of(stream).native;
    if (Operation == TSR_BLAS_DOT)
      return tell(device, dot(v.type, v.n, v.x, v.incx, v.y, v.incy, v.result, scratch, native), "dot");
    return tell(device, nrm2(v.type, v.n, v.x, v.incx, v.result, scratch, native), "nrm2");
  });
}

/// With the caller's workspace where it is large enough.
tsr_status potrf(tsr_device* device, tsr_stream* stream, const tsr_potrf* arguments) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    kit::potrf_call call{};
    operands resolver(device);
    if (const auto status = kit::prepare(device->report, resolver, arguments, call)) return status;
    if (const auto status = check_numbers(device, call.type)) return status;
    stream_state& state = state_of(stream);
    if (const auto& library = device->plugin->dense; library != nullptr) {
      scratch_given scratch{nullptr, arguments->workspace.bytes};
      if (scratch.bytes > 0)
        if (const auto status =
                resolver.resolve("the workspace", arguments->workspace.address, scratch.bytes, &scratch.memory))
          return status;
      if (const auto wrong = library->run(call, scratch, state.recording, state.dense, state.native))
        return tell_of_library(device, *wrong);
    }
    return tell(device, enqueue(call, state.native), "a kernel");
  });
}

/// For calls whose operands are not looked at.
struct nowhere final : kit::operand_resolver {
  tsr_status resolve(const char*, const tsr_address&, std::uint64_t, void** out) override {
    *out = nullptr;
    return TSR_OK;
  }
};

tsr_status workspace(tsr_device* device, tsr_blas_operation operation, const void* arguments,
                     std::uint64_t* out_bytes) {
  return gate::on_device(device, [&]() -> tsr_status {
    if (out_bytes == nullptr) return device->report.fail(TSR_INVALID_ARGUMENT, "workspace: out_bytes is NULL");
    std::uint64_t bytes = operation == TSR_BLAS_DOT || operation == TSR_BLAS_NRM2 ? reduction_scratch : 0;
    if (const auto& library = device->plugin->dense; operation == TSR_BLAS_POTRF && library != nullptr) {
      kit::potrf_call call{};
      nowhere resolver;
      if (const auto status = kit::prepare(device->report, resolver, static_cast<const tsr_potrf*>(arguments), call))
        return status;
      bytes = device->sizes->of(*library, call);
    }
    *out_bytes = bytes;
    return TSR_OK;
  });
}

}  // namespace

tsr_blas_table blas_table(const char* library) {
  tsr_blas_table table = kit::make_blas_table<backend>(library);
  table.supports = [](tsr_device* device, tsr_blas_operation operation, tsr_type type) {
    return kit::blas_supports(operation, type) && has_numbers(device, type);
  };
  table.workspace = workspace;
  table.dot = &reduction<TSR_BLAS_DOT>;
  table.nrm2 = &reduction<TSR_BLAS_NRM2>;
  table.potrf = potrf;
  return table;
}

tsr_tensor_table tensor_table() {
  tsr_tensor_table table = kit::make_tensor_table<backend>();
  table.supports = [](tsr_device* device, tsr_tensor_operation operation, tsr_type type) {
    return kit::tensor_supports(operation, type) && (operation == TSR_TENSOR_FILL || has_numbers(device, type));
  };
  return table;
}

}  // namespace tessera::gpu
