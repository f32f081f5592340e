#include "apps/stream/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "apps/common/model_line.hpp"
#include "apps/common/region_options.hpp"
#include "apps/common/session.hpp"
#include "apps/common/tree_file.hpp"
#include "apps/stream/kernels.hpp"
#include "core/base/units.hpp"

namespace tessera::apps {
namespace {

struct stream_options : loop_options {
  bool verify = false;  ///< --verify, which all applications have: the arrays are compared in any case
  std::int64_t size = std::int64_t{1} << 25;
  int rounds = 100;
  std::string type = "f64";
  bool triad_only = false, nstream_only = false;

  bool one_loop() const { return triad_only || nstream_only; }
};

/// What the elements of the three arrays are in the end.
struct stream_values {
  double a, b, c;
};

/// A round multiplies a by 2 s + s^2 = 0.96; the triad alone leaves b and c, and a = b + s c; nstream alone, which
/// begins behind a copy and runs once more than its rounds, adds b + s c each time.
stream_values expected_values(const stream_options& o) {
  if (o.triad_only) return {0.2, 0.2, 0};
  if (o.nstream_only) return {0.1 + (o.rounds + 1) * (0.2 + 0.4 * 0.1), 0.2, 0.1};
  const double a = 0.1 * std::pow(0.96, o.rounds), before = a / 0.96;
  return {a, 0.4 * before, 1.4 * before};
}

/// One loop of a round: what it is called, how many arrays it reads or writes, operations per element, and its times.
struct timed_kernel {
  std::string name;
  int arrays, flops;
  std::function<void()> run;
  double best = std::numeric_limits<double>::infinity(), worst = 0, total = 0;
  int runs = 0;
};

/// Runs the rounds, each loop by itself; the first round, which touches the pages, is not timed. Returns what the
/// runtime had done before those that are.
statistics run_rounds(std::vector<timed_kernel>& kernels, location_model& model, const session& s, int rounds) {
  statistics before;
  for (int round = 0; round < rounds; ++round) {
    s.check_interrupt();
    if (round < 2) before = s.rt().statistics();
    for (timed_kernel& k : kernels) {
      const auto began = std::chrono::steady_clock::now();
      k.run();
      model.fence();
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
      if (round == 0 && rounds > 1) continue;
      k.best = std::min(k.best, seconds);
      k.worst = std::max(k.worst, seconds);
      k.total += seconds;
      ++k.runs;
    }
  }
  return before;
}

/// Runs one loop in all rounds together, as a program would that waits at its end: its times are those of a round on
/// the average. The first round, which touches the pages, is not timed. Returns as run_rounds does.
statistics run_together(timed_kernel& k, location_model& model, const session& s, int rounds) {
  k.run();
  model.fence();
  const statistics before = s.rt().statistics();
  const auto began = std::chrono::steady_clock::now();
  for (k.runs = 0; k.runs < rounds; ++k.runs) {
    s.check_interrupt();
    k.run();
  }
  model.fence();
  k.total = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  k.best = k.worst = k.total / k.runs;
  return before;
}

/// Mean of |x - expected| / expected; infinite where an element is no number.
template <class T>
double mean_error(const array<T>& x, double expected) {
  long double sum = 0;
  const auto seen = x.read();
  for (const T v : seen) sum += std::abs(static_cast<long double>(v) - expected);
  const auto mean = static_cast<double>(sum / static_cast<long double>(x.extents()[0]));
  const double error = expected != 0 ? mean / std::abs(expected) : mean;
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

template <class T>
bool check(const stream_kernels<T>& k, const stream_options& o, report& r) {
  const auto [a, b, c] = expected_values(o);
  // Each round rounds a few times more; about half of an epsilon stays.
  const double bound = std::max(100, o.rounds) * static_cast<double>(std::numeric_limits<T>::epsilon());
  const double worst = std::max({mean_error(k.a, a), mean_error(k.b, b), mean_error(k.c, c)});
  bool right = worst <= bound;
  r.add("error", "error",
        fmt::format("{:.3g}  (mean relative error of the worst array, right up to {:.3g})", worst, bound), worst);
  if (!o.one_loop()) {
    const double expected = static_cast<double>(o.size) * a * b, dot_bound = std::max(1e-8, 4 * bound),
                 error = std::abs(k.dot_result() / expected - 1);
    r.add("dot_error", "dot error", fmt::format("{:.3g}  (relative, right up to {:.3g})", error, dot_bound), error);
    right = right && error <= dot_bound;
  }
  r.note("error_ok", right);
  return right;
}

template <class T>
int run(const stream_options& o) {
  o.require_tree();
  session s(o);
  location_model model(s.rt());
  o.require_location(model);
  const tree_file file(s, model);
  s.require_memory(3.0 * static_cast<double>(o.size) * sizeof(T), "the arrays a, b and c");
  stream_kernels<T> stream(model, o.size, o.regions());
  std::vector<timed_kernel> kernels;
  const auto add = [&](const char* name, int arrays, int flops, std::function<void()> loop) {
    kernels.push_back({.name = name, .arrays = arrays, .flops = flops, .run = std::move(loop)});
  };
  if (!o.one_loop()) {
    add("copy", 2, 0, [&] { stream.copy(); });
    add("mul", 2, 1, [&] { stream.multiply(); });
    add("add", 3, 1, [&] { stream.add(); });
  }
  if (!o.nstream_only) add("triad", 3, 2, [&] { stream.triad(); });
  if (!o.one_loop()) add("dot", 2, 2, [&] { stream.dot(); });
  if (o.nstream_only) add("nstream", 4, 3, [&] { stream.nstream(); });
  stream.start();
  if (o.nstream_only) stream.copy();  // a c that is not 0
  std::vector<link_traffic> traffic;
  {
    const progress shown(s.rt(), "stream", 0, o.quiet);
    const statistics before =
        o.one_loop() ? run_together(kernels.front(), model, s, o.rounds) : run_rounds(kernels, model, s, o.rounds);
    traffic = traffic_since(before, s.rt());
  }

  report r;
  s.describe(r);
  add_tree(r, o);
  r.add("type", "type", o.type);
  r.add_integer("size", "elements", o.size);
  r.add_integer("rounds", "rounds", o.rounds);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const timed_kernel& k : kernels) {
    const double bytes = k.arrays * static_cast<double>(o.size) * sizeof(T), mean = k.total / k.runs;
    r.add("", k.name,
          fmt::format("{:8.2f} GB/s  ({})", bytes / k.best * 1e-9,
                      o.one_loop() ? fmt::format("{} rounds together {}", k.runs, format_seconds(k.total))
                                   : fmt::format("best {}, mean {}, worst {}", format_seconds(k.best),
                                                 format_seconds(mean), format_seconds(k.worst))),
          nullptr);
    rows.push_back({{"name", k.name},
                    {"gigabytes_per_second", bytes / k.best * 1e-9},
                    {"best_seconds", k.best},
                    {"mean_seconds", mean},
                    {"worst_seconds", k.worst}});
  }
  r.note("kernels", rows);
  double round = 0, timed = 0;
  workload did{3.0 * static_cast<double>(o.size) * sizeof(T)};
  for (const timed_kernel& k : kernels) {
    round += k.total / k.runs, timed += k.total;
    did.regions.push_back(stream_work(k.name, k.arrays, k.flops, k.runs, o.size, sizeof(T)));
  }
  r.note("seconds", round);
  add_model(r, s, timed, did, model.regions(), traffic);
  add_regions(r, model);
  const std::string tree = draw_tree(model, o.tree);
  const bool right = check(stream, o, r);
  s.add_file(o.tree, tree);
  s.finish(r);
  if (right) return 0;
  fmt::print(stderr, "error: the arrays do not hold what the loops make of them\n");
  return 1;
}

}  // namespace

void add_stream(command_table& to) {
  auto options = std::make_shared<stream_options>();
  command_table& sub = to.add_command("stream", "Measure the memory's bandwidth with loops over three arrays");
  sub.add(
      {{"--size",
        &options->size,
        "N",
        "elements of each array",
        {.range = between(1, std::int64_t{1} << 40), .shows_default = true}},
       {"--rounds",
        &options->rounds,
        "N",
        "how often each loop runs; the first time does not count",
        {.range = between(1, 2000), .shows_default = true}},
       {"--type", &options->type, "", "element type: f64 or f32", {.choices = {"f64", "f32"}, .shows_default = true}},
       {"--triad", &options->triad_only, "", "the loop a = b + s c alone, its rounds timed together"},
       {"--nstream",
        &options->nstream_only,
        "",
        "the loop a += b + s c alone, its rounds timed together",
        {.excludes = {"--triad"}}},
       {"--verify", &options->verify, "", "as of the other applications; the arrays are compared in any case"}});
  options->add_loop_options(sub);
  sub.footer =
      "Example:\n  tessera stream --size 10000000 --rounds 20 --policy percentage:60,40 --json stream.json\n"
      "Ends with 1 when an array does not hold what the loops make of it.";
  sub.run = [options] { return options->type == "f32" ? run<float>(*options) : run<double>(*options); };
}

}  // namespace tessera::apps
