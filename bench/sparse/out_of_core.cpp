// LOBPCG of apps/sparse on a device (of the plugin sim) whose memory is a part of the problem: bytes that an iteration
// moves, against a lower bound and against the same policy where tasks run one by one (link_model.hpp), and its time
// against the longer one of link and computation. The device is slower than the host, so that the model's times are
// measured, and not how soon this machine's threads wake up.
//
//   bench_sparse_out_of_core --matrix lap3d:40 --block 8 --percent 25 --eviction next_use
#include "bench/common/measure.hpp"
#include "bench/sparse/link_model.hpp"
#include "libraries/sparse/matrix/generate.hpp"
#include "libraries/sparse/solver/lobpcg.hpp"
#include "tessera/tessera.hpp"

using namespace bench;
using namespace tessera;
using namespace tessera::sparse;

namespace {

constexpr long usual_rate = 2048;  // MiB/s: with a device of a fourth of the host's speed, as 8 GiB/s with the host's

/// Bytes to the device and back, and the time of an iteration.
struct measured {
  double in = 0, out = 0, seconds = 0;
};

/// What one LOBPCG is run with.
struct setting {
  double memory = 0, bandwidth = 0, kernel_speed = 1;
  std::string eviction;
};

measured moved(const runtime& rt) {
  measured sum;
  for (const auto& l : rt.statistics().links) {
    const bool to = l.to.starts_with("sim"), from = l.from.starts_with("sim");
    if (to && !from) sum.in += static_cast<double>(l.bytes);
    if (from && !to) sum.out += static_cast<double>(l.bytes);
  }
  return sum;
}

/// Of the iterations behind the second one, each.
measured iterate(const csr_matrix& a, eigen_options o, const setting& on) {
  const auto written = [](double x) { return std::to_string(static_cast<std::int64_t>(x)); };
  const std::string rate = written(on.bandwidth) + " B/s";
  runtime rt({.text = "[runtime]\nhistory = \"off\"\nplugins = [\"host\", \"sim\"]\n[memory]\neviction = \"" +
                      on.eviction +
                      "\"\nhigh_watermark = 100\nlow_watermark = 100\n[[plugin.sim.device]]\nmemory = \"" +
                      written(on.memory) + " B\"\nbandwidth_in = \"" + rate + "\"\nbandwidth_out = \"" + rate +
                      "\"\ncompute_streams = 1\nkernel_speed = " + std::to_string(on.kernel_speed) + "\n",
              .workers = 1});
  measured first, last;
  o.report = [&](const eigen_progress& now) {
    if (now.iteration == 2) first = moved(rt), first.seconds = bench::now();
    if (now.iteration == o.max_iterations) last = moved(rt), last.seconds = bench::now();
  };
  const eigenpairs found = lobpcg(rt, a, o);
  if (found.dense || found.orthogonality > 1e-8) fail("sparse out of core: the vectors are wrong");
  const double counted = o.max_iterations - 2;
  return {(last.in - first.in) / counted, (last.out - first.out) / counted, (last.seconds - first.seconds) / counted};
}

}  // namespace

int main(int argc, char** argv) {
  const arguments args(argc, argv,
                       {"matrix", "block", "percent", "eviction", "panels", "iterations", "mib_per_second", "slower"});
  const std::string family = args.text("matrix", "lap3d:32"), eviction = args.text("eviction", "next_use");
  const long block = args.number("block", 8), percent = args.number("percent", 50);
  const auto iterations = static_cast<int>(args.number("iterations", 8));
  const csr_matrix a = generate(family);
  const std::int64_t panel_rows = std::max<std::int64_t>(1, a.rows / args.number("panels", 128));
  const row_panels panels = balanced_panels(a, panel_rows, 8);
  using form = lobpcg_trace::form;
  const auto trace_of = [&](form how) { return lobpcg_trace(a, panels, block, 4, how); };
  const lobpcg_trace forward = trace_of(form::forward), turning = trace_of(form::turning),
                     single = trace_of(form::single_steps);
  const lobpcg_trace& trace = eviction == "next_use" ? forward : turning;  // as sparse programs do
  const double memory = std::floor(trace.problem() * static_cast<double>(percent) / 100);
  eigen_options o{.pairs = block,
                  .block = block,
                  .tolerance = 0,
                  .max_iterations = iterations,
                  .precondition = preconditioning::none};
  o.program.panel_rows = panel_rows;
  o.program.at = "sim0";
  const long rate = args.number("mib_per_second", usual_rate);
  const double bandwidth = static_cast<double>(rate) * (1 << 20);
  const double speed = 1 / static_cast<double>(args.number("slower", 4));
  const double whole = iterate(a, o, {2 * trace.problem(), bandwidth, speed, eviction}).seconds;
  const measured part = iterate(a, o, {memory, bandwidth, speed, eviction});
  const double bytes = part.in + part.out, link = std::max(part.in, part.out) / bandwidth;
  const std::string link_name = rate == usual_rate ? "" : "_" + std::to_string(rate) + "MiB/s";
  const auto say = [&](const char* metric, double value) {
    row("sparse_out_of_core", "Tessera",
        family + "_b" + std::to_string(block) + "_" + std::to_string(percent) + "_" + eviction + link_name, 1, metric,
        value);
  };
  const double bound = trace.bound(memory), modelled = replacement(trace, memory, eviction).moved();
  say("mib_problem", trace.problem() / (1 << 20));
  say("mib_moved", bytes / (1 << 20));
  say("mib_bound", bound / (1 << 20));
  say("mib_model_forward", replacement(forward, memory, eviction).moved() / (1 << 20));
  say("mib_model_turning", replacement(turning, memory, eviction).moved() / (1 << 20));
  const double single_steps = replacement(single, memory, eviction).moved();
  say("mib_single_steps", single_steps / (1 << 20));
  if (single_steps > 0) say("moved_over_single_steps", bytes / single_steps);
  if (bound > 0) say("moved_over_bound", bytes / bound);
  if (modelled > 0) say("moved_over_model", bytes / modelled);
  say("seconds", part.seconds);
  say("seconds_of_link", link);
  say("seconds_in_whole_memory", whole);
  say("seconds_over_larger", part.seconds / std::max(link, whole));
}
