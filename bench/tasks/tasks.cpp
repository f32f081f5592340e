// Overhead per task and the smallest efficient task, in the cases and the output format that the peers' programs use:
// rows "suite runtime case workers metric value", tab separated.
//
//   bench_tasks --case independent|chain|dag|submit|stencil --workers N --n TASKS [--check 1] [--width 8]
#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tessera/tessera.hpp"

namespace {

using namespace tessera;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
double cpu_seconds() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return double(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * double(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}
void row(const char* suite, const std::string& kase, int workers, const std::string& metric, double value) {
  std::printf("%s\tTessera\t%s\t%d\t%s\t%.6g\n", suite, kase.c_str(), workers, metric.c_str(), value);
  std::fflush(stdout);
}
std::string argument(int argc, char** argv, const char* key, const char* fallback) {
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strncmp(argv[i], "--", 2) == 0 && std::strcmp(argv[i] + 2, key) == 0) return argv[i + 1];
  return fallback;
}

// The random graph: every task reads two of 1000 blocks and updates a third, all distinct.
constexpr std::uint32_t blocks = 1000;
struct triple {
  std::uint32_t r0, r1, w;
};
std::uint64_t mix(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}
triple triple_of(std::uint64_t task) {
  const std::uint64_t h = mix(task);
  triple t{};
  t.r0 = std::uint32_t((h & 0xffff) % blocks);
  t.r1 = std::uint32_t(((h >> 16) & 0xffff) % blocks);
  if (t.r1 == t.r0) t.r1 = (t.r1 + 1) % blocks;
  t.w = std::uint32_t(((h >> 32) & 0xffff) % blocks);
  while (t.w == t.r0 || t.w == t.r1) t.w = (t.w + 1) % blocks;
  return t;
}

double busy(std::uint64_t iterations) {  // dependent multiply-adds: compute bound, no memory
  double a = 1.0;
  const double x = 0.999999, y = 1e-6;
  for (std::uint64_t i = 0; i < iterations; ++i) {
    a = a * x + y;
    asm volatile("" : "+x"(a));
  }
  return a;
}
double seconds_per_iteration(int threads) {
  std::vector<double> best(std::size_t(threads), 1e9);
  const auto body = [&](int t) {
    for (int rep = 0; rep < 60; ++rep) {
      const double t0 = now();
      busy(500000);
      best[std::size_t(t)] = std::min(best[std::size_t(t)], (now() - t0) / 500000);
    }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(body, t);
  body(0);
  for (auto& t : others) t.join();
  return *std::max_element(best.begin(), best.end());
}

machine host_machine(int workers) {
  config::sources from;
  from.workers = static_cast<std::uint32_t>(workers);
  return hierarchy::assemble(config::document::load(from));
}

template <class Case>
void overhead(runtime& rt, const std::string& name, int workers, long n, Case&& submit_all) {
  double submit_s = 0, total_s = 0, cpu_s = 0;
  for (int rep = 0; rep < 3; ++rep) {  // the first warms up threads and memory
    const double c0 = cpu_seconds(), t0 = now();
    submit_all();
    const double t1 = now();
    rt.fence();
    const double total = now() - t0;
    if (rep == 1 || (rep > 1 && total < total_s)) submit_s = t1 - t0, total_s = total, cpu_s = cpu_seconds() - c0;
  }
  row("tasks", name, workers, "ns_per_task", total_s / double(n) * 1e9);
  row("tasks", name, workers, "submit_ns_per_task", submit_s / double(n) * 1e9);
  row("tasks", name, workers, "cpu_ns_per_task", cpu_s / double(n) * 1e9);
}

void stencil(runtime& rt, int workers, long width, long reps) {
  auto cells = rt.make_array<double>("cells", {2 * width}, {1});
  for (std::size_t k = 0; k < cells.size(); ++k) fill(rt, cells.block(k), 0.0);
  rt.fence();
  static volatile double sink = 0;
  const auto run = [&](long steps, std::uint64_t iterations) {
    const auto body3 = [iterations](view<const double>, view<const double>, view<const double>, view<double>) {
      if (busy(iterations) == 123.0) sink = 1;
    };
    const auto body2 = [iterations](view<const double>, view<const double>, view<double>) {
      if (busy(iterations) == 123.0) sink = 1;
    };
    const double t0 = now();
    for (long t = 0; t < steps; ++t)
      for (long p = 0; p < width; ++p) {
        const auto in = [&](long q) { return read(cells(((t + 1) % 2) * width + q)); };
        const auto out = write(cells((t % 2) * width + p));
        const bool l = p > 0, r = p + 1 < width;
        if (l && r) rt.submit("stencil3", body3, in(p - 1), in(p), in(p + 1), out);
        else if (l) rt.submit("stencil2l", body2, in(p - 1), in(p), out);
        else if (r) rt.submit("stencil2r", body2, in(p), in(p + 1), out);
      }
    rt.fence();
    return now() - t0;
  };
  const double per_iteration = seconds_per_iteration(workers);
  const std::string kase = "stencil_w" + std::to_string(width);
  std::vector<double> us, efficiency;
  for (double d = 0.0625; d <= 256 * 1.001; d *= 2) us.push_back(d);
  efficiency.assign(us.size(), 0.0);
  run(200, 1000);
  for (long rep = 0; rep < reps; ++rep)
    for (std::size_t k = 0; k < us.size(); ++k) {
      const auto iterations = std::uint64_t(std::max(1.0, us[k] * 1e-6 / per_iteration));
      const double task = double(iterations) * per_iteration;
      const long steps = std::clamp(long(0.04 * workers / (task * double(width))), 40L, 3000L);
      const double wall = run(steps, iterations);
      efficiency[k] = std::max(efficiency[k], task * double(width * steps) / (wall * workers));
    }
  double cross = efficiency.back() < 0.5 ? INFINITY : us[0];
  if (efficiency.back() >= 0.5)
    for (std::size_t k = us.size() - 1; k > 0; --k)
      if (efficiency[k - 1] < 0.5) {
        const double f = (0.5 - efficiency[k - 1]) / (efficiency[k] - efficiency[k - 1]);
        cross = us[k - 1] * std::pow(us[k] / us[k - 1], f);
        break;
      }
  row("metg", kase, workers, "task_us_at_50pct", cross);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string kase = argument(argc, argv, "case", "dag");
    const int workers = std::atoi(argument(argc, argv, "workers", "2").c_str());
    const long n = std::atol(argument(argc, argv, "n", "1000000").c_str());
    const bool check = argument(argc, argv, "check", "0") != "0";
    runtime rt(host_machine(workers));
    auto a = rt.make_array<std::int64_t>("a", {blocks}, {1});
    for (std::size_t k = 0; k < a.size(); ++k) fill(rt, a.block(k), std::int64_t{1});
    rt.fence();
    if (kase == "independent") {
      overhead(rt, kase, workers, n, [&] {
        for (long i = 0; i < n; ++i) rt.submit("free", [] {});
      });
    } else if (kase == "chain") {
      overhead(rt, kase, workers, n, [&] {
        for (long i = 0; i < n; ++i)
          rt.submit("link", [check](view<std::int64_t> x) { if (check) ++x[0]; }, update(a.block(0)));
      });
      if (check && a.read_host(a.block(0))[0] != 1 + 3 * n) return std::fprintf(stderr, "chain: wrong result\n"), 1;
    } else if (kase == "dag") {
      std::vector<triple> graph;
      for (long i = 0; i < n; ++i) graph.push_back(triple_of(std::uint64_t(i)));
      overhead(rt, kase, workers, n, [&] {
        for (long i = 0; i < n; ++i) {
          const triple& t = graph[std::size_t(i)];
          rt.submit("dag", [check, i](view<const std::int64_t> x, view<const std::int64_t> y, view<std::int64_t> z) {
            if (check) z[0] = std::int64_t(mix(std::uint64_t(x[0]) + 3 * std::uint64_t(y[0]) + std::uint64_t(i)));
          }, read(a.block(t.r0)), read(a.block(t.r1)), update(a.block(t.w)));
        }
      });
      if (check) {
        std::vector<std::uint64_t> expected(blocks, 1);
        for (int rep = 0; rep < 3; ++rep)
          for (long i = 0; i < n; ++i) {
            const triple& t = graph[std::size_t(i)];
            expected[t.w] = mix(expected[t.r0] + 3 * expected[t.r1] + std::uint64_t(i));
          }
        for (std::size_t k = 0; k < blocks; ++k)
          if (std::uint64_t(a.read_host(a.block(k))[0]) != expected[k]) return std::fprintf(stderr, "dag: wrong result\n"), 1;
      }
    } else if (kase == "stencil") {
      stencil(rt, workers, std::atol(argument(argc, argv, "width", "8").c_str()), std::atol(argument(argc, argv, "reps", "3").c_str()));
    } else {
      std::fprintf(stderr, "unknown case '%s'; one of independent, chain, dag, stencil\n", kase.c_str());
      return 2;
    }
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
