#include "libraries/sparse/solver/chebyshev.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "libraries/sparse/solver/chebyshev_filter.hpp"
#include "libraries/sparse/solver/convergence.hpp"
#include "libraries/sparse/solver/copies.hpp"
#include "libraries/sparse/solver/deflation.hpp"
#include "libraries/sparse/solver/diagonal_mass.hpp"
#include "libraries/sparse/solver/iterated_pairs.hpp"
#include "libraries/sparse/solver/joined_pairs.hpp"
#include "libraries/sparse/solver/pace.hpp"
#include "libraries/sparse/solver/ritz_products.hpp"
#include "libraries/sparse/solver/scale.hpp"
#include "libraries/sparse/solver/small_table.hpp"
#include "libraries/sparse/solver/subspace.hpp"

namespace tessera::sparse {
namespace {

/// Of polynomials: where residuals fall slowly, it is doubled. Near the end of a spectrum a polynomial of twice the
/// degree tells eigenvalues apart that are a quarter as far from each other.
constexpr int first_degree = 10, largest_degree = 2560;
/// Behind so many iterations it is seen how fast residuals fall, and so many more are too many.
constexpr std::size_t few_iterations = 8;
constexpr double too_many = 24;
/// Behind so many with the largest degree it is seen whether there is hope.
constexpr std::size_t enough_to_give_up = 24;
/// A polynomial that is less large at the end of the spectrum than this is too small to tell its eigenvalues apart.
constexpr double small_growth = 1e3;

/// More than LOBPCG takes: the last vector of the block decides how fast the others converge.
std::int64_t vectors_for(const eigen_options& o) {
  require_block(o);
  if (o.block != 0) return o.block;
  return (o.pairs + std::max<std::int64_t>(4, o.pairs / 2) + 3) / 4 * 4;
}

/// The products of [Y X], 2b x 2b, from those of Y, of X, and of X with Y.
std::vector<double> assembled(const small_view& yy, const small_view& xx, const small_view& xy) {
  const std::int64_t b = yy.rows, m = 2 * b;
  std::vector<double> whole(static_cast<std::size_t>(m * m));
  const auto put = [&](std::int64_t i, std::int64_t j, double value) {
    whole[static_cast<std::size_t>(i * m + j)] = value;
  };
  for (std::int64_t i = 0; i < b; ++i)
    for (std::int64_t j = 0; j < b; ++j) {
      put(i, j, yy(i, j)), put(b + i, b + j, xx(i, j));
      put(b + i, j, xy(i, j)), put(j, b + i, xy(i, j));
    }
  return whole;
}

/// Whether no direction of the columns is lost to rounding.
bool independent(const small_view& products) {
  const std::int64_t b = products.rows;
  small_table unit(b, b);
  for (std::int64_t i = 0; i < b; ++i)
    for (std::int64_t j = 0; j < b; ++j) {
      if (!(products(i, i) > 0) || !(products(j, j) > 0)) return false;
      unit(i, j) = 0.5 * (products(i, j) + products(j, i)) / std::sqrt(products(i, i)) / std::sqrt(products(j, j));
    }
  return whitening(unit, dependent).columns == b;
}

/// The solver as a program: X, AX, and the three blocks of the filter, of which one becomes A Y and one the residuals.
class filtered_subspace {
 public:
  static constexpr int min_blocks = 3;

  filtered_subspace(runtime& rt, const csr_matrix& a, const eigen_options& o, std::int64_t b, const stopping_rule& rule)
      : m_a(a),
        m_options(o),
        m_rule(rule),
        m_b(b),
        m_program(rt, a, o.program.for_columns(b)),
        m_filter(m_program, a, b, o.degree != 0 ? o.degree : first_degree) {
    m_bounds = spectrum_bounds_beside_deflated(rt, a, o);
    if (!o.deflate.empty()) {
      // Where deflated values lie outside, a polynomial grows there.
      constexpr double aside = 0.1;
      m_with_deflated = spectrum_bounds(rt, a, o.program, o.seed);
      const double outside = std::max(m_bounds.lower - m_with_deflated.lower, m_with_deflated.upper - m_bounds.upper);
      m_filters_beside_deflated = outside > aside * m_bounds.width();
    }
    m_x.set(started_at(o, a.rows, b));
  }

  /// X becomes Ritz vectors of its span, and AX is multiplied again. The filter has a larger degree than before where
  /// that was too slow.
  void start() {
    if (std::exchange(m_slow, false)) m_filter.raise_degree(2 * degree());
    if (m_deflation) m_deflation->project(m_x);
    record_ritz_step(m_a, m_options.which, m_x, m_ax, m_of_x);
    measure();
    m_program.run();
    m_filters_beside_deflated |= m_deflation && deflated_grow();
  }

  loop_outcome iterate(int most, int before) {
    const auto after = [&](int k) {
      if (m_options.report) m_options.report(m_rule.progress(before + k, values(), norms(), m_options.pairs));
    };
    m_pace.restart();
    m_iterations_left = most;
    return m_program.while_not(
        [this] {
          return is_stopped(m_options) || pairs_done() == m_options.pairs || m_hopeless || m_far > 0 || is_slow();
        },
        [this] { step(); },
        {.max_iterations = most, .after_each = after, .lag = m_options.lag, .watched = {m_of_x.values, m_of_x.norms}});
  }

  std::int64_t pairs_done() const { return m_rule.pairs_done(values(), norms(), m_options.pairs); }

  void give(eigenpairs& to) const {
    give_pairs(to, m_rule, m_options.pairs, {values(), norms(), m_x.values(), m_of_x.xx.values()});
    mark_clustered(to.values, m_of_x.values.values().back());
    to.panels = m_program.panels();
    to.degree = degree();
    to.far = m_far;
    to.gave_up = m_hopeless;
  }

 private:
  int degree() const { return static_cast<int>(m_filter.degree()); }

  filter_interval interval_for(const std::vector<double>& ritz, const std::vector<double>& residuals,
                               int degree) const {
    spectrum_interval all = m_bounds;
    // Bounds that a Ritz value is outside of are none. The norm may be that of deflated values, far from all others.
    const auto [least, most] = std::ranges::minmax(ritz);
    if (least < all.lower || most > all.upper) {
      all = {-m_rule.norm, m_rule.norm};
      if (m_filters_beside_deflated)
        all = {std::max(all.lower, least - m_bounds.width()), std::min(all.upper, most + m_bounds.width())};
    }
    // An eigenvalue is within the residual of the outermost Ritz value. A polynomial of a high degree whose growth is
    // measured at a bound that is farther out does not grow within the spectrum.
    if (m_options.which == spectrum_end::smallest) all.lower = std::max(all.lower, ritz[0] - residuals[0]);
    if (m_options.which == spectrum_end::largest) all.upper = std::min(all.upper, ritz[0] + residuals[0]);
    filter_interval made = unwanted(ritz, m_options.which, all, degree);
    // While the outermost Ritz value is far from an eigenvalue, others lie farther out: squares are to be finite there.
    constexpr double far = 1e-2, max_growth = 1e140;
    if (residuals[0] > far * (m_bounds.upper - m_bounds.lower)) {
      const double farthest = std::max(m_bounds.upper - made.centre, made.centre - m_bounds.lower);
      made.half_width = std::max(made.half_width, farthest / std::cosh(std::acosh(max_growth) / made.degree));
      const double outside = std::max(std::abs(made.outermost - made.centre), made.half_width);
      made.outermost = made.centre + std::copysign(outside, made.outermost - made.centre);
    }
    return made;
  }

  /// Whether rounding's part in deflated directions would hide all others, where a deflated value is as far out as it
  /// may be. Not only those do that are beyond all bounds: the interval's end comes near to the outermost Ritz value.
  bool deflated_grow() const {
    constexpr double max_growth = 1e6;
    const std::vector<double> ritz = m_of_x.values.values();
    const filter_interval at = interval_for(ritz, std::vector<double>(ritz.size(), 0.0), degree());
    const double farthest = m_options.which == spectrum_end::largest ? m_with_deflated.upper : m_with_deflated.lower;
    return !(growth(at, farthest) <= max_growth * growth(at, ritz[0]));
  }

  /// Whether the loop ends before all pairs are done: so that the filter gets a larger degree, where residuals fall
  /// slowly and the polynomial is hardly larger at the end of the spectrum than at the innermost vector of the block;
  /// because pairs far out keep the degree low; or because the largest one is too slow as well.
  bool is_slow() {
    m_pace.note(m_rule, values(), norms());
    --m_iterations_left;
    const bool slow = m_pace.iterations_left(few_iterations).value_or(0) > too_many;
    if (!slow && 2 * degree() <= largest_degree) return false;
    const std::vector<double> ritz = m_of_x.values.values();
    const filter_interval at = interval_for(ritz, m_of_x.norms.values(), degree());
    // Where the outermost grows enough, a larger degree is no help to the others: the last ones of the block are at the
    // interval's edge.
    const bool grows = growth(at, ritz[0]) >= small_growth;
    if (slow && (at.degree < degree() || grows)) m_far = far_pairs();
    if (m_far > 0) return true;
    if (m_options.degree != 0) return false;
    if (2 * degree() > largest_degree) {
      m_hopeless = m_pace.iterations_left(enough_to_give_up).value_or(0) > m_iterations_left;
      return m_hopeless;
    }
    return m_slow = !grows;
  }

  /// How many of the first pairs are so exact that the others, orthogonal to them, can have residuals that are small
  /// enough.
  std::int64_t far_pairs() const {
    constexpr double part = 0.1;
    const std::vector<double> at = values(), residuals = norms();
    double least = m_rule.wanted(at[0]);
    for (const double v : at) least = std::min(least, m_rule.wanted(v));
    const double exact = std::max(m_rule.rounding, part * least);
    return std::ranges::find_if(residuals, [&](double r) { return r > exact; }) - residuals.begin();
  }

  std::vector<double> values() const { return first_of(m_of_x.values); }
  std::vector<double> norms() const { return first_of(m_of_x.norms); }
  /// Of the pairs.
  std::vector<double> first_of(const small_matrix& numbers) const {
    std::vector<double> all = numbers.values();
    all.resize(static_cast<std::size_t>(m_options.pairs));
    return all;
  }

  /// The filter's products with A, one more, and one Rayleigh-Ritz step.
  void step() {
    const small_matrix from[] = {m_of_x.values, m_of_x.norms};
    m_filter.prepare(from, [this, degree = degree()](std::span<const small_view> in) {
      return interval_for(elements_of(in[0]), elements_of(in[1]), degree);
    });
    m_filter.run(m_x, m_ax, m_filters_beside_deflated ? &*m_deflation : nullptr);
    const block_vector &y = m_filter.filtered(), &ay = m_filter.following();
    if (m_deflation) m_deflation->project(y);
    apply(m_a, y, ay);
    gram(y, y, m_yy);
    gram(y, ay, m_y_ay);
    gram(m_x, y, m_xy);
    gram(m_x, ay, m_x_ay);
    solve_pencil();
    const block_vector basis[] = {y, m_x}, times_a[] = {ay, m_ax};
    combine(basis, m_coefficients, std::span(&m_x, 1));
    combine(times_a, m_coefficients, std::span(&m_ax, 1));
    measure();
  }

  /// Of Y alone, where its columns are independent: X adds what converges more slowly. Where the filter has made one
  /// vector of several, X has the rest.
  void solve_pencil() {
    const small_matrix from[] = {m_y_ay, m_yy, m_of_x.x_ax, m_of_x.xx, m_x_ay, m_xy};
    const small_matrix to[] = {m_coefficients, m_of_x.values, m_of_x.minus_values};
    small_operation("rayleigh_ritz", from, to,
                    [b = m_b, end = m_options.which](std::span<const small_view> in, std::span<const small_view> out) {
                      std::vector<bool> used(static_cast<std::size_t>(2 * b), true);
                      if (independent(in[1])) std::fill_n(used.begin() + b, b, false);
                      const ritz_step step = rayleigh_ritz(
                          {2 * b, assembled(in[0], in[2], in[4]), assembled(in[1], in[3], in[5])}, b, end, used);
                      std::ranges::copy(step.vectors, out[0].data);
                      give_values(step.values, out[1], out[2]);
                    });
  }

  void measure() {
    record_residuals(m_ax, m_x, m_of_x.minus_values, m_filter.last(), m_of_x.norms);
    gram(m_x, m_x, m_of_x.xx);
    gram(m_x, m_ax, m_of_x.x_ax);
  }

  small_matrix products(const char* name) { return m_program.small(name, m_b, m_b); }

  const csr_matrix& m_a;
  const eigen_options& m_options;
  stopping_rule m_rule;
  std::int64_t m_b;
  program m_program;
  chebyshev_filter m_filter;
  spectrum_interval m_bounds, m_with_deflated = {};
  convergence_pace m_pace;
  int m_iterations_left = 0;
  bool m_slow = false, m_hopeless = false, m_filters_beside_deflated = false;
  std::int64_t m_far = 0;  ///< of the pairs, see far_pairs
  std::optional<deflation> m_deflation = deflation::of(m_program, m_a.rows, m_options, m_b);
  block_vector m_x = m_program.vector("X", m_b), m_ax = m_program.vector("AX", m_b);
  ritz_products m_of_x{m_program, m_b};
  small_matrix m_yy = products("Y'Y"), m_y_ay = products("Y'AY"), m_xy = products("X'Y"), m_x_ay = products("X'AY"),
               m_coefficients = m_program.small("coefficients", 2 * m_b, m_b);
};

/// The columns in the opposite order.
std::vector<double> turned(std::vector<double> of, std::int64_t rows) {
  const std::int64_t columns = std::ssize(of) / rows;
  for (std::int64_t i = 0; i < rows; ++i) std::reverse(of.begin() + i * columns, of.begin() + (i + 1) * columns);
  return of;
}

/// Pairs that are solved one part after the other, told as all of them.
class parts_of_pairs {
 public:
  parts_of_pairs(const eigen_options& whole, const stopping_rule& rule) : m_whole(whole) {
    // Of a part that has not begun nothing is known but that no residual is larger than the norm.
    m_pairs.assign(static_cast<std::size_t>(whole.pairs), {0, rule.norm, rule.wanted(0)});
  }
  /// Options for a part: the pairs from `first` on, `count` of them.
  eigen_options part(std::int64_t first, std::int64_t count) {
    eigen_options o = m_whole;
    o.pairs = count;
    o.max_iterations = std::max(0, m_whole.max_iterations - m_found.loop.iterations);
    if (m_whole.report)
      o.report = [this, first](const eigen_progress& now) {
        if (now.searching) return m_whole.report(now);
        std::ranges::copy(now.of_pairs, m_pairs.begin() + first);
        eigen_progress all{m_found.loop.iterations + now.iteration, 0, m_whole.pairs, 0, m_pairs};
        for (const pair_progress& p : m_pairs) {
          all.converged += p.residual <= p.wanted;
          all.largest_residual = std::max(all.largest_residual, p.residual);
        }
        m_whole.report(all);
      };
    return o;
  }
  /// The pairs of the part that was asked for last.
  void add(const eigenpairs& part, std::int64_t rows) {
    for (std::size_t k = 0; k < part.values.size(); ++k)
      m_pairs[m_found.values.size() + k] = {part.values[k].value, part.values[k].residual,
                                            std::max(m_pairs[0].wanted, part.values[k].residual)};
    m_found.vectors = beside(m_found.vectors, part.vectors, rows);
    m_found.values.insert(m_found.values.end(), part.values.begin(), part.values.end());
    add_iterations(m_found.loop, part.loop);
    m_found.panels = std::max(m_found.panels, part.panels);
    m_found.degree = std::max(m_found.degree, part.degree);
    m_found.block = std::max(m_found.block, part.block);
    m_found.gave_up |= part.gave_up;
    m_found.searched += part.searched;
    m_found.passed_over.insert(m_found.passed_over.end(), part.passed_over.begin(), part.passed_over.end());
  }
  const eigenpairs& found() const { return m_found; }

 private:
  const eigen_options& m_whole;
  std::vector<pair_progress> m_pairs;
  eigenpairs m_found;
};

/// Of one end. Pairs that lie far out keep a filter from the others: these are looked for beside them.
eigenpairs pairs_of_one_end(runtime& rt, const csr_matrix& a, const eigen_options& o, std::int64_t block) {
  eigenpairs found = iterated_pairs<filtered_subspace>(rt, a, o, block);
  if (found.converged() || found.far == 0 || !found.passed_over.empty()) return found;
  const stopping_rule rule = rule_for(a, o);
  parts_of_pairs parts(o, rule);
  const std::int64_t far = found.far, others = o.pairs - far;
  const std::vector<double> guess = some_columns(found.vectors, a.rows, far, others);
  found.vectors = some_columns(found.vectors, a.rows, 0, far);
  found.values.resize(static_cast<std::size_t>(far));
  parts.add(found, a.rows);
  eigen_options rest = parts.part(far, others);
  rest.guess = guess;
  rest.deflate = beside(found.vectors, o.deflate, a.rows);
  parts.add(pairs_of_one_end(rt, a, rest, block), a.rows);
  found = joined_pairs(rt, a, o, rule, parts.found());
  found.loop.converged = found.converged();
  found.norm = rule.norm;
  return found;
}

/// Whether vectors of the upper end may be those of the lower one: its values come so near that residuals do not tell
/// them apart. What two pairs have in common is at most the sum of their residuals by the distance of their values.
bool meet(const eigenpairs& lower, const eigenpairs& upper, const stopping_rule& rule) {
  constexpr double apart = 10;
  double below = -std::numeric_limits<double>::infinity(), above = -below, squares = 0;
  for (const eigenvalue& e : lower.values) below = std::max(below, e.value), squares += e.residual * e.residual;
  for (const eigenvalue& e : upper.values) above = std::min(above, e.value), squares += e.residual * e.residual;
  return !(above - below > apart * (std::sqrt(squares) + rule.rounding));
}

/// Pairs of the upper end, once those of the lower one are known. Where both ends reach one eigenvalue, its vectors are
/// looked for again beside those of the lower end. In general they are not: what is not exact in those bounds the
/// residuals that pairs beside them can have.
eigenpairs upper_pairs(runtime& rt, const csr_matrix& a, eigen_options o, const eigenpairs& lower,
                       const stopping_rule& rule) {
  const std::int64_t block = vectors_for(o);
  eigenpairs found = pairs_of_one_end(rt, a, o, block);
  if (!meet(lower, found, rule)) return found;
  const loop_outcome before = found.loop;
  o.deflate = beside(lower.vectors, o.deflate, a.rows);
  o.guess = std::move(found.vectors);
  o.seed += 1;  // the vectors that were found may have the earlier random ones in them
  o.max_iterations = std::max(0, o.max_iterations - before.iterations);
  if (o.report)
    o.report = [tell = std::move(o.report), done = before.iterations](eigen_progress now) {
      now.iteration += done;
      tell(now);
    };
  found = pairs_of_one_end(rt, a, o, block);
  loop_outcome all = before;
  add_iterations(all, found.loop);
  found.loop = all;
  return found;
}

/// One end after the other: in one polynomial for both, what grows at one end hides the other.
eigenpairs pairs_of_both_ends(runtime& rt, const csr_matrix& a, const eigen_options& o) {
  const stopping_rule rule = rule_for(a, o);
  parts_of_pairs parts(o, rule);
  const std::int64_t lower = (o.pairs + 1) / 2;
  for (const spectrum_end end : {spectrum_end::smallest, spectrum_end::largest}) {
    const bool low = end == spectrum_end::smallest;
    const std::int64_t count = low ? lower : o.pairs - lower;
    if (count == 0) continue;
    eigen_options how = parts.part(low ? 0 : lower, count);
    how.which = end;
    how.block = o.block == 0 ? 0 : std::max(count, (o.block + 1) / 2);
    how.tolerance *= 0.9;  // vectors of both ends are made orthogonal, which changes residuals a little
    if (low) {
      parts.add(pairs_of_one_end(rt, a, how, vectors_for(how)), a.rows);
    } else {
      how.guess = turned(how.guess, a.rows);
      how.seed += 1;  // from the same vectors as the lower end, it would reach the same ones of an eigenvalue in common
      parts.add(upper_pairs(rt, a, how, parts.found(), rule), a.rows);
    }
  }
  eigenpairs found = joined_pairs(rt, a, o, rule, parts.found());
  found.loop.converged = found.converged();
  found.norm = rule.norm;
  return found;
}

eigenpairs chebyshev_pairs(runtime& rt, const csr_matrix& a, const eigen_options& o) {
  const std::int64_t block = vectors_for(o);
  if (o.which != spectrum_end::both) return pairs_of_one_end(rt, a, o, block);
  return is_small(a, o, block, filtered_subspace::min_blocks) ? iterated_pairs<filtered_subspace>(rt, a, o, block)
                                                              : pairs_of_both_ends(rt, a, o);
}

}  // namespace

double min_memory_of_chebyshev(const csr_matrix& a, const eigen_options& o) {
  const std::int64_t b = vectors_for(o);
  const double solving =
      static_cast<double>(sizeof(double)) * static_cast<double>(a.rows) *
      static_cast<double>((is_small(a, o, b, filtered_subspace::min_blocks) ? a.rows : 5 * b + deflated_columns(a, o)) +
                          o.pairs);
  return std::max(solving, min_memory_of_search(a, o)) + memory_of_copies(a, o);
}

eigenpairs chebyshev(runtime& rt, const csr_matrix& a, const eigen_options& given) {
  require_solvable(a, given);
  const eigen_options o = with_early_stop(given);
  constexpr const char* title = "the Chebyshev solver";
  if (o.preconditioner || (o.precondition != preconditioning::automatic && o.precondition != preconditioning::none))
    refuse_option(title, "preconditioner");
  if (o.orthogonal != reorthogonalization::full) refuse_option(title, "choice of reorthogonalization");
  eigenpairs found = with_diagonal_mass(a, o, title, [&rt](const csr_matrix& plain, const eigen_options& how) {
    return at_moderate_scale(plain, how, [&rt](const csr_matrix& scaled, const eigen_options& options) {
      return chebyshev_pairs(rt, scaled, options);
    });
  });
  found.stopped_by = stopped_by(o);
  return found;
}

}  // namespace tessera::sparse
