// Task overhead and stencil efficiency of OpenMP tasks (libgomp with g++, libomp with clang++).
#include "bench/common/heat.hpp"
#include "bench/common/random_graph.hpp"
#include "bench/common/stencil.hpp"

#include <omp.h>

using namespace bench;

#ifdef __clang__
static const char* runtime_name = "OpenMP libomp";
#else
static const char* runtime_name = "OpenMP libgomp";
#endif

int main(int argc, char** argv) {
  const arguments args(argc, argv, {"case", "workers", "n", "check", "width", "reps", "steps", "iterations"});
  const std::string kase = args.text("case", "independent");
  const int workers = int(args.number("workers", 2));
  const long n = args.number("n", 1000000);
  const bool check = args.number("check", 0) != 0;

  std::vector<double> cells(2 * 4096);
  std::atomic<double> sink{0};
  auto stencil = [&](long width, long steps, uint64_t iters) {
    double seconds = 0;
    char* c[2] = {reinterpret_cast<char*>(cells.data()), reinterpret_cast<char*>(cells.data() + 4096)};
#pragma omp parallel num_threads(workers)
#pragma omp single
    {
      const double t0 = now();
      for (long t = 0; t < steps; ++t)
        for (long p = 0; p < width; ++p) {
          char* const in = c[(t + 1) % 2];
          char* const out = c[t % 2];
          const long l = p > 0 ? p - 1 : p, r = p + 1 < width ? p + 1 : p;
          (void)in, (void)out, (void)l, (void)r;
#pragma omp task firstprivate(iters) depend(in : in[8 * l], in[8 * p], in[8 * r]) depend(out : out[8 * p])
          {
            if (busy(iters) == 123.0) sink.store(1);
          }
        }
#pragma omp taskwait
      seconds = now() - t0;
    }
    return seconds;
  };
  if (kase == "stencil") {
    stencil_sweep(runtime_name, workers, args.number("width", 8), args.number("reps", 3), 256, stencil);
    return 0;
  }

  if (kase == "cold") {
    stencil(args.number("width", 8), args.number("steps", 100), uint64_t(args.number("iterations", 1000)));
    return 0;
  }

  if (kase == "heat") {
    const long steps = std::max(n / long(heat_blocks) / 2 * 2, 2L);
    constexpr std::size_t all_cells = heat_blocks * heat_cells, all_edges = 4 * heat_blocks * heat_side;
    std::vector<double> values[2] = {std::vector<double>(all_cells), std::vector<double>(all_cells)};
    std::vector<double> borders[2] = {std::vector<double>(all_edges), std::vector<double>(all_edges)};
    double submitted = 0, all = 0, used = 0;
    for (int rep = 0; rep < 2; ++rep) {
      for (std::size_t b = 0; b < heat_blocks; ++b) {
        for (std::size_t k = 0; k < heat_cells; ++k) values[0][b * heat_cells + k] = heat_start(b, k);
        for (const heat_edge edge : {north, south, west, east})
          for (std::size_t k = 0; k < heat_side; ++k)
            borders[0][(4 * b + edge) * heat_side + k] = heat_start(b, heat_edge_cell(edge, k));
      }
#pragma omp parallel num_threads(workers)
#pragma omp single
      {
        const double c0 = cpu_seconds(), t0 = now();
        for (long t = 0; t < steps; ++t)
          for (std::size_t b = 0; b < heat_blocks; ++b) {
            const auto touching = [&](heat_edge across, heat_edge edge) {
              return &borders[t % 2][(4 * heat_neighbour(b, across) + edge) * heat_side];
            };
            double *const c = &values[t % 2][b * heat_cells], *const o = &values[(t + 1) % 2][b * heat_cells];
            double *const en = touching(north, south), *const es = touching(south, north);
            double *const ew = touching(west, east), *const ee = touching(east, west);
            double* const own = &borders[(t + 1) % 2][4 * b * heat_side];
            double *const on = own, *const os = own + heat_side, *const ow = own + 2 * heat_side,
                          *const oe = own + 3 * heat_side;
#pragma omp task firstprivate(c, en, es, ew, ee, o, on, os, ow, oe) depend(in                        \
                                                                           : *c, *en, *es, *ew, *ee) \
    depend(out                                                                                       \
           : *o, *on, *os, *ow, *oe)
            {
              double* const edges[4] = {on, os, ow, oe};
              heat_step(c, en, es, ew, ee, o, edges);
            }
          }
        submitted = now() - t0;
#pragma omp taskwait
        all = now() - t0, used = cpu_seconds() - c0;
      }
    }
    overhead_rows(runtime_name, "heat_16", workers, steps * long(heat_blocks), submitted, all, used);
    if (check) {
      const std::vector<double> expected = heat_reference(std::size_t(steps));
      for (std::size_t k = 0; k < all_cells; ++k)
        if (std::abs(values[0][k] - expected[k]) > 1e-9) fail("heat: wrong result");
    }
    return 0;
  }

  const std::vector<graph_access> acc = kase == "dag" ? graph_accesses(n) : std::vector<graph_access>{};
  std::vector<char> handles(graph_handles);
  [[maybe_unused]] char* const h = handles.data();  // named in depend clauses alone
  std::atomic<long> ran{0};
  long chained = 0;
  double submit = 0, total = 0, cpu = 0;
  for (int rep = 0; rep < 2; ++rep) {  // the first one warms up threads and memory
    std::fill(graph_values.begin(), graph_values.end(), 1);
    ran = 0, chained = 0;
#pragma omp parallel num_threads(workers)
#pragma omp single
    {
      const double c0 = cpu_seconds(), t0 = now();
      if (kase == "independent") {
        for (long i = 0; i < n; ++i) {
#pragma omp task
          {
            if (check) ran.fetch_add(1, std::memory_order_relaxed);
          }
        }
      } else if (kase == "chain") {
        for (long i = 0; i < n; ++i) {
#pragma omp task depend(inout : h[0])
          {
            if (check) ++chained;
          }
        }
      } else if (kase == "dag") {
        for (long i = 0; i < n; ++i) {
          const graph_access a = acc[size_t(i)];
#pragma omp task firstprivate(a, i) depend(in : h[a.r0], h[a.r1]) depend(out : h[a.w])
          {
            if (check) graph_body(a, uint64_t(i));
          }
        }
      }
      const double t1 = now();
#pragma omp taskwait
      const double t2 = now();
      submit = t1 - t0, total = t2 - t0, cpu = cpu_seconds() - c0;
    }
  }
  if (check && kase == "independent" && ran != n) fail("independent: tasks lost");
  if (check && kase == "chain" && chained != n) fail("chain: wrong order");
  if (check && kase == "dag") graph_verify(acc);
  overhead_rows(runtime_name, kase, workers, n, submit, total, cpu);
}
