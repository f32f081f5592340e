// Contractions by the host's processors: products through OpenBLAS, except where a call costs more than the work.
#include <complex>
#include <memory>

#include "plugins/kit/kernels/contract/call.hpp"
#include "plugins/kit/kernels/contract/successors.hpp"
#include "plugins/kit/kernels/numbers.hpp"
#include "plugins/kit/kernels/openblas.hpp"

namespace tessera::kit {

// Measured on one core of a Zen processor with OpenBLAS 0.3.21; only their relations matter.
const contract_costs host_contract_costs{.call = 0,
                                         .item = 0.25e-6,
                                         .flops = 40e9,
                                         .product_bytes = 12e9,
                                         .permute_call = 0.05e-6,
                                         .permute_bytes = 20e9,
                                         .tile = 4,
                                         .together = false,
                                         .packed = 0.5e-6,
                                         .packed_flops = 32e9,
                                         .packed_bytes = 20e9};

namespace {

/// Below so many terms a call of OpenBLAS costs more than they do.
constexpr std::int64_t few_terms = 64;

template <class T>
void multiply_few(const contract_plan& plan, const gemm_call& g) {
  const T alpha = value_of<T>(g.alpha), beta = value_of<T>(g.beta);
  for (std::int64_t item = 0; item < g.batch; ++item) {
    const auto* a = reinterpret_cast<const T*>(static_cast<const char*>(g.a) + item * g.stride_a);
    const auto* b = reinterpret_cast<const T*>(static_cast<const char*>(g.b) + item * g.stride_b);
    auto* c = reinterpret_cast<T*>(static_cast<char*>(g.c) + item * g.stride_c);
    for (std::int64_t j = 0; j < plan.n; ++j)
      for (std::int64_t i = 0; i < plan.m; ++i) {
        T sum(0);
        for (std::int64_t p = 0; p < plan.k; ++p)
          sum += product(a[i * plan.row_step[0] + p * plan.column_step[0]],
                         b[p * plan.row_step[1] + j * plan.column_step[1]]);
        T& to = c[i * plan.row_step[2] + j * plan.column_step[2]];
        to = beta == T(0) ? product(alpha, sum) : product(alpha, sum) + product(beta, to);
      }
  }
}

/// A dot product or a matrix times a vector, of real numbers; false where it is neither.
template <class Real, class Dot, class Gemv>
bool multiply_vector(const contract_plan& plan, const gemm_call& g, Dot* dot, Gemv* gemv) {
  if (plan.m != 1 && plan.n != 1) return false;
  const openblas::call one_call;
  const bool column = plan.n == 1;  // of C; else its one row: c^T = B^T a^T
  const int vector = column ? 1 : 0, matrix = 1 - vector;
  const Real alpha = value_of<Real>(g.alpha), beta = value_of<Real>(g.beta);
  const auto inc = [](std::int64_t step) { return static_cast<int>(step == 0 ? 1 : step); };
  const int inc_x = inc(column ? plan.row_step[1] : plan.column_step[0]),
            inc_y = inc(column ? plan.row_step[2] : plan.column_step[2]);
  for (std::int64_t item = 0; item < g.batch; ++item) {
    const Real* first = reinterpret_cast<const Real*>(static_cast<const char*>(g.a) + item * g.stride_a);
    const Real* second = reinterpret_cast<const Real*>(static_cast<const char*>(g.b) + item * g.stride_b);
    Real* y = reinterpret_cast<Real*>(static_cast<char*>(g.c) + item * g.stride_c);
    if (plan.m == 1 && plan.n == 1) {
      const Real sum = dot(g.k, first, inc(plan.column_step[0]), second, inc(plan.row_step[1]));
      *y = beta == 0 ? alpha * sum : alpha * sum + beta * *y;
      continue;
    }
    const Real *x = column ? second : first, *of = column ? first : second;
    const std::int64_t results = column ? plan.m : plan.n;
    if (beta == 0)
      for (std::int64_t i = 0; i < results; ++i) y[i * inc_y] = 0;  // gemv may multiply what is there by 0
    const bool along = column != plan.transposed[matrix];           // the results lie along the matrix's columns
    const auto rows = static_cast<int>(along ? results : plan.k), columns = static_cast<int>(along ? plan.k : results);
    gemv(CblasColMajor, along ? CblasNoTrans : CblasTrans, rows, columns, alpha, of, static_cast<int>(plan.ld[matrix]),
         x, inc_x, beta == 0 ? Real(1) : beta, y, inc_y);
  }
  return true;
}

tsr_status multiply(const contract_plan& plan, const gemm_call& g) {
  if (!g.pointers.empty()) return run(g);
  if (plan.k > 0 && plan.m * plan.n <= few_terms && plan.m * plan.n * plan.k <= few_terms) {
    switch (g.type) {
      case TSR_F32:
        multiply_few<float>(plan, g);
        break;
      case TSR_F64:
        multiply_few<double>(plan, g);
        break;
      case TSR_C64:
        multiply_few<std::complex<float>>(plan, g);
        break;
      default:
        multiply_few<std::complex<double>>(plan, g);
        break;
    }
    return TSR_OK;
  }
  const openblas& blas = openblas::loaded();
  if (plan.k > 0 && g.type == TSR_F32 && multiply_vector<float>(plan, g, blas.sdot, blas.sgemv)) return TSR_OK;
  if (plan.k > 0 && g.type == TSR_F64 && multiply_vector<double>(plan, g, blas.ddot, blas.dgemv)) return TSR_OK;
  return run(g);
}

void multiply_packed(const contract_call& call) {
  thread_local const auto came_after = std::make_unique<std::array<successors, 2>>();
  const auto one = [&](const contract_call::blocks& blocks) {
    run_packed(*call.plan->packed, value_of<double>(call.alpha), static_cast<const double*>(blocks[operand_a]),
               static_cast<const double*>(blocks[operand_b]), value_of<double>(call.beta),
               static_cast<double*>(blocks[operand_c]), call.workspace,
               {(*came_after)[operand_a].note(blocks[operand_a]), (*came_after)[operand_b].note(blocks[operand_b])});
  };
  if (call.many.empty()) one(call.one);
  for (const auto& blocks : call.many) one(blocks);
}

}  // namespace

tsr_status run(const contract_call& call) {
  if (call.plan != nullptr && call.plan->packed) {
    multiply_packed(call);
    return TSR_OK;
  }
  return for_each_step(
      call, [](const permute_call& copy) { return run(copy); },
      [&](const gemm_call& one) { return multiply(*call.plan, one); });
}

}  // namespace tessera::kit
