// What it saves to give equal block contractions to a device together: launches, the host's time, the device's modelled
// time. C += A B on `n` sets of blocks that are on the device, `rounds` times, with and without batches. By default on
// one simulated device with a launch latency of 5 us and a virtual clock; or on the first device of another plugin.
//
//   bench_batches [--plugin sim] [--n 512] [--rounds 8] [--extents "16 32 64"] [--blocks "8"] [--batch N]      rows of
//   bench/common/measure.hpp
//
// --batch: of at most so many, instead of the runtime's default. product_eN: matrices of extent N. blocks_eN: blocks of
// rank 4 whose indices do not stand in the order of a product.
#include <sstream>
#include <utility>

#include "bench/common/measure.hpp"
#include "tessera/front_end.hpp"
#include "tessera/machine.hpp"
#include "tessera/tessera.hpp"

namespace {

using namespace tessera;

struct form {
  const char *name, *a, *b, *c;
  std::size_t rank, summed;
};
constexpr form product{"product", "ik", "kj", "ij", 2, 1}, blocks{"blocks", "acbd", "dicj", "aibj", 4, 2};

std::uint64_t device_clock(const plugin::device& of) {
  std::uint64_t ns = 0;
  of.check(of.table().query(of.handle(), TSR_QUERY_CLOCK_NS, 0, &ns), "query of the clock");
  return ns;
}

double power(double base, std::size_t exponent) {
  double result = 1;
  while (exponent-- > 0) result *= base;
  return result;
}

void measure(const std::string& plugin, const form& of, std::int64_t extent, long count, long rounds, long most) {
  const bool together = most != 1;
  std::string text = "[runtime]\nworkers = 1\nplugins = [\"host\", \"" + plugin + "\"]\n" +
                     (most == 0 ? "" : "batch = " + std::to_string(most) + "\n");
  if (plugin == "sim")
    text +=
        "[plugin.sim]\nclock = \"virtual\"\n[[plugin.sim.device]]\nmemory = \"1 GiB\"\nflops = \"5 TFLOP/s\"\n"
        "launch_latency = \"5 us\"\n";
  machine assembled = hierarchy::assemble(config::document::parse(text, "bench_batches"));
  const plugin::device* device = nullptr;
  for (const auto& d : assembled.plugins->devices())
    if (d->plugin_name() == plugin && device == nullptr) device = d.get();
  if (device == nullptr) bench::fail("the plugin '" + plugin + "' finds no device");
  const bool modelled = plugin == "sim";
  runtime rt(std::move(assembled));
  const task_options there{.at = rt.at(plugin + "0")};
  std::vector<std::int64_t> shape(of.rank, extent), all = shape;
  all.back() *= count;
  auto a = rt.make_array<double>("a", all, shape), b = rt.make_array<double>("b", all, shape),
       c = rt.make_array<double>("c", all, shape);
  const auto at = [&](array<double>& from, long k) { return from.block(static_cast<std::size_t>(k)); };
  for (long k = 0; k < count; ++k) {
    fill(rt, at(a, k), 0.5, there);
    fill(rt, at(b, k), 1.0 + double(k % 4), there);
    fill(rt, at(c, k), 0.0, there);
  }
  const auto round = [&] {
    for (long k = 0; k < count; ++k) contract(rt, 1.0, at(a, k), of.a, at(b, k), of.b, 1.0, at(c, k), of.c, there);
  };
  round();  // what is compiled or planned is
  rt.fence();
  const statistics before = rt.statistics();
  const std::uint64_t clock = modelled ? device_clock(*device) : 0;
  const double cpu = bench::cpu_seconds(), started = bench::now();
  for (long r = 0; r < rounds; ++r) round();
  const double submitted = bench::now() - started;
  rt.fence();
  const double wall = bench::now() - started, busy = bench::cpu_seconds() - cpu;
  const std::uint64_t device_ns = modelled ? device_clock(*device) - clock : 0;
  const statistics after = rt.statistics();
  const double tasks = double(count) * double(rounds), terms = power(double(extent), of.summed);
  const std::string kase = std::string(of.name) + "_e" + std::to_string(extent) + (together ? "_batches" : "_single");
  bench::row("batches", "tessera", kase, 1, "launches_per_task",
             double(after.device_launches - before.device_launches) / tasks);
  bench::row("batches", "tessera", kase, 1, "ns_per_task", wall / tasks * 1e9);
  bench::row("batches", "tessera", kase, 1, "submit_ns_per_task", submitted / tasks * 1e9);
  bench::row("batches", "tessera", kase, 1, "cpu_ns_per_task", busy / tasks * 1e9);
  bench::row("batches", "tessera", kase, 1, "gflops", 2 * power(double(extent), of.rank) * terms * tasks / wall * 1e-9);
  if (modelled) bench::row("batches", "tessera", kase, 1, "modelled_ns_per_task", double(device_ns) / tasks);
  for (long k = 0; k < count; ++k) {
    const double wanted = 0.5 * (1.0 + double(k % 4)) * terms * double(rounds + 1), seen = c.read_host(at(c, k))[0];
    if (!(std::abs(seen - wanted) <= 1e-12 * wanted)) bench::fail(kase + ": the result is wrong");
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const bench::arguments arguments(argc, argv, {"plugin", "n", "rounds", "extents", "blocks", "batch"});
  const std::string plugin = arguments.text("plugin", "sim");
  const long count = arguments.number("n", 512), rounds = arguments.number("rounds", 8);
  const std::pair<const form*, std::string> forms[] = {{&product, arguments.text("extents", "16 32 64")},
                                                       {&blocks, arguments.text("blocks", "8")}};
  for (const auto& [of, extents] : forms) {
    std::istringstream list(extents);
    for (long extent = 0; list >> extent;)
      for (const long most : {1L, arguments.number("batch", 0)}) measure(plugin, *of, extent, count, rounds, most);
  }
} catch (const tessera::error& e) {
  bench::fail(e.what());
}
