// Tiled matrix product and Cholesky factorization through the C++ interface, f64, one task per tile operation.
//
//   bench_dense --op gemm|potrf --n 4096 --tile 256 --workers 2 --reps 3
//
// The matrices are those of the peers (bench/peers/dense_*.cpp). Every run checks its last result with a random vector.
#include <sstream>

#include "bench/common/matrix.hpp"

namespace bench {
namespace {

using tessera::transpose;

/// Kernel set of the BLAS behind the host plugin: the last word of "OpenBLAS 0.3.21 (Zen)".
std::string kernels(const tessera::runtime& rt) {
  for (const auto& d : rt.plugins().devices())
    if (d->blas() != nullptr && d->blas()->library != nullptr) {
      std::istringstream words(d->blas()->library);
      std::string word, last;
      while (words >> word) last = word;
      std::erase_if(last, [](char c) { return c == '(' || c == ')'; });
      return last;
    }
  return "unknown";
}

/// C += A B, `reps` times. Returns the best seconds.
double product(tessera::runtime& rt, std::int64_t n, std::int64_t tile, long reps) {
  auto a = rt.make_matrix<double>("A", {n, n}, {tile, tile}), b = rt.make_matrix<double>("B", {n, n}, {tile, tile}),
       c = rt.make_matrix<double>("C", {n, n}, {tile, tile});
  const auto element = [](std::int64_t i, std::int64_t j) { return noise(long(i), long(j)); };
  fill(rt, a, element);
  fill(rt, b, element);
  fill(rt, c, element);
  const std::int64_t tiles = a.counts()[0];
  double best = 1e9;
  for (long r = 0; r < reps; ++r) {
    const double t0 = now();
    for (std::int64_t j = 0; j < tiles; ++j)
      for (std::int64_t i = 0; i < tiles; ++i)
        for (std::int64_t k = 0; k < tiles; ++k)
          tessera::gemm(rt, 1.0, a(i, k), transpose::no, b(k, j), transpose::no, 1.0, c(i, j));
    rt.fence();
    best = std::min(best, now() - t0);
  }
  const column x = test_vector(n);
  const column abx = times(a, times(b, x)), ax = times(a, x);  // C was A before (the same noise)
  column expected(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) expected[i] = ax[i] + double(reps) * abx[i];
  compare("gemm", times(c, x), expected);
  return best;
}

double cholesky(tessera::runtime& rt, std::int64_t n, std::int64_t tile, long reps) {
  const auto element = [n](std::int64_t i, std::int64_t j) {
    return i == j ? double(n) : noise(long(std::max(i, j)), long(std::min(i, j)));
  };
  auto a = rt.make_matrix<double>("A", {n, n}, {tile, tile});
  const std::int64_t tiles = a.counts()[0];
  auto info = rt.make_array<std::int32_t>("info", {tiles}, {1});
  const tessera::task_options first{.priority = 1};  // the critical path, as in the peers' program
  double best = 1e9;
  for (long r = 0; r < reps; ++r) {
    fill(rt, a, element);
    const double t0 = now();
    for (std::int64_t k = 0; k < tiles; ++k) {
      tessera::potrf(rt, a(k, k), info(k), first);
      for (std::int64_t i = k + 1; i < tiles; ++i)
        tessera::trsm(rt, 1.0, a(k, k), a(i, k), i == k + 1 ? first : tessera::task_options{});
      for (std::int64_t j = k + 1; j < tiles; ++j) {
        tessera::syrk(rt, -1.0, a(j, k), 1.0, a(j, j), j == k + 1 ? first : tessera::task_options{});
        for (std::int64_t i = j + 1; i < tiles; ++i)
          tessera::gemm(rt, -1.0, a(i, k), transpose::no, a(j, k), transpose::yes, 1.0, a(i, j));
      }
    }
    rt.fence();
    best = std::min(best, now() - t0);
  }
  for (std::int64_t k = 0; k < tiles; ++k)
    if (info(k).read()[0] != 0) fail("potrf: a pivot is not positive");
  check_factor(a, element);
  return best;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  const bench::arguments args(argc, argv, {"op", "n", "tile", "workers", "reps"});
  const std::string op = args.text("op", "gemm");
  const long n = args.number("n", 4096), tile = args.number("tile", 256), reps = args.number("reps", 3);
  const int workers = int(args.number("workers", 2));
  if ((op != "gemm" && op != "potrf") || n < 1 || tile < 1 || tile > n || reps < 1 || workers < 1) {
    std::fprintf(stderr, "--op is gemm or potrf; --n, --reps, --workers start at 1; --tile is from 1 to n\n");
    return 2;
  }
  try {
    tessera::config::sources from;
    from.workers = static_cast<std::uint32_t>(workers);
    tessera::runtime rt(tessera::hierarchy::assemble(tessera::config::document::load(from)));
    const double size = double(n), flops = op == "gemm" ? 2 * size * size * size : size * size * size / 3;
    const double seconds = op == "gemm" ? bench::product(rt, n, tile, reps) : bench::cholesky(rt, n, tile, reps);
    bench::row("dense", "Tessera " + bench::kernels(rt), op + "_n" + std::to_string(n) + "_tile" + std::to_string(tile),
               workers, "gflops", flops / seconds * 1e-9);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
