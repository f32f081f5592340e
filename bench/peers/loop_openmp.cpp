// The loops of bench/regions as plain OpenMP loops.
#include <omp.h>

#include <cmath>
#include <memory>

#include "bench/common/measure.hpp"
#include "bench/common/stream_sizes.hpp"

using namespace bench;

static const char* const name = "OpenMP libgomp";

static void row_of(const std::string& kase, int workers, const char* metric, const std::vector<double>& values) {
  row("regions", name, kase, workers, metric, median(values));
}

static void launches(int workers, int reps) {
  constexpr long n = 1000;
  std::vector<double> xs(n), ys(n);
  double* const x = xs.data();
  double* const y = ys.data();
  constexpr int count = 20000;
  std::vector<double> many;
  for (int rep = 0; rep < reps; ++rep) {
    const double began = now();
    for (int k = 0; k < count / 2; ++k) {
#pragma omp parallel for schedule(static) num_threads(workers)
      for (long i = 0; i < n; ++i) y[i] = x[i] + 1;
#pragma omp parallel for schedule(static) num_threads(workers)
      for (long i = 0; i < n; ++i) x[i] = y[i] + 1;
    }
    many.push_back((now() - began) / count * 1e6);
  }
  if (x[n - 1] != double(reps) * count) fail("launches: wrong result");
  row_of("launch_1000_waited", workers, "us_per_loop", many);  // each loop ends with a barrier
}

static void stream(int workers, int reps, long n) {
  // Not touched before the loops do it.
  const std::unique_ptr<double[]> as(new double[std::size_t(n)]), bs(new double[std::size_t(n)]),
      cs(new double[std::size_t(n)]);
  double* const a = as.get();
  double* const b = bs.get();
  double* const c = cs.get();
  double dot = 0;
#pragma omp parallel for schedule(static) num_threads(workers)
  for (long i = 0; i < n; ++i) a[i] = 0.1, b[i] = 0.2, c[i] = 0;
  std::vector<double> copied, scaled, added, triads, dots, updates, alone;
  const auto timed = [&](std::vector<double>& rates, int arrays, double began) {
    rates.push_back(arrays * 8.0 * double(n) / (now() - began) * 1e-9);
  };
  for (int rep = 0; rep < 4 * reps; ++rep) {
    double began = now();
#pragma omp parallel for schedule(static) num_threads(workers)
    for (long i = 0; i < n; ++i) c[i] = b[i];
    timed(copied, 2, began);
    began = now();
#pragma omp parallel for schedule(static) num_threads(workers)
    for (long i = 0; i < n; ++i) a[i] = 0.4 * c[i];
    timed(scaled, 2, began);
    began = now();
#pragma omp parallel for schedule(static) num_threads(workers)
    for (long i = 0; i < n; ++i) a[i] = b[i] + c[i];
    timed(added, 3, began);
    began = now();
#pragma omp parallel for schedule(static) num_threads(workers)
    for (long i = 0; i < n; ++i) a[i] = b[i] + 0.4 * c[i];
    timed(triads, 3, began);
    began = now();
    dot = 0;
#pragma omp parallel for simd schedule(static) num_threads(workers) reduction(+ : dot)
    for (long i = 0; i < n; ++i) dot += a[i] * b[i];
    timed(dots, 2, began);
    began = now();
#pragma omp parallel for schedule(static) num_threads(workers)
    for (long i = 0; i < n; ++i) a[i] += b[i] + 0.4 * c[i];
    timed(updates, 4, began);
  }
  constexpr int passes = 20;
  for (int rep = 0; rep < reps; ++rep) {
    const double began = now();
    for (int k = 0; k < passes; ++k) {
#pragma omp parallel for schedule(static) num_threads(workers)
      for (long i = 0; i < n; ++i) a[i] = b[i] + 0.4 * c[i];
    }
    timed(alone, 3 * passes, began);
  }
  if (std::abs(dot / (0.28 * 0.2 * double(n)) - 1) > 1e-8) fail("stream: wrong result");
  row_of(loop_of("copy", n), workers, "gigabytes_per_s", copied);
  row_of(loop_of("mul", n), workers, "gigabytes_per_s", scaled);
  row_of(loop_of("add", n), workers, "gigabytes_per_s", added);
  row_of(loop_of("triad", n), workers, "gigabytes_per_s", triads);
  row_of(loop_of("dot", n), workers, "gigabytes_per_s", dots);
  row_of(loop_of("nstream", n), workers, "gigabytes_per_s", updates);
  row_of(loop_of("triad_alone", n), workers, "gigabytes_per_s", alone);
}

int main(int argc, char** argv) {
  const arguments args(argc, argv, {"workers", "n", "reps", "case"});
  const std::string kase = args.text("case", "all");
  const int workers = int(args.number("workers", 2)), reps = int(args.number("reps", 5));
  if (kase == "all" || kase == "launch") launches(workers, reps);
  if (kase == "all" || kase == "stream") stream(workers, reps, args.number("n", 1 << 25));
}
