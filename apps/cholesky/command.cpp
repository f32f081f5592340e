#include "apps/cholesky/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "apps/cholesky/factorization.hpp"
#include "apps/common/retry_on_loss.hpp"
#include "apps/common/session.hpp"
#include "core/base/units.hpp"
#include "libraries/matrix_market/symmetric.hpp"

namespace tessera::apps {
namespace {

struct cholesky_options : command_options {
  std::string matrix;
  std::int64_t n = 0, tile = 0;
  int repeat = 1;
  std::string rhs = "random";
};

/// The matrix to be factorized: from a file, or random and diagonally dominant.
class problem {
 public:
  explicit problem(const cholesky_options& o) : m_seed(o.seed) {
    if (!o.matrix.empty()) {
      m_sparse = matrix_market::symmetric_of(matrix_market::read(o.matrix));
      m_n = m_sparse.n;
    } else {
      m_n = o.n;
    }
    if (m_n <= 0) throw error(error_kind::input, "the matrix has no rows", o.matrix);
  }
  std::int64_t n() const noexcept { return m_n; }

  /// Submits tasks that write the tiles on and below the diagonal.
  void write_tiles(runtime& rt, tiled_matrix<double>& a) const {
    const std::int64_t tiles = a.counts()[0], tile = a.block_extents()[0];
    for (std::int64_t tj = 0; tj < tiles; ++tj)
      for (std::int64_t ti = tj; ti < tiles; ++ti)
        rt.submit(
            "assemble", [this, ti, tj, tile](matrix_view<double> t) { fill_tile(t, ti * tile, tj * tile); },
            write(a(ti, tj)));
  }

  /// y = A x and ||A||_inf; sums in long double.
  void multiply(std::span<const double> x, std::span<double> y) const {
    if (!m_sparse.starts.empty()) return matrix_market::multiply(m_sparse, x, y);
    std::vector<long double> sums(x.size(), 0);
    for (std::int64_t j = 0; j < m_n; ++j)
      for (std::int64_t i = j; i < m_n; ++i) {
        const double v = element(i, j);
        sums[static_cast<std::size_t>(i)] += static_cast<long double>(v) * x[static_cast<std::size_t>(j)];
        if (i != j) sums[static_cast<std::size_t>(j)] += static_cast<long double>(v) * x[static_cast<std::size_t>(i)];
      }
    std::transform(sums.begin(), sums.end(), y.begin(), [](long double s) { return static_cast<double>(s); });
  }
  double norm() const {
    if (!m_sparse.starts.empty()) return matrix_market::infinity_norm(m_sparse);
    std::vector<double> sums(static_cast<std::size_t>(m_n), 0);
    for (std::int64_t j = 0; j < m_n; ++j)
      for (std::int64_t i = j; i < m_n; ++i) {
        const double v = std::abs(element(i, j));
        sums[static_cast<std::size_t>(i)] += v;
        if (i != j) sums[static_cast<std::size_t>(j)] += v;
      }
    return *std::max_element(sums.begin(), sums.end());
  }

 private:
  double element(std::int64_t i, std::int64_t j) const {  // i >= j
    return i == j ? static_cast<double>(m_n)
                  : noise(m_seed, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j));
  }
  void fill_tile(matrix_view<double> t, std::int64_t row, std::int64_t column) const {
    const std::int64_t rows = t.extent(0), columns = t.extent(1);
    if (m_sparse.starts.empty()) {
      for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t i = 0; i < rows; ++i)
          t(i, j) = element(std::max(row + i, column + j), std::min(row + i, column + j));
      return;
    }
    std::fill(t.begin(), t.end(), 0.0);
    for (std::int64_t j = 0; j < columns; ++j) {
      const auto begin = m_sparse.rows.begin() + m_sparse.starts[static_cast<std::size_t>(column + j)];
      const auto end = m_sparse.rows.begin() + m_sparse.starts[static_cast<std::size_t>(column + j + 1)];
      for (auto at = std::lower_bound(begin, end, row); at != end && *at < row + rows; ++at) {
        const double v = m_sparse.values[static_cast<std::size_t>(at - m_sparse.rows.begin())];
        t(*at - row, j) = v;
        if (row == column) t(j, *at - row) = v;  // diagonal tiles are kept whole
      }
    }
  }

  std::uint64_t m_seed;
  std::int64_t m_n = 0;
  matrix_market::lower_triangle m_sparse;
};

std::int64_t default_tile(std::int64_t n) { return n <= 512 ? 64 : n <= 2048 ? 128 : n <= 8192 ? 256 : 512; }

int run(const cholesky_options& o) {
  const problem p(o);
  const std::int64_t n = p.n(), tile = std::min(o.tile > 0 ? o.tile : default_tile(n), n);
  check_tiles(n, tile);
  session s(o.placed_by_cost());
  runtime& rt = s.rt();
  // The lower triangle, and the other half of the tiles on the diagonal.
  s.require_memory(static_cast<double>(n) * static_cast<double>(n + tile) / 2 * sizeof(double),
                   "the tiles of the matrix");
  const std::int64_t tiles = (n + tile - 1) / tile;
  auto a = rt.make_matrix<double>("A", {n, n}, {tile, tile});
  auto info = rt.make_array<std::int32_t>("info", {tiles}, {1});
  auto b = rt.make_matrix<double>("b", {n, 1}, {tile, 1});

  double best = 0, total = 0;
  std::vector<double> right(static_cast<std::size_t>(n)), x(right.size()), product(right.size());
  for (std::size_t i = 0; i < right.size(); ++i) right[i] = o.rhs == "ones" ? 1.0 : noise(o.seed ^ 0xb, i, 0);
  retry_on_loss(rt, [&] {
    best = std::numeric_limits<double>::infinity(), total = 0;
    {
      const progress shown(rt, "cholesky",
                           static_cast<std::uint64_t>(o.repeat) *
                               (factorization_tasks(tiles) + static_cast<std::uint64_t>(tiles * (tiles + 1) / 2)),
                           o.quiet);
      for (int k = 0; k < o.repeat; ++k) {
        p.write_tiles(rt, a);
        rt.fence();
        const auto started = std::chrono::steady_clock::now();
        factorize(rt, a, info, memory_budget_of(rt));
        rt.fence();
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
        best = std::min(best, seconds);
        total += seconds;
      }
    }
    check_pivots(info, tile);
    for (std::size_t k = 0; k < b.size(); ++k) {
      auto block = b.block(k).write();
      std::copy_n(right.begin() + static_cast<std::ptrdiff_t>(k) * tile, block.size(), block.begin());
    }
    solve(rt, a, b);
    rt.fence();
    for (std::size_t k = 0; k < b.size(); ++k) {
      const auto block = b.block(k).read();
      std::copy(block.begin(), block.end(), x.begin() + static_cast<std::ptrdiff_t>(k) * tile);
    }
    rt.fence();
  });

  // The backward error of the solution, as in LINPACK: a few units for a backward stable method.
  p.multiply(x, product);
  double residual = 0, x_norm = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    residual = std::max(residual, std::abs(product[i] - right[i]));
    x_norm = std::max(x_norm, std::abs(x[i]));
  }
  const double scale = p.norm() * x_norm * static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  const double scaled = residual / scale;
  const bool right_answer = scaled < 30;  // false for NaN too

  const double flops = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) / 3;
  report r;
  s.describe(r);
  r.add("matrix", "matrix", o.matrix.empty() ? fmt::format("random, seed {}", o.seed) : o.matrix);
  r.add_integer("n", "n", n);
  r.add("tile", "tile", fmt::format("{} ({} x {} tiles)", tile, tiles, tiles), tile);
  r.add_integer("tasks", "tasks", static_cast<std::int64_t>(factorization_tasks(tiles)));
  r.add("seconds", "time",
        o.repeat > 1
            ? fmt::format("{} (best of {}, mean {})", format_seconds(best), o.repeat, format_seconds(total / o.repeat))
            : format_seconds(best),
        best);
  r.note("mean_seconds", total / o.repeat);
  r.note("repeat", o.repeat);
  r.add("gflops", "GFLOP/s", fmt::format("{:.2f}", flops / best * 1e-9), flops / best * 1e-9);
  r.add("scaled_residual", "residual", fmt::format("{:.3g}  (||Ax-b|| / (||A|| ||x|| n eps), right below 30)", scaled),
        scaled);
  r.note("residual_ok", right_answer);
  s.finish(r);
  if (!right_answer) {
    fmt::print(stderr, "error: the solution is wrong: scaled residual {:.3g}, expected below 30\n", scaled);
    return 1;
  }
  return 0;
}

}  // namespace

void add_cholesky(command_table& to) {
  auto options = std::make_shared<cholesky_options>();
  command_table& sub =
      to.add_command("cholesky", "Factorize a symmetric positive definite matrix in tiles, and solve with it");
  sub.add(
      {{"--matrix",
        &options->matrix,
        "FILE",
        "Matrix Market file: real, symmetric positive definite",
        {.excludes = {"--n"}}},
       {"--n", &options->n, "N", "order of a random matrix instead", {.range = between(1, std::int64_t{1} << 20)}}});
  sub.add({{"--tile",
            &options->tile,
            "N",
            "rows and columns of a tile; by default 64 to 512, growing with n",
            {.range = between(1, std::int64_t{1} << 16)}},
           {"--repeat",
            &options->repeat,
            "N",
            "factorize N times and report the best time",
            {.range = between(1, 1000000), .shows_default = true}},
           {"--rhs",
            &options->rhs,
            "",
            "right-hand side: random or ones",
            {.choices = {"random", "ones"}, .shows_default = true}}});
  options->add_run_options(sub);
  sub.footer =
      "Example:\n  tessera cholesky --matrix apps/cholesky/data/bcsstk09.mtx --config configs/sim_two.toml --stats\n"
      "Ends with 1 when the scaled residual is 30 or more, 6 when the matrix is not positive definite.";
  sub.check = [options] {
    if (options->matrix.empty() && options->n == 0)
      throw error(error_kind::usage, "cholesky needs a matrix", "the command line", "give --matrix FILE or --n N");
  };
  sub.run = [options] { return run(*options); };
}

}  // namespace tessera::apps
