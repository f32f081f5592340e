// The policy `auto` on real times: a loop of arithmetic over cores of the host and devices at once, in the shares that
// `auto` finds, beside the best of a sweep of fixed percentages; then the same after the devices have slowed down by
// half, without a new start. With --plugin sim there are two devices, and leaves of about the speeds 1:3:9. Exit code
// 5: the plugin has no device that takes part.
#include <algorithm>
#include <cstdlib>
#include <map>

#include "bench/common/measure.hpp"
#include "tessera/region.hpp"
#include "tessera/tessera.hpp"

using namespace bench;
using namespace tessera;

namespace {

/// Of the plugin sim: kernels at a third, and at a ninth, of the speed of a core.
std::string devices_of(const std::string& plugin) {
  std::string text;
  if (plugin == "sim")
    for (const char* speed : {"0.333", "0.111"})
      text += std::string("[[plugin.sim.device]]\nmemory = \"256 MiB\"\nkernel_speed = ") + speed + "\n";
  return text;
}

struct measurement {
  std::string plugin;
  std::int64_t n;
  int workers, reps, step;
  /// Of the function's arithmetic for each element. That of `sim`, whose kernels the C compiler makes for one element
  /// after the other, is as slow as that.
  std::int64_t host_rounds = plugin == "sim" ? 500 : 100;
  std::int64_t device_rounds = 100;  ///< of each element's arithmetic in the text: twice as many are a slower device
  runtime rt;
  location_model model{rt};
  array<double> x = model.make_array<double>("x", {n}), y = model.make_array<double>("y", {n});

  measurement(std::string with, int threads, std::int64_t count, int times, int percent)
      : plugin(std::move(with)),
        n(count),
        workers(threads),
        reps(times),
        step(percent),
        rt({.text = "[runtime]\nhistory = \"off\"\nplugins = [\"host\", \"" + plugin + "\"]\n" + devices_of(plugin),
            .workers = static_cast<std::uint32_t>(workers)}) {
    model.region("start", iterate(0, n), write(x), [](auto i, auto to) { to[i] = double(i % 7); });
    model.fence();
  }

  /// Milliseconds of one launch. The name is what `auto` learns under.
  double launch(const char* name, const std::string& policy) {
    const double began = now();
    model.region(name, {.policy = tessera::region_policy::from_text(policy)}, iterate(0, n), read(x), write(y),
                 with_kernel(
                     [rounds = host_rounds](auto i, auto from, auto to) {
                       double v = from[i];
                       for (std::int64_t k = 0; k < rounds; ++k) v = v * 0.75 + 0.25;
                       to[i] = v;
                     },
                     "(i, from, to, rounds) { double v = from[i]; "
                     "for (long k = 0; k < rounds; ++k) v = v * 0.75 + 0.25; to[i] = v; }",
                     device_rounds));
    model.fence();
    return (now() - began) * 1e3;
  }
  region_row last(const std::string& name) const {
    for (const region_row& r : model.regions())
      if (r.name == name) return r;
    fail("there is no region " + name);
  }
  bool on_device(const std::string& leaf) const { return leaf.starts_with(plugin); }
  double host_percent(const std::string& name) const {
    double host = 0;
    for (const region_share& s : last(name).shares) host += on_device(s.leaf) ? 0 : double(s.iterations);
    return 100 * host / double(n);
  }

  /// With this percentage of the host: its cores share that evenly, the devices the rest, 3:1 where there are two.
  std::string fixed(const std::vector<region_share>& leaves, int host) const {
    std::vector<double> shares;
    double cores = 0;
    for (const region_share& s : leaves) cores += on_device(s.leaf) ? 0 : 1;
    const double devices = double(leaves.size()) - cores;
    double device = 0;
    for (const region_share& s : leaves) {
      if (!on_device(s.leaf)) {
        shares.push_back(host / cores);
        continue;
      }
      const double part = devices != 2 ? 1 / devices : device == 0 ? 0.75 : 0.25;
      shares.push_back((100 - host) * part);
      ++device;
    }
    std::string policy;
    for (const double share : shares) policy += (policy.empty() ? "percentage:" : ",") + std::to_string(share);
    return policy;
  }

  /// Prints what `auto` takes beside the best of the sweep.
  void compare(const std::vector<region_share>& leaves, const std::string& when) {
    for (int k = 0; k < 20; ++k) launch("auto", "auto");
    std::vector<double> found;
    std::map<int, std::vector<double>> sweep;  // by the percentage of the host
    for (int rep = 0; rep < reps; ++rep)
      for (int host = 0; host <= 100; host += step) {
        sweep[host].push_back(launch("fixed", fixed(leaves, host)));
        found.push_back(launch("auto", "auto"));
      }
    const auto best = std::ranges::min_element(
        sweep, {}, [](const auto& one) { return median(one.second); });  // of many: lucky, if anything
    const auto say = [&](const char* metric, double value) {
      row("auto", "Tessera", "host_and_" + plugin + when, workers, metric, value);
    };
    const double least = median(best->second), took = median(found);
    say("ms_fixed_best", least);
    say("ms_auto", took);
    say("host_percent_fixed_best", best->first);
    say("host_percent_auto", host_percent("auto"));
    say("auto_over_fixed_best", took / least);
  }

  void run() {
    launch("leaves", "flatten");
    const auto leaves = last("leaves").shares;
    const auto devices = std::ranges::count_if(leaves, [&](const auto& s) { return on_device(s.leaf); });
    if (devices == 0) std::exit(5);
    compare(leaves, "");
    device_rounds *= 2;
    compare(leaves, "_after_slowdown");
    const auto seen = y.read();
    for (std::int64_t i = 0; i < n; ++i)
      if (std::abs(seen[i] - 1) > 1e-9) fail("auto: wrong result");
  }
};

}  // namespace

int main(int argc, char** argv) {
  const arguments args(argc, argv, {"workers", "n", "reps", "step", "plugin"});
  // A device that is the processor itself leaves the runtime's cores alone.
  ::setenv("POCL_MAX_PTHREAD_COUNT", "1", 0);
  try {
    measurement(args.text("plugin", "opencl"), int(args.number("workers", 1)), args.number("n", 1 << 20),
                int(args.number("reps", 5)), int(args.number("step", 5)))
        .run();
  } catch (const error& e) {
    if (e.kind() != error_kind::plugin && e.kind() != error_kind::device) throw;
    std::fprintf(stderr, "%s\n", e.what());
    return 5;
  }
}
