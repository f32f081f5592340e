// The sparse solvers: time per iteration, what their graphs cost, time to a solution.
#include "bench/common/measure.hpp"
#include "bench/sparse/cases.hpp"
#include "libraries/sparse/matrix/generate.hpp"

int main(int argc, char** argv) {
  const bench::arguments args(
      argc, argv, {"case", "matrix", "block", "workers", "iterations", "reps", "panel", "strip", "tol", "file"});
  const std::string what = args.text("case", "lobpcg");
  const bench::sparse_case c{.family = args.text("matrix", "lap3d:60"),
                             .file = args.text("file", ""),
                             .workers = static_cast<int>(args.number("workers", 2)),
                             .block = what == "lanczos" ? 1 : args.number("block", 8),
                             .iterations = args.number("iterations", what == "lanczos" ? 50 : 20),
                             .reps = args.number("reps", 3),
                             .panel = args.number("panel", 0),
                             .strip = args.number("strip", 0),
                             .tolerance = std::stod(args.text("tol", "1e-6"))};
  const auto a = tessera::sparse::generate(c.family);
  if (what == "lobpcg")
    bench::measure_lobpcg(a, c);
  else if (what == "lanczos")
    bench::measure_lanczos(a, c);
  else if (what == "graph")
    bench::measure_graph(a, c);
  else if (what == "solve")
    bench::measure_solution(a, c);
  else if (what == "write" && !c.file.empty())
    bench::write_raw(a, c.file);
  else
    bench::fail("cases are lobpcg, lanczos, graph, solve, and write with a --file");
}
