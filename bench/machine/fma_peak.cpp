// Peak double-precision multiply-add rate of 1 and 2 cores, 512-bit and 256-bit vectors, registers only.
#include "bench/common/random_graph.hpp"
#include "bench/common/stencil.hpp"

#include <immintrin.h>

using namespace bench;

namespace {

__attribute__((target("avx512f"))) double fma512(long n) {
  __m512d a[12];
  for (int i = 0; i < 12; ++i) a[i] = _mm512_set1_pd(i);
  const __m512d x = _mm512_set1_pd(0.999999), y = _mm512_set1_pd(1e-6);
  for (long k = 0; k < n; ++k)
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) a[i] = _mm512_fmadd_pd(a[i], x, y);
  double s = 0;
  for (int i = 0; i < 12; ++i) s += a[i][0];
  return s;
}
__attribute__((target("avx2,fma"))) double fma256(long n) {
  __m256d a[12];
  for (int i = 0; i < 12; ++i) a[i] = _mm256_set1_pd(i);
  const __m256d x = _mm256_set1_pd(0.999999), y = _mm256_set1_pd(1e-6);
  for (long k = 0; k < n; ++k)
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) a[i] = _mm256_fmadd_pd(a[i], x, y);
  double s = 0;
  for (int i = 0; i < 12; ++i) s += a[i][0];
  return s;
}

template <class F>
double gflops(int threads, double flops_per_step, F f) {
  const long n = 5000000;
  std::atomic<int> ready{0};
  std::atomic<double> sink{0};
  std::vector<double> best(size_t(threads), 1e9);
  auto body = [&](int t) {
    ready.fetch_add(1);
    while (ready.load() < threads) {
    }
    for (int rep = 0; rep < 20; ++rep) {
      const double t0 = now();
      sink.store(f(n));
      best[size_t(t)] = std::min(best[size_t(t)], now() - t0);
    }
  };
  std::vector<std::thread> ts;
  for (int t = 1; t < threads; ++t) ts.emplace_back(body, t);
  body(0);
  for (auto& t : ts) t.join();
  double sum = 0;
  for (double b : best) sum += flops_per_step * double(n) / b * 1e-9;
  return sum;
}

}  // namespace

int main() {
  for (int threads : {1, 2}) {
    row("floor", "hardware", "fma_peak_256", threads, "gflops", gflops(threads, 12 * 8, fma256));
    if (__builtin_cpu_supports("avx512f"))
      row("floor", "hardware", "fma_peak_512", threads, "gflops", gflops(threads, 12 * 16, fma512));
  }
}
