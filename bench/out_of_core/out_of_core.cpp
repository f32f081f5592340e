// Matrix product and Cholesky factorization on one device whose memory is a part of the matrices: bytes moved against a
// lower bound, and how far copies and computation go side by side.
//
//   bench_out_of_core --op gemm|potrf --n 1536 --tile 64 --percent 200 --eviction next_use
//
// Twice: on the device of the plugin sim, with real data and a check of the result; and as a simulated run on a
// description of the same machine, in whose virtual time no thread of the host is late. All tasks run on the device;
// the host has the matrices before, and again in the end.
#include <string>

#include "apps/cholesky/factorization.hpp"
#include "apps/gemm/multiplication.hpp"
#include "bench/common/matrix.hpp"
#include "bench/common/traffic_bound.hpp"
#include "hierarchy/simulation/simulated_machine.hpp"

namespace bench {
namespace {

// A device whose computation and copies take times that the host's threads hardly add to.
constexpr double gflops = 1.5, mib_per_second = 64;
constexpr int streams = 2;
constexpr std::uint64_t window = 16384;   // tasks, so that next uses are known far ahead
constexpr std::uint64_t watermark = 100;  // percent: nothing leaves before its room is wanted

struct problem {
  bool product = true;
  std::int64_t n = 0, tile = 0;

  std::int64_t tiles() const { return (n + tile - 1) / tile; }
  double tile_bytes() const { return double(tile) * double(tile) * sizeof(double); }
  /// All matrices, in tiles.
  double data() const {
    const auto t = double(tiles());
    return product ? 3 * t * t : t * (t + 1) / 2;
  }
  /// As the device counts: the tasks' operations, of tiles.
  double flops() const {
    const auto t = double(tiles()), b = double(tile);
    if (product) return t * t * t * 2 * b * b * b;
    return b * b * b * (t / 3 + t * (t - 1) / 2 * (2 + 1 / b) + t * (t - 1) * (t - 2) / 3);
  }
  double bound(double room) const {
    return product ? product_bound(double(tiles()), room) : factorization_bound(double(tiles()), room);
  }
};

struct result {
  double in = 0, out = 0;            ///< bytes, with the result back on the host
  double seconds = 0;                ///< until the last task is done
  double in_then = 0, out_then = 0;  ///< bytes until then
};

double bytes(const tessera::runtime& rt, bool in) {
  double sum = 0;
  for (const auto& l : rt.statistics().links)
    if ((in ? l.to : l.from).starts_with("sim")) sum += double(l.bytes);
  return sum;
}

/// Runs submit() and then has a task on the host look at every tile of the answer.
template <class Submit, class Clock>
result timed(tessera::runtime& rt, matrix& answer, bool lower, Submit submit, Clock clock) {
  result r;
  const double in = bytes(rt, true), out = bytes(rt, false), began = clock();
  submit();
  rt.fence();
  r.seconds = clock() - began;
  r.in_then = bytes(rt, true) - in;
  r.out_then = bytes(rt, false) - out;
  for (std::int64_t j = 0; j < answer.counts()[1]; ++j)
    for (std::int64_t i = lower ? j : 0; i < answer.counts()[0]; ++i)
      rt.submit(
          "look", {.at = rt.at("core0")}, [](tessera::view<const double>) {}, tessera::read(answer(i, j)));
  rt.fence();
  r.in = bytes(rt, true) - in;
  r.out = bytes(rt, false) - out;
  return r;
}

/// `set(matrix, element)` fills a matrix; `check(element, a, b, c)` looks at the answer.
template <class Set, class Clock, class Check>
result run(const problem& p, tessera::runtime& rt, Set set, Clock clock, Check check) {
  tessera::apps::memory_budget budget = tessera::apps::memory_budget_of(rt);
  budget.location = rt.at("sim0");
  const auto make = [&](const char* name) { return rt.make_array<double>(name, {p.n, p.n}, {p.tile, p.tile}); };
  auto a = make("A"), b = make("B"), c = make("C");
  if (p.product) {
    set(a, [](std::int64_t i, std::int64_t j) { return noise(long(i), long(j)); });
    set(b, [](std::int64_t i, std::int64_t j) { return noise(long(j) + 7, long(i)); });
    const result r = timed(
        rt, c, false, [&] { tessera::apps::multiply(rt, a, b, c, budget); }, clock);
    check(nullptr, a, b, c);
    return r;
  }
  const auto element = [n = p.n](std::int64_t i, std::int64_t j) {
    return i == j ? double(n) : noise(long(std::max(i, j)), long(std::min(i, j)));
  };
  auto info = rt.make_array<std::int32_t>("info", {p.tiles()}, {1});
  set(a, element);
  const result r = timed(
      rt, a, true, [&] { tessera::apps::factorize(rt, a, info, budget); }, clock);
  check(element, a, b, c);
  return r;
}

std::uint64_t memory_of(const problem& p, double room) {
  return static_cast<std::uint64_t>(room * p.tile_bytes() + double(p.tiles()) * 256);  // and the pivots' flags
}

result on_the_plugin(const problem& p, double room, const std::string& eviction) {
  const std::string rate = std::to_string(mib_per_second) + " MiB/s\"\n";
  tessera::config::document configuration = tessera::config::document::parse(
      "[runtime]\nworkers = 1\nplacement = \"pinned\"\nhistory = \"off\"\nwindow_tasks = " + std::to_string(window) +
      "\nplugins = [\"host\", \"sim\"]\n[memory]\neviction = \"" + eviction +
      "\"\nhigh_watermark = " + std::to_string(watermark) + "\nlow_watermark = " + std::to_string(watermark) +
      "\n[[plugin.sim.device]]\nmemory = \"" + std::to_string(memory_of(p, room)) + " B\"\nflops = \"" +
      std::to_string(gflops) + " GFLOP/s\"\ncompute_streams = " + std::to_string(streams) + "\nbandwidth_in = \"" +
      rate + "bandwidth_out = \"" + rate);
  tessera::runtime rt(tessera::hierarchy::assemble(configuration));
  return run(
      p, rt, [&](matrix& m, auto element) { fill(rt, m, element); }, now,
      [&](auto element, matrix& a, matrix& b, matrix& c) {
        if constexpr (std::is_null_pointer_v<decltype(element)>) {
          const column x = test_vector(p.n);
          compare("gemm", times(c, x), times(a, times(b, x)));
        } else {
          check_factor(a, element);
        }
      });
}

result in_virtual_time(const problem& p, double room, const std::string& eviction) {
  tessera::hierarchy::machine_description d;
  d.name = "the same machine";
  d.host.core.peak_f64 = d.host.core.peak_f32 = 1e10;
  d.host.core.memory_bandwidth = 1e10;
  tessera::hierarchy::described_device device;
  device.name = "sim0";
  device.memory_bytes = memory_of(p, room);
  device.kernels = streams;
  device.speed.peak_f64 = device.speed.peak_f32 = gflops * 1e9;
  device.speed.memory_bandwidth = 1e11;
  d.devices.push_back(device);
  d.links.push_back({"host", "sim0", mib_per_second * (1 << 20), 5000, 0, ""});
  tessera::config::runtime_settings settings;
  settings.placement = "pinned";
  settings.window_tasks = window;
  settings.eviction = eviction;
  settings.high_watermark = settings.low_watermark = watermark;
  auto made = tessera::hierarchy::build_machine(d, settings);
  const auto world = made.model;
  tessera::runtime rt(std::move(made.machine));
  const auto set = [&](matrix& m, auto) {
    for (std::size_t k = 0; k < m.size(); ++k) tessera::fill(rt, m.block(k), 1.0, {.at = rt.at("core0")});
    rt.fence();
  };
  return run(
      p, rt, set, [&] { return double(world->clock.now()) * 1e-9; }, [](auto&&...) {});
}

void measure(const problem& p, long percent, const std::string& eviction) {
  const double room = std::floor(p.data() * 100 / double(percent));
  const std::string name = std::string(p.product ? "gemm" : "potrf") + "_n" + std::to_string(p.n) + "_tile" +
                           std::to_string(p.tile) + "_" + std::to_string(percent) + "_" + eviction;
  const double bound = p.bound(room) * p.tile_bytes(), rate = mib_per_second * (1 << 20);
  const auto say = [&](const char* metric, double value) { row("out_of_core", "Tessera", name, 1, metric, value); };
  const result real = on_the_plugin(p, room, eviction), modelled = in_virtual_time(p, room, eviction);
  const double compute = p.flops() / (gflops * 1e9 * streams), in = modelled.in_then / rate,
               out = modelled.out_then / rate;
  say("bound_bytes", bound);
  say("bytes_in", real.in);
  say("bytes_out", real.out);
  say("bytes_over_bound", (real.in + real.out) / bound);
  say("modelled_bytes_over_bound", (modelled.in + modelled.out) / bound);
  say("compute_seconds", compute);
  say("copy_in_seconds", in);
  say("copy_out_seconds", out);
  say("seconds", modelled.seconds);
  say("overlap_percent", 100 * std::max({compute, in, out}) / modelled.seconds);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  const bench::arguments args(argc, argv, {"op", "n", "tile", "percent", "eviction"});
  const std::string op = args.text("op", "gemm");
  const bench::problem p{op == "gemm", args.number("n", 1536), args.number("tile", 64)};
  const long percent = args.number("percent", 200);
  if ((op != "gemm" && op != "potrf") || p.n < 1 || p.tile < 1 || p.tile > p.n || percent < 100) {
    std::fprintf(stderr, "--op is gemm or potrf; --n starts at 1; --tile is from 1 to n; --percent starts at 100\n");
    return 2;
  }
  try {
    bench::measure(p, percent, args.text("eviction", "next_use"));
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
