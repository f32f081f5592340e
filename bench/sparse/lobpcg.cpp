#include "libraries/sparse/solver/lobpcg.hpp"

#include "bench/common/measure.hpp"
#include "bench/sparse/cases.hpp"
#include "tessera/tessera.hpp"

namespace bench {

using namespace tessera;
using namespace tessera::sparse;

void measure_lobpcg(const csr_matrix& a, const sparse_case& c) {
  runtime rt({.workers = static_cast<std::uint32_t>(c.workers)});
  std::vector<double> times;
  for (long rep = 0; rep < c.reps; ++rep) {
    eigen_options o{.pairs = c.block,
                    .block = c.block,
                    .tolerance = 0,
                    .max_iterations = static_cast<int>(c.iterations),
                    .precondition = preconditioning::none};
    o.program.panel_rows = c.panel;
    o.program.strip_rows = c.strip;
    double last = 0, best = 1e99;
    o.report = [&](const eigen_progress& now) {
      const double time = bench::now();
      if (now.iteration > 2) best = std::min(best, time - last);
      last = bench::now();
    };
    const eigenpairs found = lobpcg(rt, a, o);
    if (found.dense || found.orthogonality > 1e-8) fail("sparse: the vectors are wrong");
    times.push_back(best * 1e3);
  }
  row("sparse", "Tessera", c.name(), c.workers, "milliseconds", median(times));
}

void measure_solution(const csr_matrix& a, const sparse_case& c) {
  runtime rt({.workers = static_cast<std::uint32_t>(c.workers)});
  const eigen_options o{.pairs = c.block,
                        .block = c.block,
                        .tolerance = c.tolerance,
                        .compare = criterion::absolute,
                        .max_iterations = static_cast<int>(c.iterations),
                        .precondition = preconditioning::none};
  const double began = now();
  const eigenpairs found = lobpcg(rt, a, o);
  const double seconds = now() - began;
  double largest = 0;
  for (const eigenvalue& e : found.values) largest = std::max(largest, e.residual);
  row("sparse", "Tessera", c.name(), c.workers, "seconds", seconds);
  row("sparse", "Tessera", c.name(), c.workers, "iterations", found.loop.iterations);
  row("sparse", "Tessera", c.name(), c.workers, "largest_residual", largest);
}

}  // namespace bench
