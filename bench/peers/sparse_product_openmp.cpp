// Y = A X with compressed rows under OpenMP, as textbooks have it: each thread has as many nonzeros as the others, and
// a row's sums are in registers as far as the compiler sees to that.
#include <omp.h>

#include <algorithm>
#include <vector>

#include "bench/common/measure.hpp"
#include "libraries/sparse/matrix/generate.hpp"

using namespace bench;
using tessera::sparse::csr_matrix;

namespace {

/// Rows where the parts of the threads begin, and the end.
std::vector<long> parts_of(const csr_matrix& a, int threads) {
  std::vector<long> begins;
  for (int t = 0; t <= threads; ++t)
    begins.push_back(std::lower_bound(a.row_starts.begin(), a.row_starts.end() - 1, a.nonzeros() * t / threads) -
                     a.row_starts.begin());
  return begins;
}

void multiply_rows_by_one(const csr_matrix& a, long begin, long end, const double* x, double* y) {
  for (long i = begin; i < end; ++i) {
    double sum = 0;
    for (long k = a.row_starts[std::size_t(i)]; k < a.row_starts[std::size_t(i) + 1]; ++k)
      sum += a.values[std::size_t(k)] * x[a.entry_columns[std::size_t(k)]];
    y[i] = sum;
  }
}

template <int B>
void multiply_rows_by(const csr_matrix& a, long begin, long end, const double* x, double* y) {
  for (long i = begin; i < end; ++i) {
    double sum[B] = {};
    for (long k = a.row_starts[std::size_t(i)]; k < a.row_starts[std::size_t(i) + 1]; ++k) {
      const double value = a.values[std::size_t(k)];
      const double* const from = x + long(a.entry_columns[std::size_t(k)]) * B;
      for (int j = 0; j < B; ++j) sum[j] += value * from[j];
    }
    for (int j = 0; j < B; ++j) y[i * B + j] = sum[j];
  }
}

using product = void (*)(const csr_matrix&, long, long, const double*, double*);

product product_for(long block) {
  switch (block) {
    case 1:
      return multiply_rows_by_one;
    case 4:
      return multiply_rows_by<4>;
    case 8:
      return multiply_rows_by<8>;
    case 16:
      return multiply_rows_by<16>;
    default:
      return nullptr;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const arguments args(argc, argv, {"matrix", "block", "workers", "reps"});
  const std::string family = args.text("matrix", "lap3d:60");
  const long block = args.number("block", 1);
  const auto workers = static_cast<int>(args.number("workers", 2));
  const product multiply = product_for(block);
  if (multiply == nullptr) fail("blocks are 1, 4, 8 and 16");
  const csr_matrix a = tessera::sparse::generate(family);
  const std::vector<long> parts = parts_of(a, workers);
  std::vector<double> x(std::size_t(a.rows * block)), y(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = double(k % 1021) - 510;
  double best = 1e99;
  constexpr int together = 4;  // as `tessera spmv`
  for (long rep = 0; rep <= args.number("reps", 10); ++rep) {
    const double began = now();
    for (int k = 0; k < together; ++k) {
#pragma omp parallel num_threads(workers)
      {
        const auto t = std::size_t(omp_get_thread_num());
        multiply(a, parts[t], parts[t + 1], x.data(), y.data());
      }
    }
    if (rep > 0) best = std::min(best, (now() - began) / together);
  }
  double sum = 0;
  for (const double v : y) sum += v;
  if (!(sum > -1e300 && sum < 1e300)) fail("sparse: the product is wrong");
  row("sparse", "OpenMP CSR", family + "_x" + std::to_string(block), workers, "milliseconds", best * 1e3);
}
