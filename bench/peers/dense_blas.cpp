// Multithreaded OpenBLAS on whole matrices: dgemm and dpotrf, the yardstick for tiled versions.
#include "bench/common/random_graph.hpp"
#include "bench/common/stencil.hpp"

#include <cblas.h>

#include <memory>

using namespace bench;

extern "C" void dpotrf_(const char*, const int*, double*, const int*, int*);
extern "C" char* openblas_get_corename();

int main(int argc, char** argv) {
  const arguments args(argc, argv, {"op", "workers", "n", "reps"});
  const std::string op = args.text("op", "gemm");
  const int threads = int(args.number("workers", 1)), n = int(args.number("n", 4096));
  const long reps = args.number("reps", 3);
  openblas_set_num_threads(threads);
  const size_t nn = size_t(n) * size_t(n);
  auto matrix = [&](auto f) {
    std::unique_ptr<double[]> m(new double[nn]);
    for (size_t j = 0; j < size_t(n); ++j)
      for (size_t i = 0; i < size_t(n); ++i) m[i + j * size_t(n)] = f(long(i), long(j));
    return m;
  };
  double best = 1e9, flops = 0;
  if (op == "gemm") {
    auto a = matrix(noise), b = matrix(noise), c = matrix(noise);
    flops = 2.0 * n * double(n) * n;
    for (long r = 0; r < reps; ++r) {
      const double t0 = now();
      cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a.get(), n, b.get(), n, 1, c.get(), n);
      best = std::min(best, now() - t0);
    }
  } else {
    flops = double(n) * n * n / 3.0;
    for (long r = 0; r < reps; ++r) {
      auto a = matrix([&](long i, long j) { return i == j ? double(n) : noise(std::max(i, j), std::min(i, j)); });
      int info = 0;
      const double t0 = now();
      dpotrf_("L", &n, a.get(), &n, &info);
      best = std::min(best, now() - t0);
      if (info != 0) fail("dpotrf");
    }
  }
  row("dense", std::string("OpenBLAS ") + openblas_get_corename(), op + "_n" + std::to_string(n), threads, "gflops",
      flops / best * 1e-9);
}
