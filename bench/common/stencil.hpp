#pragma once
// The smallest efficient task: a one-dimensional stencil whose tasks do nothing but compute for a known time.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "bench/common/measure.hpp"

namespace bench {

inline double busy(std::uint64_t iterations) {  // a chain of dependent multiply-adds: compute bound, no memory
  double a = 1.0;
  const double x = 0.999999, y = 1e-6;
  for (std::uint64_t i = 0; i < iterations; ++i) {
    a = a * x + y;
    asm volatile("" : "+x"(a));
  }
  return a;
}

/// Binds the calling thread to the first CPU that it may use.
inline void bind_to_first_cpu() {
  cpu_set_t all, first;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return;
  CPU_ZERO(&first);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &all)) {
      CPU_SET(cpu, &first);
      break;
    }
  sched_setaffinity(0, sizeof first, &first);
}

/// Seconds per iteration with `threads` threads busy at once; the smallest of many samples.
inline double seconds_per_iteration(int threads) {
  std::atomic<int> ready{0};
  std::vector<double> best(std::size_t(threads), 1e9);
  const auto body = [&](int t) {
    ready.fetch_add(1);
    while (ready.load() < threads) {
    }
    for (int rep = 0; rep < 60; ++rep) {
      const std::uint64_t n = 500000;
      const double t0 = now();
      busy(n);
      best[std::size_t(t)] = std::min(best[std::size_t(t)], (now() - t0) / double(n));
    }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(body, t);
  body(0);
  for (auto& t : others) t.join();
  return *std::max_element(best.begin(), best.end());
}

// A view under load: so many independent tasks of this length are queued when the program wants to see a value.
inline constexpr int view_tasks = 500;
inline constexpr double view_task_seconds = 100e-6;

/// Task (step, p) needs (step - 1, p - 1 .. p + 1); cells are double buffered. `run(width, steps, iterations)` executes
/// one stencil and returns its seconds, including the making of its tasks. Prints the efficiency at each task length
/// and the task length at which it crosses 50 % (Task Bench's METG(50 %), a granularity, is twice this).
template <class Run>
void stencil_sweep(const std::string& runtime, int workers, long width, long reps, double max_us, Run&& run) {
  const double per_iteration = seconds_per_iteration(workers);
  const std::string kase = "stencil_w" + std::to_string(width);
  std::vector<double> us;
  for (double d = 0.0625; d <= max_us * 1.001; d *= 2) us.push_back(d);
  std::vector<double> efficiency(us.size(), 0.0);
  run(width, 200, 1000);  // warm up
  for (long r = 0; r < reps; ++r)
    for (std::size_t k = 0; k < us.size(); ++k) {
      const auto iterations = std::uint64_t(std::max(1.0, us[k] * 1e-6 / per_iteration));
      const double task = double(iterations) * per_iteration;
      const double budget = 0.04 * workers;  // seconds of busy work per sample
      const long steps = std::clamp(long(budget / (task * double(width))), 40L, 3000L);
      const double wall = run(width, steps, iterations);
      efficiency[k] = std::max(efficiency[k], task * double(width * steps) / (wall * workers));
    }
  for (std::size_t k = 0; k < us.size(); ++k) {
    char metric[64];
    std::snprintf(metric, sizeof metric, "efficiency_at_%gus", us[k]);
    row("metg", runtime, kase, workers, metric, efficiency[k]);
  }
  double cross = us[0];
  if (efficiency.back() < 0.5)
    cross = std::numeric_limits<double>::infinity();
  else
    for (std::size_t k = us.size() - 1; k > 0; --k)
      if (efficiency[k - 1] < 0.5) {
        const double f = (0.5 - efficiency[k - 1]) / (efficiency[k] - efficiency[k - 1]);
        cross = us[k - 1] * std::pow(us[k] / us[k - 1], f);
        break;
      }
  row("metg", runtime, kase, workers, "task_us_at_50pct", cross);
}

}  // namespace bench
