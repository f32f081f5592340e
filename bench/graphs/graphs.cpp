// What graphs of a device save a replayed iteration of small device tasks: launches, the host's time, the device's
// modelled time; and the same tasks submitted without a recording. By default on one simulated device with a launch
// latency of 5 us and a virtual clock, so that nothing waits; or on the first device of another plugin.
//
//   bench_graphs [--plugin sim] [--n 2000] [--steps 16]      rows of bench/common/measure.hpp
#include <optional>
#include <utility>

#include "bench/common/measure.hpp"
#include "tessera/front_end.hpp"
#include "tessera/machine.hpp"
#include "tessera/tessera.hpp"

namespace {

using namespace tessera;
constexpr std::int64_t elements = 64;

std::uint64_t device_clock(const plugin::device& of) {
  std::uint64_t ns = 0;
  of.check(of.table().query(of.handle(), TSR_QUERY_CLOCK_NS, 0, &ns), "query of the clock");
  return ns;
}

/// How an iteration's tasks come to the device.
enum class way {
  submitted,
  single,
  graphs
};
const char* word_of(way w) { return w == way::submitted ? "_submitted" : w == way::single ? "_single" : "_graphs"; }

std::string machine_of(const std::string& plugin, way how) {
  std::string text = "[runtime]\nworkers = 1\nplugins = [\"host\", \"" + plugin +
                     "\"]\ngraphs = " + (how == way::graphs ? "true" : "false") + "\n";
  if (plugin == "sim")
    text +=
        "[plugin.sim]\nclock = \"virtual\"\n[[plugin.sim.device]]\nmemory = \"16 MiB\"\nflops = \"100 "
        "GFLOP/s\"\nlaunch_latency = \"5 us\"\n";
  return text;
}

/// One iteration: `steps` times a scaling and an addition to one block (width 1), or to each of `width` blocks from its
/// neighbour. Returns the tasks submitted.
long iteration(runtime& rt, array<double>& a, const std::string& device, long steps, long width) {
  const task_options there{.at = rt.at(device)};
  for (long k = 0; k < steps; ++k)
    for (long w = 0; w < width; ++w) {
      scal(rt, 0.5, a(w), there);
      axpy(rt, 0.25, a((w + 1) % (width + 1)), a(w), there);
    }
  return 2 * steps * width;
}

void measure(const std::string& plugin, const std::string& kase, long steps, long width, long replays, way how) {
  machine assembled = hierarchy::assemble(config::document::parse(machine_of(plugin, how), "bench_graphs"));
  const plugin::device* device = nullptr;
  for (const auto& d : assembled.plugins->devices())
    if (d->plugin_name() == plugin && device == nullptr) device = d.get();
  if (device == nullptr) bench::fail("the plugin '" + plugin + "' finds no device");
  const bool modelled = plugin == "sim";
  runtime rt(std::move(assembled));
  auto a = rt.make_array<double>("a", {(width + 1) * elements}, {elements});
  for (long w = 0; w <= width; ++w) fill(rt, a(w), 1.0 + double(w));
  std::vector<double> check(static_cast<std::size_t>(width) + 1);
  for (long w = 0; w <= width; ++w) check[static_cast<std::size_t>(w)] = 1.0 + double(w);
  long tasks = 0;
  const auto submit = [&] { tasks = iteration(rt, a, plugin + "0", steps, width); };
  std::optional<recording> step;
  if (how != way::submitted) step.emplace(rt.record(submit));
  const auto once = [&] { step ? rt.replay(*step) : submit(); };
  for (int k = 0; k < 4; ++k) once();  // placed, captured
  rt.fence();
  const statistics before = rt.statistics();
  const std::uint64_t clock = modelled ? device_clock(*device) : 0;
  const double cpu = bench::cpu_seconds(), started = bench::now();
  for (long k = 0; k < replays; ++k) once();
  rt.fence();
  const double wall = bench::now() - started, busy = bench::cpu_seconds() - cpu;
  const std::uint64_t device_ns = modelled ? device_clock(*device) - clock : 0;
  const statistics after = rt.statistics();
  const double count = double(tasks) * double(replays);
  const std::string name = kase + word_of(how);
  bench::row("graphs", "tessera", name, 1, "ns_per_task", wall / count * 1e9);
  bench::row("graphs", "tessera", name, 1, "cpu_ns_per_task", busy / count * 1e9);
  bench::row("graphs", "tessera", name, 1, "launches_per_iteration",
             double(after.device_launches - before.device_launches) / double(replays));
  if (modelled)
    bench::row("graphs", "tessera", name, 1, "modelled_us_per_iteration", double(device_ns) * 1e-3 / double(replays));

  for (long r = 0; r < replays + 4; ++r)
    for (long k = 0; k < steps; ++k)
      for (long w = 0; w < width; ++w) {
        const auto at = static_cast<std::size_t>(w), next = static_cast<std::size_t>((w + 1) % (width + 1));
        check[at] = 0.5 * check[at] + 0.25 * check[next];
      }
  for (long w = 0; w <= width; ++w) {
    const double seen = a.read_host(a(w))[elements - 1], wanted = check[static_cast<std::size_t>(w)];
    if (!(std::abs(seen - wanted) <= 1e-12 * std::abs(wanted) + 1e-300)) bench::fail(name + ": the result is wrong");
  }
  const schedule::graph_statistics& s = after.graphs;
  if (how == way::graphs && s.launched == 0) bench::fail(name + ": no graph was launched");
}

}  // namespace

int main(int argc, char** argv) try {
  const bench::arguments arguments(argc, argv, {"n", "steps", "plugin"});
  const long replays = arguments.number("n", 2000), steps = arguments.number("steps", 16);
  const std::string plugin = arguments.text("plugin", "sim");
  for (const auto& [kase, width] : {std::pair{"chain", 1L}, std::pair{"stencil_w8", 8L}})
    for (const way how : {way::submitted, way::single, way::graphs}) measure(plugin, kase, steps, width, replays, how);
} catch (const tessera::error& e) {
  bench::fail(e.what());
}
