// The loops of bench/regions, and hotspot of bench/rodinia, in Kokkos: in the host's parallel space that it was built
// with. Debian's has the serial one alone, which runs with one worker.
#include <Kokkos_Core.hpp>
#include <cmath>

#include "apps/rodinia/common/random_stream.hpp"
#include "apps/rodinia/hotspot/problem.hpp"
#include "bench/common/measure.hpp"
#include "bench/common/stream_sizes.hpp"

using namespace bench;
using namespace tessera::apps::rodinia;

namespace {

using space = Kokkos::DefaultHostExecutionSpace;
using range = Kokkos::RangePolicy<space>;
using vector = Kokkos::View<double*, space>;

struct measurement {
  std::string name = std::string("Kokkos ") + space::name();
  int workers;
  int reps;

  void row_of(const char* suite, const std::string& kase, const char* metric, const std::vector<double>& values) const {
    row(suite, name, kase, workers, metric, median(values));
  }

  void launches() const {
    constexpr long n = 1000;
    const vector x("x", n), y("y", n);
    constexpr int count = 20000;
    std::vector<double> many;
    for (int rep = 0; rep < reps; ++rep) {
      const double began = now();
      for (int k = 0; k < count / 2; ++k) {
        Kokkos::parallel_for(
            range(0, n), KOKKOS_LAMBDA(long i) { y(i) = x(i) + 1; });
        Kokkos::fence();
        Kokkos::parallel_for(
            range(0, n), KOKKOS_LAMBDA(long i) { x(i) = y(i) + 1; });
        Kokkos::fence();
      }
      many.push_back((now() - began) / count * 1e6);
    }
    if (x(n - 1) != double(reps) * count) fail("launches: wrong result");
    row_of("regions", "launch_1000_waited", "us_per_loop", many);
  }

  void stream(long n) const {
    const auto untouched = [n](const char* label) {
      return vector(Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing), n);
    };
    const vector a = untouched("a"), b = untouched("b"), c = untouched("c");
    double dot = 0;
    Kokkos::parallel_for(
        range(0, n), KOKKOS_LAMBDA(long i) { a(i) = 0.1, b(i) = 0.2, c(i) = 0; });
    Kokkos::fence();
    std::vector<double> copied, scaled, added, triads, dots, updates, alone;
    const auto timed = [&](std::vector<double>& rates, int arrays, const auto& loop) {
      const double began = now();
      loop();
      Kokkos::fence();
      rates.push_back(arrays * 8.0 * double(n) / (now() - began) * 1e-9);
    };
    const auto triad = [&] {
      Kokkos::parallel_for(
          range(0, n), KOKKOS_LAMBDA(long i) { a(i) = b(i) + 0.4 * c(i); });
    };
    for (int rep = 0; rep < 4 * reps; ++rep) {
      timed(copied, 2, [&] {
        Kokkos::parallel_for(
            range(0, n), KOKKOS_LAMBDA(long i) { c(i) = b(i); });
      });
      timed(scaled, 2, [&] {
        Kokkos::parallel_for(
            range(0, n), KOKKOS_LAMBDA(long i) { a(i) = 0.4 * c(i); });
      });
      timed(added, 3, [&] {
        Kokkos::parallel_for(
            range(0, n), KOKKOS_LAMBDA(long i) { a(i) = b(i) + c(i); });
      });
      timed(triads, 3, triad);
      timed(dots, 2, [&] {
        Kokkos::parallel_reduce(
            range(0, n), KOKKOS_LAMBDA(long i, double& s) { s += a(i) * b(i); }, dot);
      });
      timed(updates, 4, [&] {
        Kokkos::parallel_for(
            range(0, n), KOKKOS_LAMBDA(long i) { a(i) += b(i) + 0.4 * c(i); });
      });
    }
    constexpr int passes = 20;
    for (int rep = 0; rep < reps; ++rep)
      timed(alone, 3 * passes, [&] {
        for (int k = 0; k < passes; ++k) triad();
      });
    if (std::abs(dot / (0.28 * 0.2 * double(n)) - 1) > 1e-8) fail("stream: wrong result");
    row_of("regions", loop_of("copy", n), "gigabytes_per_s", copied);
    row_of("regions", loop_of("mul", n), "gigabytes_per_s", scaled);
    row_of("regions", loop_of("add", n), "gigabytes_per_s", added);
    row_of("regions", loop_of("triad", n), "gigabytes_per_s", triads);
    row_of("regions", loop_of("dot", n), "gigabytes_per_s", dots);
    row_of("regions", loop_of("nstream", n), "gigabytes_per_s", updates);
    row_of("regions", loop_of("triad_alone", n), "gigabytes_per_s", alone);
  }

  template <class T>
  void hotspot(const char* kase, int steps, double divisor) const {
    using matrix = Kokkos::View<T**, Kokkos::LayoutRight, space>;
    constexpr long n = 1024;
    const hotspot_factors<T> f = as<T>(hotspot_factors_of(n, divisor));
    matrix a("a", n, n), b("b", n, n), p("p", n, n);
    std::vector<double> milliseconds;
    for (int rep = 0; rep <= reps; ++rep) {
      Kokkos::parallel_for(
          range(0, n), KOKKOS_LAMBDA(long i) {
            random_stream t(5, std::uint64_t(i * n)), w(5, std::uint64_t(n * n + i * n));
            for (long j = 0; j < n; ++j) a(i, j) = T(320 + 10 * t.unit()), b(i, j) = 0, p(i, j) = T(0.001 * w.unit());
          });
      Kokkos::fence();
      const double began = now();
      for (int k = 0; k < steps; ++k) {
        Kokkos::parallel_for(
            range(0, n), KOKKOS_LAMBDA(long i) {
              const T *mid = &a(i, 0), *up = &a(i > 0 ? i - 1 : i, 0), *down = &a(i + 1 < n ? i + 1 : i, 0),
                      *w = &p(i, 0);
              T* __restrict to = &b(i, 0);
              const auto cell = [&](long j, T left, T right) {
                const T t = mid[j];
                to[j] = t + f.rate * (w[j] + (left + right - 2 * t) * f.x + (up[j] + down[j] - 2 * t) * f.y +
                                      (f.ambient - t) * f.z);
              };
              cell(0, mid[0], mid[1]);
              for (long j = 1; j < n - 1; ++j) cell(j, mid[j - 1], mid[j + 1]);
              cell(n - 1, mid[n - 2], mid[n - 1]);
            });
        Kokkos::fence();
        std::swap(a, b);
      }
      if (rep > 0) milliseconds.push_back((now() - began) * 1e3);
    }
    row_of("rodinia", kase, "milliseconds", milliseconds);
  }
};

}  // namespace

int main(int argc, char** argv) {
  const arguments args(argc, argv, {"workers", "n", "reps", "case"});
  const std::string kase = args.text("case", "all");
  const measurement m{.workers = int(args.number("workers", 2)), .reps = int(args.number("reps", 5))};
  const std::string threads = "--kokkos-threads=" + std::to_string(m.workers);
  std::vector<char*> options = {argv[0], const_cast<char*>(threads.c_str()), nullptr};
  int count = 2;
  const Kokkos::ScopeGuard running(count, options.data());
  if (space().concurrency() != m.workers) return 0;  // a space that has one thread says nothing of two
  if (kase == "all" || kase == "launch") m.launches();
  if (kase == "all" || kase == "stream") m.stream(args.number("n", 1 << 25));
  if (kase == "all" || kase == "hotspot") {
    m.hotspot<double>("hotspot_1024_10", 10, 1);
    m.hotspot<float>("hotspot_1024_100_f32", 100, 1000);
  }
}
