// Loops over arrays as regions: what a launch costs, and the bandwidth of STREAM's loops. The peer is loop_openmp.cpp.
#include "bench/common/measure.hpp"
#include "tessera/region.hpp"
#include "tessera/tessera.hpp"

using namespace bench;
using namespace tessera;

namespace {

const char* const name = "Tessera";

struct measurement {
  runtime rt;
  location_model model{rt};
  int workers;
  int reps;

  measurement(int with, int times) : rt({.workers = static_cast<std::uint32_t>(with)}), workers(with), reps(times) {}

  void row_of(const char* kase, const char* metric, const std::vector<double>& values) {
    row("regions", name, kase, workers, metric, median(values));
  }

  /// Loops of 1000 iterations that follow each other by their arrays.
  void launches() {
    constexpr std::int64_t n = 1000;
    auto x = model.make_array<double>("x", {n}), y = model.make_array<double>("y", {n});
    const auto step = [&] {
      model.region("forth", iterate(0, n), in(x), out(y), [](auto i, auto from, auto to) { to[i] = from[i] + 1; });
      model.region("back", iterate(0, n), in(y), out(x), [](auto i, auto from, auto to) { to[i] = from[i] + 1; });
    };
    step();
    model.pause();
    constexpr int count = 20'000;
    std::vector<double> many, waited, replayed;
    for (int rep = 0; rep < reps; ++rep) {
      double began = now();
      for (int k = 0; k < count / 2; ++k) step();
      model.pause();
      many.push_back((now() - began) / count * 1e6);
      began = now();
      for (int k = 0; k < count / 4; ++k) {
        step();
        model.pause();
      }
      waited.push_back((now() - began) / (count / 2) * 1e6);
    }
    recording twenty = rt.record([&] {
      for (int k = 0; k < 10; ++k) step();
    });
    for (int rep = 0; rep < reps; ++rep) {
      const double began = now();
      for (int k = 0; k < count / 20; ++k) rt.replay(twenty);
      model.pause();
      replayed.push_back((now() - began) / count * 1e6);
    }
    const double expected = 2 + reps * 2 * (count / 2 + count / 4 + count / 2);
    if (x.read_host()[n - 1] != expected) fail("launches: wrong result");
    row_of("launch_1000", "us_per_loop", many);
    row_of("launch_1000_waited", "us_per_loop", waited);
    row_of("launch_1000_replayed", "us_per_loop", replayed);
  }

  void stream(std::int64_t n) {
    auto a = model.make_array<double>("a", {n}), b = model.make_array<double>("b", {n}),
         c = model.make_array<double>("c", {n});
    region_result<double> dot(rt, "dot");
    model.region("start", iterate(0, n), out(a), out(b), out(c),
                 [](auto i, auto p, auto q, auto r) { p[i] = 0.1, q[i] = 0.2, r[i] = 0; });
    std::vector<double> copied, triads, dots;
    const auto timed = [&](std::vector<double>& rates, int arrays, auto&& loop) {
      const double began = now();
      loop();
      model.pause();
      rates.push_back(arrays * 8.0 * static_cast<double>(n) / (now() - began) * 1e-9);
    };
    for (int rep = 0; rep < 4 * reps; ++rep) {
      timed(copied, 2, [&] {
        model.region("copy", iterate(0, n), in(b), out(c), [](auto i, auto from, auto to) { to[i] = from[i]; });
      });
      timed(triads, 3, [&] {
        model.region("triad", iterate(0, n), in(b), in(c), out(a),
                     [](auto i, auto p, auto q, auto r) { r[i] = p[i] + 0.4 * q[i]; });
      });
      timed(dots, 2, [&] {
        model.region("dot", iterate(0, n), in(a), in(b), sum(dot),
                     [](auto i, auto p, auto q, double& s) { s += p[i] * q[i]; });
      });
    }
    if (std::abs(dot.get() / (0.28 * 0.2 * static_cast<double>(n)) - 1) > 1e-8) fail("stream: wrong result");
    row_of("copy", "gigabytes_per_s", copied);
    row_of("triad", "gigabytes_per_s", triads);
    row_of("dot", "gigabytes_per_s", dots);
  }
};

}  // namespace

int main(int argc, char** argv) {
  const arguments args(argc, argv, {"workers", "n", "reps", "case"});
  const std::string kase = args.text("case", "all");
  measurement m(static_cast<int>(args.number("workers", 2)), static_cast<int>(args.number("reps", 5)));
  if (kase == "all" || kase == "launch") m.launches();
  if (kase == "all" || kase == "stream") m.stream(args.number("n", 1 << 25));
}
