// Loops over arrays as regions: what a launch and another split of an array cost, and the bandwidth of STREAM's loops,
// whose peer is loop_openmp.cpp. With --case device: what a region costs beyond a bare operation on the first device of
// --plugin; exit code 5: the plugin has none.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "bench/common/measure.hpp"
#include "bench/common/stream_sizes.hpp"
#include "tessera/operation.hpp"
#include "tessera/region.hpp"
#include "tessera/tessera.hpp"

using namespace bench;
using namespace tessera;

namespace {

const char* const name = "Tessera";

/// Of measurements that followed each other: what the machine does to both alike goes away.
std::vector<double> differences(const std::vector<double>& more, const std::vector<double>& less) {
  std::vector<double> out(more.size());
  std::ranges::transform(more, less, out.begin(), std::minus());
  return out;
}

struct measurement {
  runtime rt;
  location_model model{rt};
  int workers;
  int reps;

  measurement(int with, int times) : rt({.workers = static_cast<std::uint32_t>(with)}), workers(with), reps(times) {}

  void row_of(const std::string& kase, const char* metric, const std::vector<double>& values) {
    row("regions", name, kase, workers, metric, median(values));
  }

  /// Loops of 1000 iterations that follow each other by their arrays.
  void launches() {
    constexpr std::int64_t n = 1000;
    auto x = model.make_array<double>("x", {n}), y = model.make_array<double>("y", {n});
    const auto step = [&] {
      model.region("forth", iterate(0, n), read(x), write(y), [](auto i, auto from, auto to) { to[i] = from[i] + 1; });
      model.region("back", iterate(0, n), read(y), write(x), [](auto i, auto from, auto to) { to[i] = from[i] + 1; });
    };
    step();
    model.fence();
    constexpr int count = 20'000;
    std::vector<double> many, waited, replayed;
    for (int rep = 0; rep < reps; ++rep) {
      double began = now();
      for (int k = 0; k < count / 2; ++k) step();
      model.fence();
      many.push_back((now() - began) / count * 1e6);
      began = now();
      for (int k = 0; k < count / 4; ++k) {
        step();
        model.fence();
      }
      waited.push_back((now() - began) / (count / 2) * 1e6);
    }
    recording twenty = rt.record([&] {
      for (int k = 0; k < 10; ++k) step();
    });
    for (int rep = 0; rep < reps; ++rep) {
      const double began = now();
      for (int k = 0; k < count / 20; ++k) rt.replay(twenty);
      model.fence();
      replayed.push_back((now() - began) / count * 1e6);
    }
    const double expected = 2 + reps * 2 * (count / 2 + count / 4 + count / 2);
    if (x.read()[n - 1] != expected) fail("launches: wrong result");
    row_of("launch_1000", "us_per_loop", many);
    row_of("launch_1000_waited", "us_per_loop", waited);
    row_of("launch_1000_replayed", "us_per_loop", replayed);
  }

  /// Two regions of 1000 iterations in turns, that write one array: both with the same split, and each with its own.
  void splits(long count) {
    if (workers != 2) return;  // shares in percent, one per worker
    constexpr std::int64_t n = 1000;
    auto x = model.make_array<double>("x", {n});
    model.region("start", iterate(0, n), write(x), [](auto i, auto of) { of[i] = 0; });
    const auto timed = [&](std::vector<double>& to, const char* second) {
      const double began = now();
      for (long k = 0; k < count; ++k)
        model.region("step", {.policy = tessera::region_policy::from_text(k % 2 == 0 ? "percentage:60,40" : second)},
                     iterate(0, n), update(x), [](auto i, auto of) { of[i] += 1; });
      model.fence();
      to.push_back((now() - began) / double(count) * 1e6);
    };
    std::vector<double> same, other, first;
    for (int rep = 0; rep <= reps; ++rep) {
      timed(rep == 0 ? first : same, "percentage:60,40");
      timed(rep == 0 ? first : other, "percentage:40,60");
    }
    if (x.read()[n - 1] != 2.0 * (reps + 1) * double(count)) fail("splits: wrong result");
    row_of("split_same", "us_per_loop", same);
    row_of("split_other", "us_per_loop", other);
    row_of("split_other", "us_beyond_same_split", differences(other, same));
  }

  void stream(std::int64_t n) {
    auto a = model.make_array<double>("a", {n}), b = model.make_array<double>("b", {n}),
         c = model.make_array<double>("c", {n});
    region_result<double> dot(rt, "dot");
    model.region("start", iterate(0, n), write(a), write(b), write(c),
                 [](auto i, auto p, auto q, auto r) { p[i] = 0.1, q[i] = 0.2, r[i] = 0; });
    std::vector<double> copied, scaled, added, triads, dots, updates, alone;
    const auto timed = [&](std::vector<double>& rates, int arrays, auto&& loop) {
      const double began = now();
      loop();
      model.fence();
      rates.push_back(arrays * 8.0 * static_cast<double>(n) / (now() - began) * 1e-9);
    };
    const auto triad = [&] {
      model.region("triad", iterate(0, n), read(b), read(c), write(a),
                   [](auto i, auto p, auto q, auto r) { r[i] = p[i] + 0.4 * q[i]; });
    };
    for (int rep = 0; rep < 4 * reps; ++rep) {
      timed(copied, 2, [&] {
        model.region("copy", iterate(0, n), read(b), write(c), [](auto i, auto from, auto to) { to[i] = from[i]; });
      });
      timed(scaled, 2, [&] {
        model.region("mul", iterate(0, n), read(c), write(a),
                     [](auto i, auto from, auto to) { to[i] = 0.4 * from[i]; });
      });
      timed(added, 3, [&] {
        model.region("add", iterate(0, n), read(b), read(c), write(a),
                     [](auto i, auto p, auto q, auto r) { r[i] = p[i] + q[i]; });
      });
      timed(triads, 3, triad);
      timed(dots, 2, [&] {
        model.region("dot", iterate(0, n), read(a), read(b), sum(dot),
                     [](auto i, auto p, auto q, double& s) { s += p[i] * q[i]; });
      });
      timed(updates, 4, [&] {
        model.region("nstream", iterate(0, n), read(b), read(c), update(a),
                     [](auto i, auto p, auto q, auto r) { r[i] += p[i] + 0.4 * q[i]; });
      });
    }
    constexpr int passes = 20;
    for (int rep = 0; rep < reps; ++rep)
      timed(alone, 3 * passes, [&] {
        for (int k = 0; k < passes; ++k) triad();
      });
    if (std::abs(dot.get() / (0.28 * 0.2 * static_cast<double>(n)) - 1) > 1e-8) fail("stream: wrong result");
    row_of(loop_of("copy", n), "gigabytes_per_s", copied);
    row_of(loop_of("mul", n), "gigabytes_per_s", scaled);
    row_of(loop_of("add", n), "gigabytes_per_s", added);
    row_of(loop_of("triad", n), "gigabytes_per_s", triads);
    row_of(loop_of("dot", n), "gigabytes_per_s", dots);
    row_of(loop_of("nstream", n), "gigabytes_per_s", updates);
    row_of(loop_of("triad_alone", n), "gigabytes_per_s", alone);
  }
};

/// Adds 1 to 1000 numbers on a device, many times one after the other: as regions, and as tasks of an operation with
/// the same arithmetic, which is what the plugin's launch and a task cost. In turns, because devices that are emulated
/// on cores of the host take longer or shorter with what else runs there.
class device_launches {
 public:
  device_launches(const std::string& plugin, int workers, int reps, long count)
      : m_rt({.text = "[runtime]\nhistory = \"off\"\nplugins = [\"host\", \"" + plugin + "\"]\n",
              .workers = static_cast<std::uint32_t>(workers)}),
        m_where(plugin + "0"),
        m_kase("launch_1000_" + plugin),
        m_workers(workers),
        m_reps(reps),
        m_count(count) {}

  void run() {
    m_model.region("start", iterate(0, n), write(m_x), [](auto i, auto x) { x[i] = 0; });
    fill(m_rt, m_y(0), 0.0);
    std::vector<double> bare, many, bare_waited, waited;
    for (int rep = 0; rep <= m_reps; ++rep) {
      const auto timed = [&](std::vector<double>& to, long of, auto&& part) {
        const double began = now();
        for (long k = 0; k < of; ++k) part();
        m_model.fence();
        if (rep > 0) to.push_back((now() - began) / double(of) * 1e6);
      };
      timed(bare, m_count, [&] { task(); });
      timed(many, m_count, [&] { region(); });
      timed(bare_waited, m_count / 4, [&] { task(), m_model.fence(); });
      timed(waited, m_count / 4, [&] { region(), m_model.fence(); });
    }
    const double expected = double((m_reps + 1) * (m_count + m_count / 4));
    if (m_y(0).read()[n - 1] != expected || m_x.read()[n - 1] != expected) fail("launches on a device: wrong result");
    rows("", bare, many);
    rows("_waited", bare_waited, waited);
  }

 private:
  static constexpr std::int64_t n = 1000;

  void region() {
    m_model.region("step", {.policy = tessera::policy::static_split, .at = m_where}, iterate(0, n), update(m_x),
                   with_kernel([](auto i, auto x) { x[i] += 1; }, "(i, x) { x[i] += 1; }"));
  }
  void task() {
    const std::array<block::access, 1> blocks{update(m_y(0))};
    m_rt.submit_operation(m_add, nullptr, 0, blocks, {.at = m_rt.at(m_where)});
  }
  void rows(const std::string& how, const std::vector<double>& bare, const std::vector<double>& regions) const {
    const auto say = [&](const char* metric, double value) {
      row("regions", name, m_kase + how, m_workers, metric, value);
    };
    say("us_per_loop", median(regions));
    say("us_per_operation", median(bare));
    say("us_beyond_operation", median(differences(regions, bare)));
  }

  runtime m_rt;
  location_model m_model{m_rt};
  std::string m_where, m_kase;
  int m_workers, m_reps;
  long m_count;
  const operation::definition& m_add =
      m_rt.define({.name = "add 1",
                   .signature = {intent::update},
                   .kernel = {.name = "add_one",
                              .text = {.source = "KERNEL void add_one(GLOBAL double* x, long n) {"
                                                 " if (INDEX_X < n) x[INDEX_X] += 1; }"},
                              .launch = [](const operation::context& c, operation::kernel_launch& how) {
                                how.over(n).block(c.operands[0]).value(n);
                              }}});
  array<double> m_x = m_model.make_array<double>("x", {n});
  array<double> m_y = m_rt.make_array<double>("y", {n}, {n});
};

}  // namespace

int main(int argc, char** argv) {
  const arguments args(argc, argv, {"workers", "n", "reps", "count", "case", "plugin"});
  const std::string kase = args.text("case", "all");
  const int workers = static_cast<int>(args.number("workers", 2)), reps = static_cast<int>(args.number("reps", 5));
  if (kase == "device") {
    try {
      device_launches(args.text("plugin", "cuda_emulated"), workers, reps, args.number("count", 2000)).run();
    } catch (const error& e) {
      if (e.kind() != error_kind::plugin && e.kind() != error_kind::device) throw;
      std::fprintf(stderr, "%s\n", e.what());
      return 5;
    }
    return 0;
  }
  measurement m(workers, reps);
  if (kase == "all" || kase == "launch") m.launches();
  if (kase == "all" || kase == "splits") m.splits(args.number("count", 10'000));
  if (kase == "all" || kase == "stream") m.stream(args.number("n", 1 << 25));
}
