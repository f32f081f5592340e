// LOBPCG of apps/sparse: time per iteration. The peer is sparse_openmp.cpp: the same steps, executed in three ways.
#include "apps/sparse/matrix/generate.hpp"
#include "apps/sparse/solver/lobpcg.hpp"
#include "bench/common/measure.hpp"
#include "tessera/tessera.hpp"

using namespace bench;
using namespace tessera;
using namespace tessera::sparse;

int main(int argc, char** argv) {
  const arguments args(argc, argv, {"matrix", "block", "workers", "iterations", "reps", "panel", "strip"});
  const std::string family = args.text("matrix", "lap3d:60");
  const auto workers = static_cast<int>(args.number("workers", 2));
  const long block = args.number("block", 8), iterations = args.number("iterations", 20);
  const csr_matrix a = generate(family);
  runtime rt({.workers = static_cast<std::uint32_t>(workers)});
  std::vector<double> times;
  for (long rep = 0; rep < args.number("reps", 3); ++rep) {
    eigen_options o{.pairs = block, .block = block, .tolerance = 0, .most_iterations = static_cast<int>(iterations)};
    o.program.panel_rows = args.number("panel", 0);
    o.program.strip_rows = args.number("strip", 0);
    double last = 0, best = 1e99;  // as the peer: the best of the iterations that have directions
    o.report = [&](const eigen_progress& now) {
      const double time = bench::now();
      if (now.iteration > 2) best = std::min(best, time - last);
      last = bench::now();
    };
    const eigenpairs found = lobpcg(rt, a, o);
    if (found.dense || found.orthogonality > 1e-8) fail("sparse: the vectors are wrong");
    times.push_back(best * 1e3);
  }
  row("sparse", "Tessera", family + "_b" + std::to_string(block), workers, "milliseconds", median(times));
}
