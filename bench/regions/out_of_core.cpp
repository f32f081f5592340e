// Regions over arrays that are larger than the memory of the only device that runs them: bytes that the plugin sim
// moves against the fewest that must move. The program waits after each sweep, so each sweep needs all elements once
// more, and at most a memory full of them can have stayed. With --ahead 1 it does not wait: the runtime knows what is
// used next, and may take a part through all sweeps at once; then elements must come in once and the result go home.
//
//   bench_regions_out_of_core --case sweep|stencil --percent 200 --eviction next_use [--ahead 1]
#include <algorithm>
#include <cmath>

#include "bench/common/measure.hpp"
#include "tessera/region.hpp"
#include "tessera/tessera.hpp"

using namespace bench;
using namespace tessera;

namespace {

struct problem {
  std::int64_t n = 0;
  int sweeps = 0;
  bool ahead = false;
  double memory = 0;  ///< bytes of the device

  double returns() const { return ahead ? 0 : sweeps - 1; }

  double array() const { return 8 * double(n); }
  /// y = y / 2 + x: both come in once and y goes home. Between two sweeps what does not fit is missing: first of x,
  /// which costs a copy in; of y it costs one out and one in.
  double sweep_bound() const {
    const double missing_y = std::max(0.0, array() - memory),
                 missing_x = std::min(array(), 2 * array() - memory - missing_y);
    return 3 * array() + returns() * (2 * missing_y + std::max(0.0, missing_x));
  }
  /// From one array to the other: the one that was written is read next, and the other one is written over.
  double stencil_bound() const { return 2 * array() + returns() * 2 * std::max(0.0, array() - memory); }
};

double moved(const runtime& rt) {
  double sum = 0;
  for (const auto& l : rt.statistics().links)
    if (l.to.starts_with("sim") != l.from.starts_with("sim")) sum += double(l.bytes);
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const arguments args(argc, argv, {"case", "n", "sweeps", "percent", "eviction", "ahead"});
  const std::string kase = args.text("case", "sweep"), eviction = args.text("eviction", "next_use");
  const bool sweep = kase == "sweep", ahead = args.number("ahead", 0) != 0;
  if (!sweep && kase != "stencil") fail("--case is sweep or stencil");
  const long percent = args.number("percent", 200);
  problem p{.n = args.number("n", 1 << 21), .sweeps = int(args.number("sweeps", 6)), .ahead = ahead};
  p.memory = std::floor(2 * p.array() * 100 / double(percent));
  runtime rt({.text = "[runtime]\nhistory = \"off\"\nplugins = [\"host\", \"sim\"]\n[memory]\neviction = \"" +
                      eviction + "\"\nhigh_watermark = 100\nlow_watermark = 100\n[[plugin.sim.device]]\nmemory = \"" +
                      std::to_string(std::int64_t(p.memory)) +
                      " B\"\nflops = \"1 TFLOP/s\"\nbandwidth_in = \"8 GiB/s\"\nbandwidth_out = \"8 GiB/s\"\n",
              .workers = 1});
  location_model model(rt);
  auto a = model.make_array<double>("a", {p.n}), b = model.make_array<double>("b", {p.n});
  const auto fill = [](array<double>& array, double value) { std::ranges::fill(array.write().elements(), value); };
  fill(a, 1);
  fill(b, 0);
  const region_options there{.policy = tessera::policy::static_split, .at = "sim0"};
  const double before = moved(rt), began = now();
  for (int k = 0; k < p.sweeps; ++k) {
    if (sweep)
      model.region(
          "sweep", there, iterate(0, p.n), read(a), update(b),
          with_kernel([](auto i, auto x, auto y) { y[i] = y[i] / 2 + x[i]; }, "(i, x, y) { y[i] = y[i] / 2 + x[i]; }"));
    else
      model.region("stencil", there, iterate(0, p.n), read(k % 2 == 0 ? a : b, halo(1)), write(k % 2 == 0 ? b : a),
                   with_kernel([n = p.n](auto i, auto x,
                                         auto y) { y[i] = (x[i > 0 ? i - 1 : i] + x[i + 1 < n ? i + 1 : i]) / 2; },
                               "(i, x, y, n) { y[i] = (x[i > 0 ? i - 1 : i] + x[i + 1 < n ? i + 1 : i]) / 2; }", p.n));
    if (!ahead) model.fence();
  }
  model.fence();
  const double seconds = now() - began;
  const auto last = (sweep || p.sweeps % 2 == 1 ? b : a).read();
  const double expected = sweep ? 2 - std::pow(0.5, p.sweeps - 1) : 1;
  for (const double v : last)
    if (v != expected) fail("out of core: wrong result");
  const double bytes = moved(rt) - before, bound = sweep ? p.sweep_bound() : p.stencil_bound();
  const auto say = [&](const char* metric, double value) {
    row("regions_out_of_core", "Tessera", kase + (ahead ? "_ahead_" : "_") + std::to_string(percent) + "_" + eviction,
        1, metric, value);
  };
  say("mib_bound", bound / (1 << 20));
  say("mib_moved", bytes / (1 << 20));
  say("moved_over_bound", bytes / bound);
  say("seconds", seconds);
}
