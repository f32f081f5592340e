#include "libraries/sparse/solver/lanczos.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "libraries/sparse/solver/convergence.hpp"
#include "libraries/sparse/solver/copies.hpp"
#include "libraries/sparse/solver/deflation.hpp"
#include "libraries/sparse/solver/dense.hpp"
#include "libraries/sparse/solver/diagonal_mass.hpp"
#include "libraries/sparse/solver/early_stop.hpp"
#include "libraries/sparse/solver/joined_pairs.hpp"
#include "libraries/sparse/solver/krylov_basis.hpp"
#include "libraries/sparse/solver/outer_search.hpp"
#include "libraries/sparse/solver/scale.hpp"
#include "libraries/sparse/solver/subspace.hpp"

namespace tessera::sparse {
namespace {

basis_shape shape_for(const eigen_options& o) {
  constexpr std::int64_t usual_width = 4, new_columns = 32, min_steps = 4;  // between restarts
  const std::int64_t width = o.block != 0 ? o.block : usual_width;
  const auto blocks_of = [&](std::int64_t columns) { return (columns + width - 1) / width; };
  const std::int64_t kept = blocks_of(o.pairs + std::max<std::int64_t>(2, o.pairs / 4));
  return {width, kept, kept + std::max({kept, blocks_of(new_columns), min_steps})};
}

/// The vectors of the first block. A space that grows from a sum of vectors has all of them soon. One vector is random,
/// or a part of the only one: a guess may be orthogonal to what is looked for.
std::vector<double> first_block(const eigen_options& o, std::int64_t rows, std::int64_t width) {
  std::vector<double> made = random_start(rows * width, start_seed(o));
  const small_table guess = usable_guess(o, rows);
  const std::int64_t guessed = std::min(guess.columns, std::max<std::int64_t>(1, width - 1));
  for (std::int64_t j = 0; j < guessed; ++j) {
    std::vector<double> sum(static_cast<std::size_t>(rows), 0.0);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t k = j; k < guess.columns; k += guessed) sum[static_cast<std::size_t>(i)] += guess(i, k);
    double largest = 0;
    for (const double v : sum) largest = std::max(largest, std::abs(v));
    if (largest == 0) continue;
    const double random_part = width == 1 ? 1e-3 : 0;
    for (std::int64_t i = 0; i < rows; ++i) {
      double& x = made[static_cast<std::size_t>(i * width + j)];
      x = sum[static_cast<std::size_t>(i)] / largest + random_part * x;
    }
  }
  return made;
}

/// The solver as a program: a loop's iteration extends the basis from the kept blocks to all, and restarts.
class restarted_lanczos {
 public:
  restarted_lanczos(runtime& rt, const csr_matrix& a, const eigen_options& o, const basis_shape& shape,
                    const stopping_rule& rule)
      : m_a(a),
        m_options(o),
        m_rule(rule),
        m_program(rt, a, o.program.for_columns(shape.width)),
        m_basis(m_program, a, shape, rule.rounding, o.orthogonal, deflation::of(m_program, a.rows, o, shape.width)),
        m_away(o.deflates_found ? deflation::of(m_program, a.rows, o, o.pairs) : std::nullopt) {
    m_basis.refill(first_block(o, a.rows, shape.width));
    m_seed = start_seed(o);
    std::vector<double> places(static_cast<std::size_t>(shape.kept_columns() * o.pairs), 0.0);
    for (std::int64_t pair = 0; pair < o.pairs; ++pair)
      places[static_cast<std::size_t>(rank_of_pair(pair, o.pairs, o.which) * o.pairs + pair)] = 1;
    m_places.set(places);
  }

  /// The steps up to the kept blocks, and the first cycle.
  loop_outcome start() {
    const auto begun = std::chrono::steady_clock::now();
    m_basis.begin();
    for (std::int64_t j = 0; j < m_basis.shape().kept; ++j) m_basis.extend(j);
    m_basis.refill(++m_seed);
    cycle();
    measure();
    tell(1);
    loop_outcome done;
    done.iterations = 1;
    done.work = m_program.work();
    done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    return done;
  }

  /// At least one restart, until the estimates say that all pairs are done.
  loop_outcome iterate(int most, int before) {
    bool first = true;
    const auto converged = [&] {
      m_basis.refill(++m_seed);  // those before may be in the basis now
      if (strayed() || is_stopped(m_options)) return true;
      return !std::exchange(first, false) &&
             m_rule.pairs_done(m_values.values(), m_estimates.values(), m_options.pairs) == m_options.pairs;
    };
    const loop_outcome done = m_program.while_not(
        converged, [this] { cycle(); }, {.max_iterations = most, .after_each = [&](int k) { tell(before + k); }});
    measure();
    return done;
  }

  /// The basis is not orthogonal any more, and it is known where that happened.
  bool strayed() const { return m_basis.strayed().values()[0] > 0; }

  std::int64_t pairs_done() const { return m_rule.pairs_done(m_values.values(), m_norms.values(), m_options.pairs); }

  /// Whether the residuals are about as small as the estimates say. Else these are of a basis that is not orthonormal.
  bool is_confirmed() const {
    const std::vector<double> norms = m_norms.values(), estimates = m_estimates.values();
    for (std::size_t k = 0; k < norms.size(); ++k)
      if (norms[k] > 2 * estimates[k] + m_rule.rounding) return false;
    return true;
  }

  void give(eigenpairs& to) const {
    give_pairs(to, m_rule, m_options.pairs, {m_values.values(), m_norms.values(), m_x.values(), m_overlap.values()});
    mark(to.values);
    to.panels = m_program.panels();
  }

 private:
  void cycle() {
    for (std::int64_t j = m_basis.shape().kept; j < m_basis.shape().blocks; ++j) m_basis.extend(j);
    const small_matrix from[] = {m_basis.projected(), m_basis.alive(), m_basis.rest()};
    const small_matrix to[] = {m_coefficients,      m_values,        m_minus_values, m_estimates,
                               m_basis.projected(), m_basis.alive(), m_innermost};
    small_operation("rayleigh_ritz", from, to,
                    [shape = m_basis.shape(), pairs = m_options.pairs, end = m_options.which](
                        std::span<const small_view> in, std::span<const small_view> out) {
                      solve_projected(shape, pairs, end, in, out);
                    });
    m_basis.restart(m_coefficients);
  }

  static void solve_projected(const basis_shape& shape, std::int64_t pairs, spectrum_end end,
                              std::span<const small_view> in, std::span<const small_view> out) {
    const std::int64_t m = shape.columns(), kept = shape.kept_columns(), b = shape.width;
    const small_view &projected = in[0], &alive = in[1], &rest = in[2];
    pencil p{m, std::vector<double>(static_cast<std::size_t>(m * m)),
             std::vector<double>(static_cast<std::size_t>(m * m), 0.0)};
    std::vector<bool> used(static_cast<std::size_t>(m));
    for (std::int64_t i = 0; i < m; ++i) {
      used[static_cast<std::size_t>(i)] = alive(0, i) != 0;
      p.products[static_cast<std::size_t>(i * m + i)] = 1;
      for (std::int64_t j = 0; j < m; ++j)
        p.products_a[static_cast<std::size_t>(i * m + j)] = i / b <= j / b ? projected(i, j) : projected(j, i);
    }
    const std::int64_t found = std::min<std::int64_t>(kept, std::ranges::count(used, true));
    const ritz_step step = rayleigh_ritz(p, found, end, used);
    const auto vector = [&](std::int64_t row, std::int64_t column) {
      return column < found ? step.vectors[static_cast<std::size_t>(row * found + column)] : 0;
    };
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < kept; ++j) out[0](i, j) = vector(i, j);
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
      const std::int64_t rank = rank_of_pair(pair, pairs, end);
      double square = 0;  // what the basis leaves of A times the vector is W times its last block
      for (std::int64_t i = 0; i < b; ++i)
        for (std::int64_t j = 0; j < b; ++j) square += vector(m - b + i, rank) * rest(i, j) * vector(m - b + j, rank);
      const double value = rank < found ? step.values[static_cast<std::size_t>(rank)] : 0;
      out[1](0, pair) = value, out[2](0, pair) = -value;
      out[3](0, pair) = rank < found ? std::sqrt(std::max(square, 0.0)) : std::numeric_limits<double>::infinity();
    }
    for (std::int64_t j = 0; j < kept; ++j) {
      for (std::int64_t i = 0; i < kept; ++i)
        out[4](i, j) = i == j && j < found ? step.values[static_cast<std::size_t>(j)] : 0;
      out[5](0, j) = j < found ? 1 : 0;
    }
    for (std::int64_t j = 0; j < b; ++j) out[5](0, kept + j) = out[5](0, m + j);
    // Of both ends, they come in turn.
    for (std::int64_t j = 0; j < 2; ++j)
      out[6](0, j) = found > j ? step.values[static_cast<std::size_t>(found - 1 - j)] : 0;
  }

  /// Marks pairs of clusters: those near the innermost vector that is kept.
  void mark(std::vector<eigenvalue>& pairs) const {
    const std::vector<double> inner = m_innermost.values();
    const auto [least, most] = std::ranges::minmax(inner);
    const bool both = m_options.which == spectrum_end::both;
    const auto low = pairs.begin() + pairs_of_lower_end(m_options.pairs, m_options.which);
    if (low != pairs.begin()) mark_clustered({pairs.begin(), low}, both ? least : inner[0]);
    if (low != pairs.end()) mark_clustered({low, pairs.end()}, both ? most : inner[0]);
  }

  /// The true residuals, of a product with A of the vectors.
  void measure() {
    m_basis.combine_kept(m_places, m_x);
    apply(m_a, m_x, m_ax);
    record_residuals(m_ax, m_x, m_minus_values, m_ax, m_norms);
    if (m_away) {
      m_away->project(m_ax);
      column_norms(m_ax, m_norms);
    }
    gram(m_x, m_x, m_overlap);
    m_program.run();
    // A pair that the basis has no direction for is no vector.
    std::vector<double> norms = m_norms.values();
    const std::vector<double> estimates = m_estimates.values();
    for (std::size_t k = 0; k < norms.size(); ++k)
      if (std::isinf(estimates[k])) norms[k] = estimates[k];
    m_norms.set(norms);
  }

  void tell(int restarts) const {
    if (m_options.report)
      m_options.report(m_rule.progress(restarts, m_values.values(), m_estimates.values(), m_options.pairs));
  }

  const csr_matrix& m_a;
  const eigen_options& m_options;
  stopping_rule m_rule;
  std::uint64_t m_seed = 0;
  program m_program;
  krylov_basis m_basis;
  std::optional<deflation> m_away;  ///< of the pairs
  block_vector m_x = m_program.vector("X", m_options.pairs), m_ax = m_program.vector("AX", m_options.pairs);
  small_matrix m_coefficients = m_program.small("restart", m_basis.shape().columns(), m_basis.shape().kept_columns()),
               m_places = m_program.small("places", m_basis.shape().kept_columns(), m_options.pairs),
               m_values = m_program.small("values", 1, m_options.pairs),
               m_minus_values = m_program.small("-values", 1, m_options.pairs),
               m_estimates = m_program.small("estimates", 1, m_options.pairs),
               m_norms = m_program.small("residuals", 1, m_options.pairs),
               m_overlap = m_program.small("X'X", m_options.pairs, m_options.pairs),
               m_innermost = m_program.small("innermost", 1, 2);
};

/// From one start.
eigenpairs pairs_of_one_start(runtime& rt, const csr_matrix& a, const eigen_options& o, const basis_shape& shape,
                              const stopping_rule& rule) {
  eigenpairs found;
  const bool selective = o.orthogonal == reorthogonalization::selective;
  bool in_full_instead = false;
  if (a.rows - deflated_columns(a, o) <= shape.past_columns()) {
    found = dense_pairs(a, o, rule);
  } else {
    restarted_lanczos solver(rt, a, o, shape, rule);
    found.loop = solver.start();
    // Estimates may be better than the residuals are: what is told is the true ones, and the iteration goes on.
    // A basis that is not orthonormal may have no pairs that converge.
    const int between_looks = selective ? 40 : o.max_iterations;
    while (found.loop.iterations < o.max_iterations && solver.pairs_done() < o.pairs && !in_full_instead &&
           !is_stopped(o)) {
      const loop_outcome more =
          solver.iterate(std::min(between_looks, o.max_iterations - found.loop.iterations), found.loop.iterations);
      add_iterations(found.loop, more);
      in_full_instead =
          selective && solver.pairs_done() < o.pairs && (solver.strayed() || more.converged || !solver.is_confirmed());
    }
    solver.give(found);
    in_full_instead |= selective && (solver.strayed() || found.orthogonality > 1e-9);
  }
  if (in_full_instead) {
    // Copies of one pair may be among them. Goes on from these vectors.
    eigen_options in_full = o;
    in_full.orthogonal = reorthogonalization::full;
    in_full.guess = std::exchange(found.vectors, {});
    in_full.max_iterations = std::max(1, o.max_iterations - found.loop.iterations);
    if (o.report)
      in_full.report = [&o, before = found.loop.iterations](eigen_progress now) {
        now.iteration += before;
        o.report(now);
      };
    eigenpairs again = pairs_of_one_start(rt, a, in_full, shape, rule);
    again.loop.iterations += found.loop.iterations, again.loop.seconds += found.loop.seconds;
    again.loop.build_seconds += found.loop.build_seconds, again.loop.work += found.loop.work;
    return again;
  }
  found.norm = rule.norm;
  found.block = shape.width;
  return found;
}

/// From the first pair on of those of one end that are as many within their bounds as the block has vectors: further
/// ones are not seen, and what stands behind may have another number. A single vector has one of each, and random ones
/// that step in may bring a second.
std::span<eigenvalue> behind_full_level(std::span<eigenvalue> pairs, std::int64_t width) {
  const auto full = static_cast<std::size_t>(std::max<std::int64_t>(width, 2));
  for (std::size_t k = 0; k + full <= pairs.size(); ++k) {
    const eigenvalue &first = pairs[k], &last = pairs[k + full - 1];
    if (std::abs(first.value - last.value) <= first.error_bound + last.error_bound) return pairs.subspan(k);
  }
  return {};
}

/// The pairs of both ends that a level may hide others from.
std::vector<std::span<eigenvalue>> behind_full_levels(eigenpairs& found, const eigen_options& o) {
  const std::span<eigenvalue> all(found.values);
  const auto low = static_cast<std::size_t>(pairs_of_lower_end(std::ssize(found.values), o.which));
  std::vector<std::span<eigenvalue>> made;
  for (const std::span<eigenvalue> end : {all.first(low), all.subspan(low)})
    if (const std::span<eigenvalue> behind = behind_full_level(end, found.block); !behind.empty())
      made.push_back(behind);
  return made;
}

/// With those that were passed over: as many as they may take the place of are looked for at their end, beside all that
/// is known, and the outermost of all are kept. A start from all of them would find as many copies of an eigenvalue as
/// before.
eigenpairs with_missed(runtime& rt, const csr_matrix& a, const eigen_options& o, const basis_shape& shape,
                       const stopping_rule& rule, eigenpairs found, const missed_pairs& missed) {
  const std::int64_t pairs = std::ssize(found.values), low = pairs_of_lower_end(pairs, o.which),
                     all = std::ssize(missed.values);
  std::int64_t below = 0;  // of the missed ones; they come first
  double innermost = -std::numeric_limits<double>::infinity();
  for (std::int64_t k = 0; k < low; ++k)
    innermost = std::max(innermost, found.values[static_cast<std::size_t>(k)].value);
  while (below < all && missed.values[static_cast<std::size_t>(below)] < innermost) ++below;
  const std::vector<eigenvalue> before = found.values;
  eigen_options how = o;
  how.orthogonal = reorthogonalization::full;
  how.deflates_found = true;
  if (o.report)
    how.report = [&o](eigen_progress now) {
      now.searching = true;
      o.report(now);
    };
  bool converged = true;
  for (const spectrum_end end : {spectrum_end::smallest, spectrum_end::largest}) {
    const bool lower = end == spectrum_end::smallest;
    const std::int64_t first = lower ? 0 : below, count = lower ? below : all - below;
    if (count == 0) continue;
    const auto [least, most] = std::ranges::minmax(
        std::span(missed.values).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
    const std::span of(before.begin() + (lower ? 0 : low), before.begin() + (lower ? low : pairs));
    how.which = end;
    how.deflate = beside(found.vectors, o.deflate, a.rows);
    how.guess = some_columns(missed.vectors, a.rows, first, count);
    how.pairs = std::ranges::count_if(
        of, [&, l = least, m = most](const eigenvalue& e) { return lower ? e.value > l : e.value < m; });
    how.pairs = std::min(how.pairs, a.rows - deflated_columns(a, how));
    how.max_iterations = std::max(1, o.max_iterations - found.loop.iterations);
    const eigenpairs more = pairs_of_one_start(rt, a, how, shape, rule);
    converged &= more.converged();
    found.vectors = beside(found.vectors, more.vectors, a.rows);
    found.values.insert(found.values.end(), more.values.begin(), more.values.end());
    add_iterations(found.loop, more.loop);
  }
  found = joined_pairs(rt, a, o, rule, found);
  if (!converged || found.converged() || found.loop.iterations >= o.max_iterations || is_stopped(o)) return found;
  // What was found beside others is as exact as these are.
  how = o;
  how.guess = found.vectors;
  how.max_iterations = o.max_iterations - found.loop.iterations;
  loop_outcome all_loops = found.loop;
  found = pairs_of_one_start(rt, a, how, shape, rule);
  add_iterations(all_loops, found.loop);
  found.loop = all_loops;
  return found;
}

eigenpairs lanczos_pairs(runtime& rt, const csr_matrix& a, const eigen_options& o) {
  // Each one has a pair more that is right.
  const std::int64_t max_starts = o.pairs + 10;
  const basis_shape shape = shape_for(o);
  const stopping_rule rule = rule_for(a, o);
  // With few vectors behind a restart, a search would go nowhere in a cluster that has more.
  const one_start search = [&](const eigen_options& options, const stopping_rule& side) {
    return pairs_of_one_start(rt, a, options, shape, side);
  };
  eigen_options how = o;
  eigenpairs found = pairs_of_one_start(rt, a, o, shape, rule);
  bool doubtful = !o.guess.empty() || shape.width == 1;  // one vector sees one copy of each eigenvalue
  for (std::int64_t start = 1; found.converged() && !found.dense; ++start) {
    missed_pairs missed = missed_by(rt, a, how, rule, found);
    const std::vector<double> seen = missed.seen;
    // Copies that the block has not seen are not in a few steps from one vector, where the matrix is large.
    if (missed.values.empty() && (doubtful || !behind_full_levels(found, o).empty()))
      missed = searched_beside(a, how, rule, found.block, found, search);
    if (missed.values.empty()) {
      mark_by_search(found, o.which, seen);
      break;
    }
    if (start == max_starts || found.loop.iterations >= o.max_iterations || is_stopped(o)) {
      found.passed_over = missed.values;
      doubt_pairs(found, o.which);
      break;
    }
    doubtful = true;
    how.seed += 0x10000;
    const int searched = found.searched;
    found = with_missed(rt, a, how, shape, rule, std::move(found), missed);
    found.searched = searched;
  }
  found.loop.converged = found.converged();
  return found;
}

}  // namespace

double min_memory_of_lanczos(const csr_matrix& a, const eigen_options& o) {
  const basis_shape shape = shape_for(o);
  const std::int64_t columns = shape.past_columns(), deflated = deflated_columns(a, o);
  // Beside the basis: the product, spare vectors, and the pairs with theirs.
  // A search has the pairs too, twice where it begins.
  const std::int64_t kept = columns + 2 * shape.width + 5 * o.pairs + deflated;
  return static_cast<double>(sizeof(double)) * static_cast<double>(a.rows) *
             static_cast<double>((a.rows - deflated <= columns ? a.rows : kept) + o.pairs) +
         memory_of_copies(a, o);
}

eigenpairs lanczos(runtime& rt, const csr_matrix& a, const eigen_options& given) {
  require_solvable(a, given);
  const eigen_options o = with_early_stop(given);
  if (o.preconditioner || (o.precondition != preconditioning::automatic && o.precondition != preconditioning::none))
    refuse_option("Lanczos", "preconditioner");
  if (o.lag > 0) refuse_option("Lanczos", "lag: its iteration is a whole restart", "LOBPCG and Chebyshev do");
  eigenpairs found = with_diagonal_mass(a, o, "Lanczos", [&rt](const csr_matrix& plain, const eigen_options& how) {
    return at_moderate_scale(plain, how, [&rt](const csr_matrix& scaled, const eigen_options& options) {
      return lanczos_pairs(rt, scaled, options);
    });
  });
  found.stopped_by = stopped_by(o);
  return found;
}

}  // namespace tessera::sparse
