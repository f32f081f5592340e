// The Lanczos steps of bench/sparse/lanczos.cpp under OpenMP, executed in three ways: `blas`, one library call per
// operation on a basis by columns; `tuned`, a parallel loop over panels per operation; `fused`, the three passes over
// the rows that data flow allows, written by hand.
#include <cblas.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include "bench/common/measure.hpp"
#include "libraries/sparse/matrix/generate.hpp"
#include "libraries/sparse/matrix/row_panels.hpp"
#include "libraries/sparse/product/compressed_rows.hpp"
#include "libraries/sparse/program/kernels.hpp"

extern "C" void openblas_set_num_threads(int);

using namespace bench;
using namespace tessera::sparse;

namespace {

struct free_memory {
  void operator()(double* p) const { std::free(p); }
};

class lanczos_by_hand {
 public:
  lanczos_by_hand(const csr_matrix& matrix, std::string how, long steps, int threads, long panel_rows)
      : a(matrix),
        mode(std::move(how)),
        count(steps),
        workers(threads),
        n((matrix.rows + 7) / 8 * 8),
        panels(balanced_panels(matrix, panel_rows, 8)) {
    const std::size_t page = 2u << 20, bytes = (std::size_t(n * (count + 2)) * sizeof(double) + page - 1) / page * page;
    basis.reset(static_cast<double*>(std::aligned_alloc(page, bytes)));
    std::fill_n(basis.get(), n * (count + 2), 0.0);
    w = at(count + 1);
    unsigned long state = 1;
    for (long k = 0; k < a.rows; ++k) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      at(0)[k] = double(state >> 11) * 0x1.0p-52 - 1;
    }
    cblas_dscal(int(a.rows), 1 / cblas_dnrm2(int(a.rows), at(0), 1), at(0), 1);
  }

  void run() {
    for (long j = 0; j < count; ++j) mode == "fused" ? fused_step(j) : step(j);
  }

  double orthogonality() const {
    double worst = std::abs(cblas_dnrm2(int(a.rows), at(count), 1) - 1);
    for (const long k : {0L, 1L, count - 1})
      worst = std::max(worst, std::abs(cblas_ddot(int(a.rows), at(k), 1, at(count), 1)));
    return worst;
  }

 private:
  using table = std::vector<double>;
  double* at(long column) const { return basis.get() + column * n; }

  /// loop(sums, begin, end) for strips of rows; what the threads add up, together.
  template <class Loop>
  table over(long sums, const Loop& loop) const {
    constexpr long strip = 1024;
    std::vector<table> parts(std::size_t(workers), table(std::size_t(sums + 8), 0));
#pragma omp parallel for schedule(static) num_threads(workers)
    for (long k = 0; k < panels.count(); ++k)
      for (long row = panels.begin(k); row < panels.end(k); row += strip)
        loop(parts[std::size_t(omp_get_thread_num())].data(), row, std::min(row + strip, long(panels.end(k))));
    table all(std::size_t(sums), 0);
    for (const table& part : parts)
      for (long i = 0; i < sums; ++i) all[std::size_t(i)] += part[std::size_t(i)];
    return all;
  }

  void add_overlaps(double* to, long columns, long begin, long end) const {
    for (long i = 0; i < columns; ++i) kernels::add_dots(at(i) + begin, w + begin, 1, end - begin, to + i);
  }
  void subtract(const table& overlaps, long columns, long begin, long end) const {
    for (long i = 0; i < columns; ++i)
      kernels::add_multiple(-overlaps[std::size_t(i)], at(i) + begin, w + begin, end - begin);
  }
  static double factor_of(double square, const table& overlaps, long columns) {
    for (long i = 0; i < columns; ++i) square -= overlaps[std::size_t(i)] * overlaps[std::size_t(i)];
    return 1 / std::sqrt(square);
  }

  void step(long j) {
    over(0, [&](double*, long begin, long end) { multiply_rows(a, begin, end, 1, at(j), w + begin); });
    const long columns = j + 1;
    const bool blas = mode == "blas";
    table h(static_cast<std::size_t>(columns));
    for (int round = 0; round < 2; ++round) {
      if (blas) {
        cblas_dgemv(CblasColMajor, CblasTrans, int(a.rows), int(columns), 1, at(0), int(n), w, 1, 0, h.data(), 1);
        cblas_dgemv(CblasColMajor, CblasNoTrans, int(a.rows), int(columns), -1, at(0), int(n), h.data(), 1, 1, w, 1);
        continue;
      }
      h = over(columns, [&](double* to, long begin, long end) { add_overlaps(to, columns, begin, end); });
      over(0, [&](double*, long begin, long end) { subtract(h, columns, begin, end); });
    }
    if (blas) {
      const double factor = 1 / cblas_dnrm2(int(a.rows), w, 1);
      cblas_dcopy(int(a.rows), w, 1, at(j + 1), 1);
      cblas_dscal(int(a.rows), factor, at(j + 1), 1);
      return;
    }
    const table square =
        over(1, [&](double* to, long begin, long end) { kernels::add_dots(w + begin, w + begin, 1, end - begin, to); });
    const double factor = 1 / std::sqrt(square[0]);
    over(0,
         [&](double*, long begin, long end) { kernels::scale(&factor, w + begin, at(j + 1) + begin, 1, end - begin); });
  }

  void fused_step(long j) {
    const long columns = j + 1;
    const table first = over(columns, [&](double* to, long begin, long end) {
      multiply_rows(a, begin, end, 1, at(j), w + begin);
      add_overlaps(to, columns, begin, end);
    });
    const table second = over(columns + 1, [&](double* to, long begin, long end) {
      subtract(first, columns, begin, end);
      add_overlaps(to, columns, begin, end);
      kernels::add_dots(w + begin, w + begin, 1, end - begin, to + columns);
    });
    const double factor = factor_of(second[std::size_t(columns)], second, columns);
    over(0, [&](double*, long begin, long end) {
      subtract(second, columns, begin, end);
      kernels::scale(&factor, w + begin, at(j + 1) + begin, 1, end - begin);
    });
  }

  const csr_matrix& a;
  std::string mode;
  long count;
  int workers;
  long n;
  row_panels panels;
  std::unique_ptr<double[], free_memory> basis;
  double* w = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  const arguments args(argc, argv, {"mode", "matrix", "workers", "iterations", "reps", "panel"});
  const std::string mode = args.text("mode", "fused"), family = args.text("matrix", "lap3d:60");
  if (mode != "blas" && mode != "tuned" && mode != "fused") fail("modes are blas, tuned and fused");
  const auto workers = static_cast<int>(args.number("workers", 2));
  const long steps = args.number("iterations", 50);
  const csr_matrix a = generate(family);
  openblas_set_num_threads(mode == "blas" ? workers : 1);
  omp_set_num_threads(workers);
  lanczos_by_hand lanczos(a, mode, steps, workers, args.number("panel", 4096));
  double best = 1e99;
  for (long rep = 0; rep <= args.number("reps", 3); ++rep) {
    const double began = now();
    lanczos.run();
    best = std::min(best, now() - began);
  }
  if (!(lanczos.orthogonality() < 1e-10)) fail("sparse: the basis is not orthonormal");
  row("sparse", "OpenMP " + mode, family + "_lanczos" + std::to_string(steps), workers, "milliseconds",
      best / double(steps) * 1e3);
}
