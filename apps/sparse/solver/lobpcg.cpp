#include "apps/sparse/solver/lobpcg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "apps/lapack/lapack.hpp"
#include "core/base/error.hpp"

namespace tessera::sparse {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// When a pair is done.
struct stopping_rule {
  criterion compare;
  double tolerance, norm;
  double rounding;  ///< residuals below are as good as zero
  bool by_tolerance(double value, double residual) const {
    const double scale = compare == criterion::relative ? std::abs(value) : compare == criterion::norm ? norm : 1;
    return residual <= tolerance * scale;
  }
  bool done(double value, double residual) const { return by_tolerance(value, residual) || residual <= rounding; }
};

stopping_rule rule_for(const csr_matrix& a, const lobpcg_options& o) {
  const double norm = infinity_norm(a);
  return {o.compare, o.tolerance, norm, 10 * epsilon * std::sqrt(static_cast<double>(a.rows)) * norm};
}

eigenvalue judged(const stopping_rule& rule, double value, double residual) {
  const bool by_tolerance = rule.by_tolerance(value, residual);
  return {value, residual, residual + rule.rounding, rule.done(value, residual),
          !by_tolerance && residual <= rule.rounding};
}

std::int64_t block_for(const csr_matrix& a, const lobpcg_options& o) {
  if (o.pairs < 1) throw error(error_kind::usage, "no pairs are asked for", "lobpcg", "at least one");
  if (o.pairs > a.rows)
    throw error(error_kind::usage, fmt::format("{} pairs of a matrix of {} rows", o.pairs, a.rows), a.name,
                fmt::format("it has {} eigenvalues", a.rows));
  if (o.block != 0 && o.block < o.pairs)
    throw error(error_kind::usage, fmt::format("a block of {} cannot hold {} pairs", o.block, o.pairs), "the block",
                "each vector of the block becomes one pair; a few more than the pairs make the last ones converge");
  if (o.block != 0) return o.block;
  return (o.pairs + std::max<std::int64_t>(2, o.pairs / 4) + 3) / 4 * 4;
}

bool is_dense(const csr_matrix& a, std::int64_t block) { return a.rows < 3 * block; }

/// Numbers between -1 and 1, the same everywhere.
std::vector<double> random_start(std::int64_t count, std::uint64_t seed) {
  std::vector<double> numbers(static_cast<std::size_t>(count));
  std::uint64_t state = seed * 0xD1342543DE82EF95u + 1;
  for (double& x : numbers) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    x = static_cast<double>(state >> 11) * 0x1.0p-52 - 1;
  }
  return numbers;
}

/// The products of [X R P] from those of its blocks, b x b each: of X, R and P with themselves, and of X with R, X with
/// P, R with P.
std::vector<double> assembled(std::int64_t b, std::span<const small_view> xx_rr_pp,
                              std::span<const small_view> xr_xp_rp) {
  const std::int64_t m = 3 * b;
  std::vector<double> whole(static_cast<std::size_t>(m * m));
  const auto put = [&](std::int64_t row, std::int64_t column, const small_view& part) {
    for (std::int64_t i = 0; i < b; ++i)
      for (std::int64_t j = 0; j < b; ++j) {
        whole[static_cast<std::size_t>((row * b + i) * m + column * b + j)] = part(i, j);
        whole[static_cast<std::size_t>((column * b + j) * m + row * b + i)] = part(i, j);
      }
  };
  for (std::int64_t k = 0; k < 3; ++k) put(k, k, xx_rr_pp[static_cast<std::size_t>(k)]);
  put(0, 1, xr_xp_rp[0]), put(0, 2, xr_xp_rp[1]), put(1, 2, xr_xp_rp[2]);
  return whole;
}

/// The solver as a program: six block vectors, and the products of their columns.
class iteration {
 public:
  iteration(runtime& rt, const csr_matrix& a, const lobpcg_options& o, std::int64_t b, const stopping_rule& rule)
      : m_a(a), m_options(o), m_rule(rule), m_b(b), m_program(rt, a, o.program) {
    if (o.jacobi) m_jacobi = preconditioner::jacobi(a);
    m_x.set(random_start(a.rows * b, o.seed));
  }

  /// X becomes Ritz vectors of its span, AX is multiplied anew, and there are no directions yet.
  void start() {
    const std::vector<double> none(static_cast<std::size_t>(m_a.rows * m_b), 0.0);
    m_p.set(none), m_ap.set(none);
    mxm(m_a, m_x, m_ax);
    gram(m_x, m_x, m_xx);
    gram(m_x, m_ax, m_x_ax);
    const small_matrix from[] = {m_x_ax, m_xx}, to[] = {m_start, m_values, m_minus_values};
    small_operation("start", from, to,
                    [b = m_b, end = m_options.which](std::span<const small_view> in, std::span<const small_view> out) {
                      const auto numbers = [](const small_view& v) {
                        return std::vector<double>(v.data, v.data + v.rows * v.columns);
                      };
                      const ritz_step step = rayleigh_ritz({b, numbers(in[0]), numbers(in[1])}, b, end,
                                                           std::vector<bool>(static_cast<std::size_t>(b), true));
                      std::ranges::copy(step.vectors, out[0].data);
                      give_values(step, out[1], out[2]);
                    });
    combine(m_x, m_start, m_x);
    combine(m_ax, m_start, m_ax);
    measure();
    m_program.run();
  }

  loop_outcome iterate(int most, int before) {
    const auto converged = [this] { return lost_products() || pairs_done() == m_options.pairs; };
    const auto tell = [&](int k) {
      if (!m_options.report) return;
      const std::vector<double> residuals = m_norms.values();
      m_options.report({before + k, pairs_done(), m_options.pairs,
                        *std::max_element(residuals.begin(), residuals.begin() + m_options.pairs)});
    };
    return m_program.while_not(converged, [this] { step(); }, {.most_iterations = most, .after_each = tell});
  }

  /// Whether rounding has made of AX and AP what no products with A are: a Ritz value beyond the norm. Where X moves by
  /// tiny directions only, making those of unit length makes their errors large. X itself is still good.
  bool lost_products() const {
    const std::vector<double> values = m_values.values();
    return !std::ranges::all_of(values, [&](double v) { return std::abs(v) <= 1.01 * m_rule.norm; });
  }

  std::int64_t pairs_done() const {
    const std::vector<double> values = m_values.values(), residuals = m_norms.values();
    std::int64_t done = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(m_options.pairs); ++k)
      done += m_rule.done(values[k], residuals[k]);
    return done;
  }

  void give(eigenpairs& to) const {
    const std::vector<double> values = m_values.values(), residuals = m_norms.values(), x = m_x.values(),
                              overlap = m_xx.values();
    for (std::size_t k = 0; k < static_cast<std::size_t>(m_options.pairs); ++k)
      to.values.push_back(judged(m_rule, values[k], residuals[k]));
    for (std::int64_t i = 0; i < m_a.rows; ++i)
      for (std::int64_t j = 0; j < m_options.pairs; ++j) to.vectors.push_back(x[static_cast<std::size_t>(i * m_b + j)]);
    for (std::int64_t i = 0; i < m_options.pairs; ++i)
      for (std::int64_t j = 0; j < m_options.pairs; ++j)
        to.orthogonality = std::max(
            to.orthogonality, std::abs(overlap[static_cast<std::size_t>(i * m_b + j)] - static_cast<double>(i == j)));
    to.panels = m_program.panels();
  }

 private:
  static void give_values(const ritz_step& step, const small_view& values, const small_view& minus) {
    for (std::int64_t j = 0; j < values.columns; ++j) {
      values(0, j) = step.values[static_cast<std::size_t>(j)];
      minus(0, j) = -values(0, j);
    }
  }

  /// One pass over the rows for the products with A R, the pencil, and one pass for everything else.
  void step() {
    mxm(m_a, m_r, m_ar);
    gram(m_x, m_ar, m_x_ar);
    gram(m_r, m_ar, m_r_ar);
    gram(m_p, m_ar, m_p_ar);
    gram(m_x, m_r, m_xr);
    gram(m_r, m_p, m_rp);
    solve_pencil();
    const block_vector basis[] = {m_x, m_r, m_p}, next[] = {m_x, m_p};
    combine(basis, m_coefficients, next);
    const block_vector times_a[] = {m_ax, m_ar, m_ap}, next_times_a[] = {m_ax, m_ap};
    combine(times_a, m_coefficients, next_times_a);
    measure();
  }

  /// Residuals, and all products of columns that need no A R.
  void measure() {
    copy(m_ax, m_r);
    axpy(m_minus_values, m_x, m_r);
    column_norms(m_r, m_norms);
    if (m_jacobi) apply(*m_jacobi, m_r, m_r);
    gram(m_x, m_x, m_xx);
    gram(m_x, m_ax, m_x_ax);
    gram(m_x, m_p, m_xp);
    gram(m_x, m_ap, m_x_ap);
    gram(m_p, m_p, m_pp);
    gram(m_p, m_ap, m_p_ap);
    gram(m_r, m_r, m_rr);
  }

  /// The sources of the small problem, in their order.
  enum source : std::size_t {
    of_x_ax,
    of_r_ar,
    of_p_ap,
    of_x_ar,
    of_x_ap,
    of_p_ar,
    of_xx,
    of_rr,
    of_pp,
    of_xr,
    of_xp,
    of_rp,
    of_norms,
    of_values
  };

  void solve_pencil() {
    const small_matrix from[] = {m_x_ax, m_r_ar, m_p_ap, m_x_ar, m_x_ap, m_p_ar,  m_xx,
                                 m_rr,   m_pp,   m_xr,   m_xp,   m_rp,   m_norms, m_values};
    const small_matrix to[] = {m_coefficients, m_values, m_minus_values};
    small_operation("rayleigh_ritz", from, to,
                    [b = m_b, end = m_options.which, rule = m_rule](std::span<const small_view> in,
                                                                    std::span<const small_view> out) {
                      // R^T A P is the transposed P^T A R.
                      std::vector<double> turned(static_cast<std::size_t>(b * b));
                      for (std::int64_t i = 0; i < b; ++i)
                        for (std::int64_t j = 0; j < b; ++j)
                          turned[static_cast<std::size_t>(j * b + i)] = in[of_p_ar](i, j);
                      const small_view beside_a[] = {in[of_x_ar], in[of_x_ap], {turned.data(), b, b}};
                      // A pair that is done adds no new direction, and goes on in the small space: soft locking.
                      std::vector<bool> used(static_cast<std::size_t>(3 * b), true);
                      for (std::int64_t j = 0; j < b; ++j)
                        used[static_cast<std::size_t>(b + j)] = !rule.done(in[of_values](0, j), in[of_norms](0, j));
                      const ritz_step step = rayleigh_ritz({3 * b, assembled(b, in.subspan(of_x_ax, 3), beside_a),
                                                            assembled(b, in.subspan(of_xx, 3), in.subspan(of_xr, 3))},
                                                           b, end, used);
                      for (std::int64_t i = 0; i < 3 * b; ++i)
                        for (std::int64_t j = 0; j < b; ++j) {
                          out[0](i, j) = step.vectors[static_cast<std::size_t>(i * b + j)];
                          out[0](i, b + j) = step.directions[static_cast<std::size_t>(i * b + j)];
                        }
                      give_values(step, out[1], out[2]);
                    });
  }

  block_vector made(const char* name) { return m_program.vector(name, m_b); }
  small_matrix products(const char* name) { return m_program.small(name, m_b, m_b); }

  const csr_matrix& m_a;
  const lobpcg_options& m_options;
  stopping_rule m_rule;
  std::int64_t m_b;
  std::optional<preconditioner> m_jacobi;
  program m_program;
  block_vector m_x = made("X"), m_ax = made("AX"), m_r = made("R"), m_ar = made("AR"), m_p = made("P"),
               m_ap = made("AP");
  small_matrix m_xx = products("X'X"), m_x_ax = products("X'AX"), m_xr = products("X'R"), m_x_ar = products("X'AR"),
               m_xp = products("X'P"), m_x_ap = products("X'AP"), m_rr = products("R'R"), m_r_ar = products("R'AR"),
               m_rp = products("R'P"), m_p_ar = products("P'AR"), m_pp = products("P'P"), m_p_ap = products("P'AP"),
               m_start = products("start"), m_coefficients = m_program.small("coefficients", 3 * m_b, 2 * m_b),
               m_values = m_program.small("values", 1, m_b), m_minus_values = m_program.small("-values", 1, m_b),
               m_norms = m_program.small("residuals", 1, m_b);
};

/// All eigenvalues of a small matrix; those that are asked for are kept.
eigenpairs dense_pairs(const csr_matrix& a, const lobpcg_options& o, const stopping_rule& rule) {
  const auto n = static_cast<std::size_t>(a.rows);
  std::vector<double> vectors(n * n, 0.0), values(n);
  const auto each_entry = [&](const auto& visit) {
    for (std::size_t i = 0; i < n; ++i)
      for (auto k = static_cast<std::size_t>(a.row_starts[i]); k < static_cast<std::size_t>(a.row_starts[i + 1]); ++k)
        visit(i, static_cast<std::size_t>(a.entry_columns[k]), a.values[k]);
  };
  each_entry([&](std::size_t i, std::size_t j, double value) { vectors[j * n + i] = value; });
  if (lapack::dsyev(static_cast<int>(n), vectors.data(), values.data()) != 0)
    throw error(error_kind::numerical, "the eigenvalues do not converge", a.name);
  eigenpairs found;
  found.dense = true;
  const auto pairs = static_cast<std::size_t>(o.pairs);
  found.vectors.resize(n * pairs);
  for (std::size_t k = 0; k < pairs; ++k) {
    const std::size_t from = o.which == spectrum_end::smallest ? k : n - 1 - k;
    const double* const x = vectors.data() + from * n;
    std::vector<double> r(n);
    for (std::size_t i = 0; i < n; ++i) r[i] = -values[from] * x[i], found.vectors[i * pairs + k] = x[i];
    each_entry([&](std::size_t i, std::size_t j, double value) { r[i] += value * x[j]; });
    double square = 0;
    for (const double v : r) square += v * v;
    found.values.push_back(judged(rule, values[from], std::sqrt(square)));
    for (std::size_t l = 0; l < n; ++l) {
      double overlap = 0;
      for (std::size_t i = 0; i < n; ++i) overlap += x[i] * vectors[l * n + i];
      found.orthogonality = std::max(found.orthogonality, std::abs(overlap - static_cast<double>(l == from)));
    }
  }
  return found;
}

eigenpairs solved(runtime& rt, const csr_matrix& a, const lobpcg_options& o) {
  const std::int64_t b = block_for(a, o);
  const stopping_rule rule = rule_for(a, o);
  eigenpairs found;
  if (is_dense(a, b)) {
    found = dense_pairs(a, o, rule);
  } else {
    iteration solver(rt, a, o, b, rule);
    solver.start();
    // The products with A of the iteration are sums of earlier ones, and lose digits. So A X is made anew where the
    // pairs seem to be done, or the products are lost, and the iteration goes on where they are not.
    while (found.loop.iterations < o.most_iterations && solver.pairs_done() < o.pairs) {
      const loop_outcome more = solver.iterate(o.most_iterations - found.loop.iterations, found.loop.iterations);
      found.loop.iterations += more.iterations;
      found.loop.seconds += more.seconds;
      found.loop.passes = more.passes;
      found.loop.tasks = more.tasks;
      solver.start();
    }
    solver.give(found);
  }
  found.loop.converged = found.converged();
  found.norm = rule.norm;
  found.block = b;
  return found;
}

/// Squares of residuals, and their products with A, must be neither infinite nor as good as zero. A matrix that is too
/// large or small for that is solved as its product with a power of two, which changes no digit; 0: it is not.
int exponent_of_scale(const csr_matrix& a) {
  constexpr double least = 0x1p-200, most = 0x1p200;
  double largest = 0;
  for (const double v : a.values) largest = std::max(largest, std::abs(v));
  return largest == 0 || (largest >= least && largest <= most) ? 0 : -std::ilogb(largest);
}

/// The options for a matrix that is 2^exponent times as large.
lobpcg_options options_for_scale(lobpcg_options o, int exponent) {
  if (o.compare == criterion::absolute) o.tolerance = std::ldexp(o.tolerance, exponent);
  if (o.report)
    o.report = [tell = std::move(o.report), exponent](lobpcg_progress now) {
      now.largest_residual = std::ldexp(now.largest_residual, -exponent);
      tell(now);
    };
  return o;
}

/// What was found of a matrix that is 2^exponent times as large.
eigenpairs scaled_back(eigenpairs found, int exponent) {
  for (eigenvalue& e : found.values) {
    e.value = std::ldexp(e.value, -exponent), e.residual = std::ldexp(e.residual, -exponent);
    // Below the normal numbers the value itself is rounded, by half of the smallest one at most.
    e.error_bound = std::ldexp(e.error_bound, -exponent) + std::numeric_limits<double>::denorm_min();
  }
  found.norm = std::ldexp(found.norm, -exponent);
  return found;
}

}  // namespace

bool eigenpairs::converged() const noexcept { return std::ranges::all_of(values, &eigenvalue::converged); }

double least_memory_of(const csr_matrix& a, const lobpcg_options& o) {
  const std::int64_t b = block_for(a, o);
  const std::int64_t vectors = is_dense(a, b) ? a.rows : 6 * b;
  return static_cast<double>(sizeof(double)) * static_cast<double>(a.rows) * static_cast<double>(vectors + o.pairs);
}

eigenpairs lobpcg(runtime& rt, const csr_matrix& a, const lobpcg_options& o) {
  require_well_formed(a);
  require_symmetric(a);
  if (!(o.tolerance >= 0))
    throw error(error_kind::usage, fmt::format("the tolerance is {}", o.tolerance), "lobpcg", "0 or more");
  if (!std::isfinite(infinity_norm(a)))
    throw error(error_kind::input, "the norm of the matrix is too large for a double", a.name,
                "divide its entries by a number");
  const int exponent = exponent_of_scale(a);
  if (exponent == 0) return solved(rt, a, o);
  return scaled_back(solved(rt, times_power_of_two(a, exponent), options_for_scale(o, exponent)), exponent);
}

}  // namespace tessera::sparse
