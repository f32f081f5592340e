// LOBPCG of apps/sparse on a device (of the plugin sim) whose memory is a part of the problem: bytes that an iteration
// moves, against a lower bound and against the same policy where tasks run one by one (link_model.hpp).
//
//   bench_sparse_out_of_core --matrix lap3d:40 --block 8 --percent 25 --eviction next_use
#include "apps/sparse/matrix/generate.hpp"
#include "apps/sparse/solver/lobpcg.hpp"
#include "bench/common/measure.hpp"
#include "bench/sparse/link_model.hpp"
#include "tessera/tessera.hpp"

using namespace bench;
using namespace tessera;
using namespace tessera::sparse;

namespace {

double moved(const runtime& rt) {
  double sum = 0;
  for (const auto& l : rt.statistics().links)
    if (l.to.starts_with("sim") != l.from.starts_with("sim")) sum += static_cast<double>(l.bytes);
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const arguments args(argc, argv, {"matrix", "block", "percent", "eviction", "panels", "iterations"});
  const std::string family = args.text("matrix", "lap3d:32"), eviction = args.text("eviction", "next_use");
  const long block = args.number("block", 8), percent = args.number("percent", 50);
  const auto iterations = static_cast<int>(args.number("iterations", 8));
  const csr_matrix a = generate(family);
  const std::int64_t panel_rows = std::max<std::int64_t>(1, a.rows / args.number("panels", 128));
  const row_panels panels = balanced_panels(a, panel_rows, 8);
  const lobpcg_trace trace(a, panels, block, 4, true);
  const double memory = std::floor(trace.problem() * static_cast<double>(percent) / 100);
  runtime rt({.text = "[runtime]\nhistory = \"off\"\nplugins = [\"host\", \"sim\"]\n[memory]\neviction = \"" +
                      eviction + "\"\nhigh_watermark = 100\nlow_watermark = 100\n[[plugin.sim.device]]\nmemory = \"" +
                      std::to_string(static_cast<std::int64_t>(memory)) +
                      " B\"\nbandwidth_in = \"8 GiB/s\"\nbandwidth_out = \"8 GiB/s\"\n",
              .workers = 1});
  eigen_options o{.pairs = block,
                  .block = block,
                  .tolerance = 0,
                  .most_iterations = iterations,
                  .precondition = preconditioning::none};
  o.program.panel_rows = panel_rows;
  o.program.at = "sim0";
  double first = 0, last = 0, began = 0, ended = 0;
  o.report = [&](const eigen_progress& now) {
    if (now.iteration == 2) first = moved(rt), began = bench::now();
    if (now.iteration == iterations) last = moved(rt), ended = bench::now();
  };
  const eigenpairs found = lobpcg(rt, a, o);
  if (found.dense || found.orthogonality > 1e-8) fail("sparse out of core: the vectors are wrong");
  const double counted = iterations - 2, bytes = (last - first) / counted;
  const auto say = [&](const char* metric, double value) {
    row("sparse_out_of_core", "Tessera",
        family + "_b" + std::to_string(block) + "_" + std::to_string(percent) + "_" + eviction, 1, metric, value);
  };
  const double bound = trace.bound(memory), modelled = replacement(trace, memory, eviction).moved();
  say("mib_problem", trace.problem() / (1 << 20));
  say("mib_moved", bytes / (1 << 20));
  say("mib_bound", bound / (1 << 20));
  say("mib_model", modelled / (1 << 20));
  if (bound > 0) say("moved_over_bound", bytes / bound);
  if (modelled > 0) say("moved_over_model", bytes / modelled);
  say("seconds", (ended - began) / counted);
}
