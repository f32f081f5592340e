// What recording costs: the same work with and without it, in turn, in one process.
//
//   bench_trace --n 200000 --work-ns 1000 --workers 2 --order 2048 --tile 128 --rounds 7
//
// Two cases: the random graph of the other benchmarks with tasks of about `work-ns` (they spin), and a tiled Cholesky
// factorization. For both: the median time without, with, and the median over the rounds of with / without.
#include "tessera/trace.hpp"
#include "bench/common/random_graph.hpp"
#include "tessera/machine.hpp"
#include "tessera/tessera.hpp"

namespace bench {
namespace {

tessera::runtime started(int workers, bool record) {
  tessera::config::sources from;
  from.workers = static_cast<std::uint32_t>(workers);
  tessera::machine m = tessera::hierarchy::assemble(tessera::config::document::load(from));
  m.settings.trace = record;
  m.settings.trace_limit = std::uint64_t{4} << 30;
  return tessera::runtime(std::move(m));
}

/// Steps of the spinning loop that take a nanosecond.
double steps_per_ns() {
  double best = 0;
  for (int k = 0; k < 5; ++k) {
    volatile std::uint64_t sink = 0;
    std::uint64_t x = 1;
    const double t0 = now();
    for (int i = 0; i < 2000000; ++i) x = mix(x);
    sink = x;
    (void)sink;
    best = std::max(best, 2000000 / ((now() - t0) * 1e9));
  }
  return best;
}

/// Seconds of n tasks of the random graph, from the first submission to the end of the fence.
double graph_seconds(tessera::runtime& rt, const std::vector<graph_access>& graph, long steps) {
  auto a = rt.make_array<std::int64_t>("a", {graph_handles}, {1});
  for (std::size_t k = 0; k < a.size(); ++k) tessera::fill(rt, a.block(k), std::int64_t{1});
  rt.fence();
  const double t0 = now();
  for (const graph_access& t : graph)
    rt.submit(
        "dag",
        [steps](tessera::view<const std::int64_t> x, tessera::view<const std::int64_t> y,
                tessera::view<std::int64_t> z) {
          auto value = std::uint64_t(x[0] + y[0]);
          for (long i = 0; i < steps; ++i) value = mix(value);
          z[0] = std::int64_t(value);
        },
        tessera::read(a.block(t.r0)), tessera::read(a.block(t.r1)), tessera::update(a.block(t.w)));
  rt.fence();
  return now() - t0;
}

double cholesky_seconds(tessera::runtime& rt, std::int64_t n, std::int64_t tile) {
  auto a = rt.make_matrix<double>("A", {n, n}, {tile, tile});
  const std::int64_t tiles = a.counts()[0];
  auto info = rt.make_array<std::int32_t>("info", {tiles}, {1});
  for (std::int64_t j = 0; j < tiles; ++j)
    for (std::int64_t i = j; i < tiles; ++i)
      rt.submit(
          "matrix",
          [i, j, n](tessera::matrix_view<double> t) {
            for (double& v : t) v = 0.25;
            if (i == j)
              for (std::int64_t k = 0; k < t.extent(0); ++k) t(k, k) = double(n);
          },
          tessera::write(a(i, j)));
  rt.fence();
  const double t0 = now();
  for (std::int64_t k = 0; k < tiles; ++k) {
    tessera::potrf(rt, a(k, k), info(k), {.priority = 1});
    for (std::int64_t i = k + 1; i < tiles; ++i) tessera::trsm(rt, 1.0, a(k, k), a(i, k));
    for (std::int64_t j = k + 1; j < tiles; ++j) {
      tessera::syrk(rt, -1.0, a(j, k), 1.0, a(j, j));
      for (std::int64_t i = j + 1; i < tiles; ++i)
        tessera::gemm(rt, -1.0, a(i, k), tessera::transpose::no, a(j, k), tessera::transpose::yes, 1.0, a(i, j));
    }
  }
  rt.fence();
  const double seconds = now() - t0;
  for (std::int64_t k = 0; k < tiles; ++k)
    if (info(k).read()[0] != 0) fail("potrf: a pivot is not positive");
  rt.fence();
  return seconds;
}

/// Both ways once per round, the order changing, so that a drift of the machine touches both alike.
template <class Run>
void compare(const std::string& kase, int workers, long rounds, double tasks, Run&& run) {
  std::vector<double> without, with, ratio;
  for (long r = 0; r <= rounds; ++r) {
    double seconds[2] = {0, 0};
    for (int k = 0; k < 2; ++k) {
      const bool record = (k + r) % 2 == 1;
      tessera::runtime rt = started(workers, record);
      seconds[record] = run(rt);
    }
    if (r == 0) continue;  // warms up
    without.push_back(seconds[0] / tasks * 1e9), with.push_back(seconds[1] / tasks * 1e9),
        ratio.push_back(seconds[1] / seconds[0]);
  }
  row("trace", "Tessera", kase, workers, "ns_per_task_without", median(without));
  row("trace", "Tessera", kase, workers, "ns_per_task_recorded", median(with));
  row("trace", "Tessera", kase, workers, "overhead_percent", 100 * (median(ratio) - 1));
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  const bench::arguments args(argc, argv, {"n", "work-ns", "workers", "order", "tile", "rounds"});
  const long n = args.number("n", 200000), work_ns = args.number("work-ns", 1000), order = args.number("order", 2048),
             tile = args.number("tile", 128), rounds = args.number("rounds", 7);
  const int workers = int(args.number("workers", 2));
  if (n < 1 || workers < 1 || rounds < 1 || tile < 1 || (order > 0 && tile > order)) {
    std::fprintf(stderr,
                 "--n, --workers, --rounds and --tile start at 1; --tile is at most --order; --order 0: no Cholesky\n");
    return 2;
  }
  try {
    const std::vector<bench::graph_access> graph = bench::graph_accesses(n);
    const long steps = long(double(work_ns) * bench::steps_per_ns());
    bench::compare("dag_" + std::to_string(work_ns) + "ns", workers, rounds, double(n),
                   [&](tessera::runtime& rt) { return bench::graph_seconds(rt, graph, steps); });
    if (order == 0) return 0;
    const double t = double((order + tile - 1) / tile);
    bench::compare("potrf_n" + std::to_string(order) + "_tile" + std::to_string(tile), workers, rounds,
                   t + t * (t - 1) + t * (t - 1) * (t - 2) / 6,
                   [&](tessera::runtime& rt) { return bench::cholesky_seconds(rt, order, tile); });
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
