#include "libraries/sparse/solver/lobpcg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/base/error.hpp"
#include "libraries/sparse/solver/conjugate_step.hpp"
#include "libraries/sparse/solver/convergence.hpp"
#include "libraries/sparse/solver/copies.hpp"
#include "libraries/sparse/solver/deflation.hpp"
#include "libraries/sparse/solver/diagonal_mass.hpp"
#include "libraries/sparse/solver/iterated_pairs.hpp"
#include "libraries/sparse/solver/mass.hpp"
#include "libraries/sparse/solver/preconditioning.hpp"
#include "libraries/sparse/solver/scale.hpp"
#include "libraries/sparse/solver/subspace.hpp"

namespace tessera::sparse {
namespace {

std::int64_t block_for(const eigen_options& o) {
  if (o.which == spectrum_end::both)
    throw error(error_kind::usage, "LOBPCG goes to one end of the spectrum", "lobpcg", "Lanczos finds both");
  require_block(o);
  if (o.block != 0) return o.block;
  return (o.pairs + std::max<std::int64_t>(2, o.pairs / 4) + 3) / 4 * 4;
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

/// The solver as a program: six block vectors, three more where there is a mass matrix, and the products of their
/// columns.
class iteration {
 public:
  /// The small problem has three blocks. Where they are most of all directions, those that are left depend on each
  /// other nearly, and residuals stay at what rounding makes of that.
  static constexpr int min_blocks = 10;

  iteration(runtime& rt, const csr_matrix& a, const eigen_options& o, std::int64_t b, const stopping_rule& rule)
      : m_a(a),
        m_options(o),
        m_rule(rule),
        m_b(b),
        m_runtime(rt),
        m_preconditioner(made_for(0)),
        m_program(rt, a, o.program.for_columns(b)) {
    m_x.set(started_at(o, a.rows, b));
  }

  /// X becomes Ritz vectors of its span, and AX is multiplied again. Directions stay, unless products are lost.
  void start() {
    std::vector<double> growth(static_cast<std::size_t>(2 * m_b), 1.0);
    if (m_has_directions && !lost_products()) {
      const std::vector<double> before = m_growth.values();
      std::copy(before.begin() + m_b, before.end(), growth.begin() + m_b);
    } else {
      const std::vector<double> none(static_cast<std::size_t>(m_a.rows * m_b), 0.0);
      m_p.set(none), m_ap.set(none), m_bp.set(none);
    }
    m_has_directions = true;
    m_growth.set(growth);
    if (m_deflation) m_deflation->project(m_x);
    apply(m_a, m_x, m_ax);
    if (m_mass != nullptr) apply(*m_mass, m_x, m_bx);
    gram(m_x, m_bx, m_xx);
    gram(m_x, m_ax, m_x_ax);
    record_ritz_vectors(m_x_ax, m_xx, m_options.which, m_start, m_values, m_minus_values);
    combine(m_x, m_start, m_x);
    combine(m_ax, m_start, m_ax);
    if (m_mass != nullptr) combine(m_bx, m_start, m_bx);
    m_program.run();
    if (has_small_shift()) shift_preconditioner();
    measure();
    m_program.run();
  }

  loop_outcome iterate(int most, int before) {
    const auto converged = [this] {
      return is_stopped(m_options) || lost_products() || has_small_shift() || pairs_done() == m_options.pairs;
    };
    int renewed = 0;
    const auto after = [&](int k) {
      // With a lag iterations are under way which have not seen the last ones.
      if (k > renewed && products_aged()) {
        renew_products();
        renewed = k + m_options.lag;
      }
      if (m_options.report)
        m_options.report(m_rule.progress(before + k, m_values.values(), m_norms.values(), m_options.pairs));
    };
    return m_program.while_not(
        converged, [this] { step(); },
        {.max_iterations = most, .after_each = after, .lag = m_options.lag, .watched = {m_values, m_norms, m_growth}});
  }

  /// Whether AX cannot be products with A: a Ritz value is beyond the norm, or has gone back, which is impossible where
  /// the space contains X. X itself is still good.
  bool lost_products() const {
    const std::vector<double> values = m_values.values(), growth = m_growth.values();
    return !std::ranges::all_of(values, [&](double v) { return std::abs(v) <= 1.01 * m_rule.norm; }) ||
           !std::ranges::all_of(growth, [](double g) { return std::isfinite(g); });
  }

  std::int64_t pairs_done() const { return m_rule.pairs_done(m_values.values(), m_norms.values(), m_options.pairs); }

  void give(eigenpairs& to) const {
    give_pairs(to, m_rule, m_options.pairs, {m_values.values(), m_norms.values(), m_x.values(), m_xx.values()});
    mark_clustered(to.values, m_values.values().back());
    to.panels = m_program.panels();
  }

 private:
  std::optional<linear_operator> made_for(double shift) const {
    if (m_options.preconditioner) return m_options.preconditioner;
    return preconditioner_for(m_runtime, m_a, m_options, shift);
  }
  /// Whether Ritz values have shown that the end of the spectrum is farther out than the preconditioner assumes.
  bool has_small_shift() const {
    return m_shifts && is_too_small(m_shift, m_values.values()[0], m_options.which, m_rule.rounding);
  }
  void shift_preconditioner() {
    m_shift = shift_for(m_values.values()[0], m_options.which);
    m_preconditioner = made_for(m_shift);
  }

  /// The products with A and B of the iteration are sums of earlier ones, and so are their errors. Residuals can be no
  /// smaller than those of AX. Those of AP decide how well a step goes, and enter AX as far as X moves by them.
  bool products_aged() const {
    constexpr double max_of_p = 1e5, part_of_residual = 0.1;
    const std::vector<double> values = m_values.values(), growth = m_growth.values();
    double wanted = std::numeric_limits<double>::infinity();
    for (const double v : std::span(values).first(static_cast<std::size_t>(m_options.pairs)))
      wanted = std::min(wanted, m_rule.wanted(v));
    const double unit = std::numeric_limits<double>::epsilon() * m_rule.norm;
    const auto of_p = growth.begin() + m_b;
    return *std::max_element(growth.begin(), of_p) * unit > part_of_residual * wanted ||
           *std::max_element(of_p, growth.end()) > max_of_p;
  }
  void renew_products() {
    apply(m_a, m_x, m_ax), apply(m_a, m_p, m_ap);
    if (m_mass != nullptr) apply(*m_mass, m_x, m_bx), apply(*m_mass, m_p, m_bp);
    measure();
    small_operation("renewed", {}, std::span(&m_growth, 1),
                    [](std::span<const small_view>, std::span<const small_view> to) {
                      std::fill_n(to[0].data, to[0].rows * to[0].columns, 1.0);
                    });
  }

  /// One pass over the rows for the products with A R, the pencil, and one pass for everything else.
  void step() {
    apply(m_a, m_r, m_ar);
    if (m_mass != nullptr) {
      apply(*m_mass, m_r, m_br);
      gram(m_r, m_br, m_rr);
    }
    gram(m_x, m_ar, m_x_ar);
    gram(m_r, m_ar, m_r_ar);
    gram(m_p, m_ar, m_p_ar);
    gram(m_x, m_br, m_xr);
    gram(m_br, m_p, m_rp);
    solve_pencil();
    const block_vector basis[] = {m_x, m_r, m_p}, next[] = {m_x, m_p};
    combine(basis, m_coefficients, next);
    const block_vector times_a[] = {m_ax, m_ar, m_ap}, next_times_a[] = {m_ax, m_ap};
    combine(times_a, m_coefficients, next_times_a);
    if (m_mass != nullptr) {
      const block_vector times_b[] = {m_bx, m_br, m_bp}, next_times_b[] = {m_bx, m_bp};
      combine(times_b, m_coefficients, next_times_b);
    }
    // Normalizing tiny steps amplifies rounding errors in the deflated directions. Project them out: the iteration
    // would go there where these are further out.
    if (m_deflation) m_deflation->project(m_p, m_ap, m_bp);
    measure();
  }

  /// Residuals, and all products of columns that need no A R and B R. Those of X with P take the products of X, whose
  /// errors are smaller.
  void measure() {
    record_residuals(m_ax, m_bx, m_minus_values, m_residual, m_norms);
    if (m_preconditioner) apply(*m_preconditioner, m_residual, m_r);
    if (m_deflation) m_deflation->project(m_r);
    gram(m_x, m_bx, m_xx);
    gram(m_x, m_ax, m_x_ax);
    gram(m_bx, m_p, m_xp);
    gram(m_ax, m_p, m_x_ap);
    gram(m_p, m_bp, m_pp);
    gram(m_p, m_ap, m_p_ap);
    if (m_mass == nullptr) gram(m_r, m_r, m_rr);
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
    of_values,
    of_growth
  };

  void solve_pencil() {
    const small_matrix from[] = {m_x_ax, m_r_ar, m_p_ap, m_x_ar, m_x_ap,  m_p_ar,   m_xx,    m_rr,
                                 m_pp,   m_xr,   m_xp,   m_rp,   m_norms, m_values, m_growth};
    const small_matrix to[] = {m_coefficients, m_values, m_minus_values, m_growth};
    small_operation(
        "rayleigh_ritz", from, to,
        [b = m_b, end = m_options.which, rule = m_rule](
            std::span<const small_view> in, std::span<const small_view> out) { make_step(b, end, rule, in, out); });
  }

  static void make_step(std::int64_t b, spectrum_end end, const stopping_rule& rule, std::span<const small_view> in,
                        std::span<const small_view> out) {
    // R^T A P is the transposed P^T A R.
    std::vector<double> turned(static_cast<std::size_t>(b * b));
    for (std::int64_t i = 0; i < b; ++i)
      for (std::int64_t j = 0; j < b; ++j) turned[static_cast<std::size_t>(j * b + i)] = in[of_p_ar](i, j);
    const small_view beside_a[] = {in[of_x_ar], in[of_x_ap], {turned.data(), b, b}};
    // A pair that is done adds no new direction, and goes on in the small space: soft locking. A direction whose
    // product is worth nothing, as may be with a lag, is left out.
    constexpr double worthless = 1e10;
    std::vector<bool> used(static_cast<std::size_t>(3 * b), true);
    for (std::int64_t j = 0; j < b; ++j) {
      used[static_cast<std::size_t>(b + j)] = !rule.done(in[of_values](0, j), in[of_norms](0, j));
      used[static_cast<std::size_t>(2 * b + j)] = in[of_growth](0, b + j) < worthless;
    }
    conjugate_step step = conjugate_step_of({3 * b, assembled(b, in.subspan(of_x_ax, 3), beside_a),
                                             assembled(b, in.subspan(of_xx, 3), in.subspan(of_xr, 3))},
                                            b, end, used, elements_of(in[of_growth]));
    for (std::int64_t j = 0; j < b; ++j) {
      const auto k = static_cast<std::size_t>(j);
      const double back = (step.values[k] - in[of_values](0, j)) * (end == spectrum_end::largest ? -1 : 1);
      if (!(back <= rule.wanted(step.values[k]))) step.growth[k] = std::numeric_limits<double>::infinity();
    }
    for (std::int64_t i = 0; i < 3 * b; ++i)
      for (std::int64_t j = 0; j < b; ++j) {
        out[0](i, j) = step.vectors[static_cast<std::size_t>(i * b + j)];
        out[0](i, b + j) = step.directions[static_cast<std::size_t>(i * b + j)];
      }
    give_values(step.values, out[1], out[2]);
    std::ranges::copy(step.growth, out[3].data);
  }

  block_vector made(const char* name) { return m_program.vector(name, m_b); }
  /// A block of products with B; without B, the block itself.
  block_vector times_mass(const char* name, const block_vector& of) { return m_mass != nullptr ? made(name) : of; }
  small_matrix products(const char* name) { return m_program.small(name, m_b, m_b); }

  const csr_matrix& m_a;
  const eigen_options& m_options;
  stopping_rule m_rule;
  std::int64_t m_b;
  const csr_matrix* m_mass = m_options.mass;
  runtime& m_runtime;
  const preconditioning m_kind = chosen_preconditioning(m_a, m_options);
  const bool m_shifts =
      !m_options.preconditioner && (m_kind == preconditioning::jacobi || m_kind == preconditioning::block_jacobi);
  double m_shift = 0;  ///< of the matrix in the preconditioner
  std::optional<linear_operator> m_preconditioner;
  program m_program;
  bool m_has_directions = false;  ///< or zeros in their place
  std::optional<deflation> m_deflation = deflation::of(m_program, m_a.rows, m_options, m_b, &m_a);
  block_vector m_x = made("X"), m_ax = made("AX"), m_r = made("R"), m_ar = made("AR"), m_p = made("P"),
               m_ap = made("AP");
  /// A block of its own where a preconditioner is no step in place.
  block_vector m_residual = m_preconditioner && !m_preconditioner->works_in_place() ? made("residual") : m_r;
  block_vector m_bx = times_mass("BX", m_x), m_br = times_mass("BR", m_r), m_bp = times_mass("BP", m_p);
  small_matrix m_xx = products("X'X"), m_x_ax = products("X'AX"), m_xr = products("X'R"), m_x_ar = products("X'AR"),
               m_xp = products("X'P"), m_x_ap = products("X'AP"), m_rr = products("R'R"), m_r_ar = products("R'AR"),
               m_rp = products("R'P"), m_p_ar = products("P'AR"), m_pp = products("P'P"), m_p_ap = products("P'AP"),
               m_start = products("start"), m_coefficients = m_program.small("coefficients", 3 * m_b, 2 * m_b),
               m_values = m_program.small("values", 1, m_b), m_minus_values = m_program.small("-values", 1, m_b),
               m_norms = m_program.small("residuals", 1, m_b), m_growth = m_program.small("growth", 1, 2 * m_b);
};

/// Of a mass matrix, if there is one, whose smallest eigenvalue is 1.
eigenpairs solved(runtime& rt, const csr_matrix& a, const eigen_options& o) {
  return iterated_pairs<iteration>(rt, a, o, block_for(o));
}

eigenpairs of_any_mass(runtime& rt, const csr_matrix& a, const eigen_options& o) {
  if (o.mass == nullptr) return solved(rt, a, o);
  const scaled_mass b = scaled(rt, *o.mass, a.rows, o);
  eigen_options how = o;
  how.mass = &b.matrix;
  if (o.compare == criterion::absolute) how.tolerance *= b.least;
  const double length = 1 / std::sqrt(b.least);  // of vectors, where B is scaled
  if (o.report)
    how.report = [&, least = b.least](eigen_progress now) {
      now.largest_residual *= length;
      for (pair_progress& p : now.of_pairs) p.value /= least, p.residual *= length, p.wanted *= length;
      o.report(now);
    };
  eigenpairs found = solved(rt, a, how);
  for (double& x : found.vectors) x *= length;
  for (eigenvalue& e : found.values) e.value /= b.least, e.error_bound /= b.least, e.residual *= length;
  return found;
}

}  // namespace

double min_memory_of_lobpcg(const csr_matrix& a, const eigen_options& o) {
  const std::int64_t b = block_for(o);
  const bool has_mass = o.mass != nullptr && !has_diagonal_mass(a, o);  // a diagonal one becomes a part of A
  const std::int64_t kept =
      (has_mass ? 9 : 6) * b + blocks_of_preconditioner(o) * b + deflated_columns(a, o) * (has_mass ? 3 : 2);
  const bool small = is_small(a, o, b, iteration::min_blocks);
  const double solving = static_cast<double>(sizeof(double)) * static_cast<double>(a.rows) *
                             static_cast<double>((small ? a.rows : kept) + o.pairs) +
                         (small ? 0 : matrix_of_preconditioner(a, o));
  return std::max(solving, min_memory_of_search(a, o)) + memory_of_copies(a, o);
}

eigenpairs lobpcg(runtime& rt, const csr_matrix& a, const eigen_options& given) {
  require_solvable(a, given);
  const eigen_options o = with_early_stop(given);
  if (o.orthogonal != reorthogonalization::full)
    refuse_option("LOBPCG", "choice of reorthogonalization", "Lanczos does");
  const auto solve = [&rt](const csr_matrix& plain, const eigen_options& options) {
    return at_moderate_scale(plain, options, [&rt](const csr_matrix& scaled, const eigen_options& how) {
      return of_any_mass(rt, scaled, how);
    });
  };
  eigenpairs found = has_diagonal_mass(a, o) ? with_diagonal_mass(a, o, "LOBPCG", solve) : solve(a, o);
  found.stopped_by = stopped_by(o);
  if (!std::ranges::all_of(found.values, [](const eigenvalue& e) { return std::isfinite(e.value); }))
    throw error(error_kind::input, "an eigenvalue is too large for a double", a.name, "divide its entries by a number");
  return found;
}

}  // namespace tessera::sparse
