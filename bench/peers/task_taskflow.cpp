// Task overhead and stencil efficiency of Taskflow: static graph (build + run, re-run) and dynamic dependent_async.
#include "bench/common/random_graph.hpp"
#include "bench/common/stencil.hpp"

#include <taskflow/taskflow.hpp>

#include <memory>

using namespace bench;

int main(int argc, char** argv) {
  const arguments args(argc, argv, {"case", "workers", "n", "check", "width", "reps", "api"});
  const std::string kase = args.text("case", "independent");
  const bool async = args.text("api", "graph") == "async";
  const int workers = int(args.number("workers", 2));
  const long n = args.number("n", 1000000);
  const bool check = args.number("check", 0) != 0;
  const std::string runtime = std::string("Taskflow ") + (async ? "async" : "graph");

  tf::Executor executor{size_t(workers)};
  std::atomic<double> sink{0};

  if (kase == "stencil") {
    auto stencil = [&](long width, long steps, uint64_t iters) {
      auto work = [&sink, iters] {
        if (busy(iters) == 123.0) sink.store(1);
      };
      const size_t w = size_t(width);
      const double t0 = now();
      if (async) {
        std::vector<tf::AsyncTask> prev(w), next(w);
        for (long t = 0; t < steps; ++t) {
          for (size_t p = 0; p < w; ++p) {
            const size_t l = p > 0 ? p - 1 : p, r = p + 1 < w ? p + 2 : p + 1;
            next[p] = t == 0 ? executor.silent_dependent_async(work)
                             : executor.silent_dependent_async(work, prev.begin() + long(l), prev.begin() + long(r));
          }
          std::swap(prev, next);
        }
        executor.wait_for_all();
      } else {
        tf::Taskflow flow;
        std::vector<tf::Task> prev(w), next(w);
        for (long t = 0; t < steps; ++t) {
          for (size_t p = 0; p < w; ++p) {
            next[p] = flow.emplace(work);
            if (t > 0)
              for (size_t q = p > 0 ? p - 1 : p; q <= p + 1 && q < w; ++q) prev[q].precede(next[p]);
          }
          std::swap(prev, next);
        }
        executor.run(flow).wait();
      }
      return now() - t0;
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
  auto free_body = [&ran, check] {
    if (check) ran.fetch_add(1, std::memory_order_relaxed);
  };
  auto chain_body = [&chained, check] {
    if (check) ++chained;
  };
  auto dag_task = [&acc, check](long i) {
    return [&acc, check, i] {
      if (check) graph_body(acc[size_t(i)], uint64_t(i));
    };
  };

  for (int rep = 0; rep < 2; ++rep) {  // the first one warms up threads and memory
    reset();
    const double c0 = cpu_seconds(), t0 = now();
    if (async) {
      double t1 = 0;
      {
        if (kase == "independent") {
          for (long i = 0; i < n; ++i) executor.silent_async(free_body);
        } else if (kase == "chain") {
          tf::AsyncTask last = executor.silent_dependent_async(chain_body);
          for (long i = 1; i < n; ++i) last = executor.silent_dependent_async(chain_body, last);
        } else if (kase == "dag") {
          // the edges are found with the handles' last writer and readers, kept alive as AsyncTask
          struct state_type {
            tf::AsyncTask writer;
            std::vector<tf::AsyncTask> readers;
          };
          std::vector<state_type> state(graph_handles);
          std::vector<tf::AsyncTask> preds;
          for (long i = 0; i < n; ++i) {
            const graph_access a = acc[size_t(i)];
            preds.clear();
            for (uint32_t r : {a.r0, a.r1})
              if (!state[r].writer.empty()) preds.push_back(state[r].writer);
            state_type& w = state[a.w];
            if (!w.readers.empty())
              preds.insert(preds.end(), w.readers.begin(), w.readers.end());
            else if (!w.writer.empty())
              preds.push_back(w.writer);
            tf::AsyncTask self = executor.silent_dependent_async(dag_task(i), preds.begin(), preds.end());
            state[a.r0].readers.push_back(self);
            state[a.r1].readers.push_back(self);
            w.readers.clear();
            w.writer = std::move(self);
          }
        }
        t1 = now();
      }
      executor.wait_for_all();
      submit = t1 - t0, total = now() - t0, cpu = cpu_seconds() - c0;
      verify();
    } else {
      auto flow = std::make_unique<tf::Taskflow>();
      if (kase == "independent") {
        for (long i = 0; i < n; ++i) flow->emplace(free_body);
      } else if (kase == "chain") {
        tf::Task last = flow->emplace(chain_body);
        for (long i = 1; i < n; ++i) {
          tf::Task next = flow->emplace(chain_body);
          last.precede(next);
          last = next;
        }
      } else if (kase == "dag") {
        edge_finder<tf::Task> edges(graph_handles);
        for (long i = 0; i < n; ++i) {
          tf::Task self = flow->emplace(dag_task(i));
          edges.access(acc[size_t(i)], self, [&](tf::Task p) { p.precede(self); });
        }
      }
      const double t1 = now();
      executor.run(*flow).wait();
      submit = t1 - t0, total = now() - t0, cpu = cpu_seconds() - c0;
      verify();
      reset();
      const double t2 = now();
      executor.run(*flow).wait();
      rerun = now() - t2;
      verify();
    }
  }
  overhead_rows(runtime, kase, workers, n, submit, total, cpu);
  if (rerun >= 0) row("tasks", runtime, kase, workers, "rerun_ns_per_task", rerun / double(n) * 1e9);
}
