// Task overhead and stencil efficiency of oneTBB: task_group for independent tasks, flow graph for dependencies.
#include "bench/common/random_graph.hpp"
#include "bench/common/stencil.hpp"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <deque>
#include <memory>

using namespace bench;
namespace flow = oneapi::tbb::flow;
using node_type = flow::continue_node<flow::continue_msg>;

int main(int argc, char** argv) {
  const arguments args(argc, argv, {"case", "workers", "n", "check", "width", "reps"});
  const std::string kase = args.text("case", "independent");
  const int workers = int(args.number("workers", 2));
  const long n = args.number("n", 1000000);
  const bool check = args.number("check", 0) != 0;
  const std::string runtime = kase == "independent" ? "oneTBB task_group" : "oneTBB flow graph";

  oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, size_t(workers));
  oneapi::tbb::task_arena arena(workers);
  std::atomic<double> sink{0};

  if (kase == "stencil") {
    auto stencil = [&](long width, long steps, uint64_t iters) {
      double seconds = 0;
      arena.execute([&] {
        const double t0 = now();
        flow::graph g;
        std::deque<node_type> nodes;
        for (long t = 0; t < steps; ++t)
          for (long p = 0; p < width; ++p) {
            nodes.emplace_back(g, [&sink, iters](const flow::continue_msg&) {
              if (busy(iters) == 123.0) sink.store(1);
              return flow::continue_msg{};
            });
            if (t > 0)
              for (long q = std::max(0L, p - 1); q <= std::min(width - 1, p + 1); ++q)
                flow::make_edge(nodes[size_t((t - 1) * width + q)], nodes.back());
          }
        for (long p = 0; p < width; ++p) nodes[size_t(p)].try_put(flow::continue_msg{});
        g.wait_for_all();
        seconds = now() - t0;
      });
      return seconds;
    };
    stencil_sweep(runtime, workers, args.number("width", 8), args.number("reps", 3), 256, stencil);
    return 0;
  }

  const std::vector<graph_access> acc = kase == "dag" ? graph_accesses(n) : std::vector<graph_access>{};
  std::atomic<long> ran{0};
  long chained = 0;
  double submit = 0, total = 0, cpu = 0, rerun = -1;
  auto verify = [&] {
    if (!check) return;
    if (kase == "independent" && ran != n) fail("independent: tasks lost");
    if (kase == "chain" && chained != n) fail("chain: wrong order");
    if (kase == "dag") graph_verify(acc);
  };
  auto reset = [&] {
    std::fill(graph_values.begin(), graph_values.end(), 1);
    ran = 0, chained = 0;
  };
  for (int rep = 0; rep < 2; ++rep)  // the first one warms up threads and memory
    arena.execute([&] {
      reset();
      const double c0 = cpu_seconds(), t0 = now();
      if (kase == "independent") {
        oneapi::tbb::task_group group;
        for (long i = 0; i < n; ++i)
          group.run([&] {
            if (check) ran.fetch_add(1, std::memory_order_relaxed);
          });
        const double t1 = now();
        group.wait();
        submit = t1 - t0, total = now() - t0, cpu = cpu_seconds() - c0;
        verify();
        return;
      }
      flow::graph g;
      std::deque<node_type> nodes;
      std::vector<node_type*> roots;
      if (kase == "chain") {
        for (long i = 0; i < n; ++i) {
          nodes.emplace_back(g, [&](const flow::continue_msg&) {
            if (check) ++chained;
            return flow::continue_msg{};
          });
          if (i > 0) flow::make_edge(nodes[size_t(i - 1)], nodes.back());
        }
        roots.push_back(&nodes.front());
      } else {
        edge_finder<node_type*> edges(graph_handles);
        for (long i = 0; i < n; ++i) {
          nodes.emplace_back(g, [&acc, check, i](const flow::continue_msg&) {
            if (check) graph_body(acc[size_t(i)], uint64_t(i));
            return flow::continue_msg{};
          });
          bool root = true;
          edges.access(acc[size_t(i)], &nodes.back(), [&](node_type* p) {
            root = false;
            flow::make_edge(*p, nodes.back());
          });
          if (root) roots.push_back(&nodes.back());
        }
      }
      const double t1 = now();
      for (node_type* r : roots) r->try_put(flow::continue_msg{});
      g.wait_for_all();
      submit = t1 - t0, total = now() - t0, cpu = cpu_seconds() - c0;
      verify();
      reset();
      const double t2 = now();
      for (node_type* r : roots) r->try_put(flow::continue_msg{});
      g.wait_for_all();
      rerun = now() - t2;
      verify();
    });
  overhead_rows(runtime, kase, workers, n, submit, total, cpu);
  if (rerun >= 0) row("tasks", runtime, kase, workers, "rerun_ns_per_task", rerun / double(n) * 1e9);
}
