#include "apps/gemm/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "apps/common/retry_on_loss.hpp"
#include "apps/common/session.hpp"
#include "apps/gemm/multiplication.hpp"
#include "core/base/units.hpp"

namespace tessera::apps {
namespace {

struct gemm_options : command_options {
  std::int64_t n = 0, m = 0, k = 0, tile = 0;
  int repeat = 1;
  std::string type = "f64";
};

/// Submits tasks that write every block of a matrix with noise.
template <class T>
void write_noise(runtime& rt, tiled_matrix<T>& a, std::uint64_t seed) {
  for (std::int64_t tj = 0; tj < a.counts()[1]; ++tj)
    for (std::int64_t ti = 0; ti < a.counts()[0]; ++ti) {
      const std::int64_t row = ti * a.block_extents()[0], column = tj * a.block_extents()[1];
      rt.submit(
          "noise",
          [seed, row, column](matrix_view<T> t) {
            for (std::int64_t j = 0; j < t.extent(1); ++j)
              for (std::int64_t i = 0; i < t.extent(0); ++i)
                t(i, j) = static_cast<T>(
                    noise(seed, static_cast<std::uint64_t>(row + i), static_cast<std::uint64_t>(column + j)));
          },
          write(a(ti, tj)));
    }
}

template <class T>
int run(const gemm_options& o) {
  const std::int64_t m = o.m > 0 ? o.m : o.n, n = o.n, k = o.k > 0 ? o.k : o.n;
  const std::int64_t largest = std::max({m, n, k});
  const std::int64_t tile = std::min(o.tile > 0 ? o.tile : largest <= 512 ? 128 : largest <= 2048 ? 256 : 512, largest);
  for (const std::int64_t extent : {m, n, k}) check_tiles(extent, tile);
  session s(o.placed_by_cost());
  runtime& rt = s.rt();
  const double elements = static_cast<double>(m) * static_cast<double>(k) +
                          static_cast<double>(k) * static_cast<double>(n) +
                          static_cast<double>(m) * static_cast<double>(n);
  s.require_memory(elements * sizeof(T), "the blocks of A, B and C");
  auto a = rt.make_matrix<T>("A", {m, k}, {tile, tile});
  auto b = rt.make_matrix<T>("B", {k, n}, {tile, tile});
  auto c = rt.make_matrix<T>("C", {m, n}, {tile, tile});
  const std::int64_t tm = c.counts()[0], tn = c.counts()[1], tk = a.counts()[1];
  const std::uint64_t tasks = static_cast<std::uint64_t>(tm * tn * tk);
  const std::int64_t samples = std::min<std::int64_t>(m, 16);
  double best = 0, total = 0, worst = 0;
  retry_on_loss(rt, [&] {
    best = std::numeric_limits<double>::infinity(), total = 0, worst = 0;
    write_noise(rt, a, o.seed * 2 + 1);
    write_noise(rt, b, o.seed * 2 + 2);
    rt.fence();
    {
      const progress shown(rt, "gemm", tasks * static_cast<std::uint64_t>(o.repeat), o.quiet);
      for (int repeat = 0; repeat < o.repeat; ++repeat) {
        const auto started = std::chrono::steady_clock::now();
        multiply(rt, a, b, c, memory_budget_of(rt));
        rt.fence();
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
        best = std::min(best, seconds);
        total += seconds;
      }
    }

    // Sampled rows against sums of exact products in long double; the bound is the classical one for a dot product of
    // length k, |error| <= k eps sum |a||b| (Higham, Accuracy and Stability, 3.5); a few units in practice.
    std::vector<double> row(static_cast<std::size_t>(n));
    for (std::int64_t sample = 0; sample < samples; ++sample) {
      const std::int64_t i = samples > 1 ? sample * (m - 1) / (samples - 1) : 0;
      for (std::int64_t tj = 0; tj < tn; ++tj) {
        const auto block = c(i / tile, tj).read();
        for (std::int64_t j = 0; j < block.extent(1); ++j)
          row[static_cast<std::size_t>(tj * tile + j)] = static_cast<double>(block(i % tile, j));
      }
      for (std::int64_t j = 0; j < n; ++j) {
        long double sum = 0, size = 0;
        for (std::int64_t l = 0; l < k; ++l) {
          const auto x = static_cast<long double>(
              static_cast<T>(noise(o.seed * 2 + 1, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(l))));
          const auto y = static_cast<long double>(
              static_cast<T>(noise(o.seed * 2 + 2, static_cast<std::uint64_t>(l), static_cast<std::uint64_t>(j))));
          sum += x * y;
          size += std::abs(x * y);
        }
        const double error = std::abs(row[static_cast<std::size_t>(j)] - static_cast<double>(sum));
        const double unit = static_cast<double>(size) * std::sqrt(static_cast<double>(k)) *
                            static_cast<double>(std::numeric_limits<T>::epsilon());
        worst = std::max(worst, unit > 0 ? error / unit : error);
        if (std::isnan(row[static_cast<std::size_t>(j)])) worst = std::numeric_limits<double>::infinity();
      }
    }
    rt.fence();
  });
  const bool right_answer = worst < 4;

  const double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  report r;
  s.describe(r);
  r.add("type", "type", o.type);
  r.add("n", "size", fmt::format("{} x {} x {} (m x n x k)", m, n, k), n);
  r.note("m", m);
  r.note("k", k);
  r.add("tile", "tile", fmt::format("{} ({} x {} x {} tiles)", tile, tm, tn, tk), tile);
  r.add_integer("tasks", "tasks", static_cast<std::int64_t>(tasks));
  r.add("seconds", "time",
        o.repeat > 1
            ? fmt::format("{} (best of {}, mean {})", format_seconds(best), o.repeat, format_seconds(total / o.repeat))
            : format_seconds(best),
        best);
  r.note("mean_seconds", total / o.repeat);
  r.note("repeat", o.repeat);
  r.add("gflops", "GFLOP/s", fmt::format("{:.2f}", flops / best * 1e-9), flops / best * 1e-9);
  r.add("scaled_error", "error",
        fmt::format("{:.3g}  (|error| / (sqrt(k) eps sum |a||b|) on {} rows, right below 4)", worst, samples), worst);
  r.note("rows_checked", samples);
  r.note("error_ok", right_answer);
  s.finish(r);
  if (!right_answer) {
    fmt::print(stderr, "error: the product is wrong: scaled error {:.3g}, expected below 4\n", worst);
    return 1;
  }
  return 0;
}

}  // namespace

void add_gemm(command_table& to) {
  auto options = std::make_shared<gemm_options>();
  command_table& sub = to.add_command("gemm", "Multiply two random matrices in tiles, and check sampled rows");
  const value_range sizes = between(1, std::int64_t{1} << 20);
  sub.add(
      {{"--n", &options->n, "N", "columns of B and C; also m and k unless given", {.range = sizes, .required = true}},
       {"--m", &options->m, "N", "rows of A and C", {.range = sizes}},
       {"--k", &options->k, "N", "columns of A, rows of B", {.range = sizes}},
       {"--tile",
        &options->tile,
        "N",
        "rows and columns of a tile; by default 128 to 512, growing with the size",
        {.range = between(1, std::int64_t{1} << 16)}},
       {"--repeat",
        &options->repeat,
        "N",
        "multiply N times and report the best time",
        {.range = between(1, 1000000), .shows_default = true}},
       {"--type", &options->type, "", "element type: f64 or f32", {.choices = {"f64", "f32"}, .shows_default = true}}});
  options->add_run_options(sub);
  sub.footer =
      "Example:\n  tessera gemm --n 2048 --tile 256 --config configs/sim_one.toml --json gemm.json\n"
      "Ends with 1 when a sampled row differs from the reference by more than rounding.";
  sub.run = [options] { return options->type == "f32" ? run<float>(*options) : run<double>(*options); };
}

}  // namespace tessera::apps
