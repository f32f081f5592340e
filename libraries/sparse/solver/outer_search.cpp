#include "libraries/sparse/solver/outer_search.hpp"

#include <algorithm>
#include <limits>

#include "libraries/sparse/solver/deflation.hpp"
#include "libraries/sparse/solver/subspace.hpp"

namespace tessera::sparse {
namespace {

/// A search has few vectors, and goes on until it is sure or has had so many iterations.
constexpr std::int64_t max_vectors = 8, max_pairs = 2;
constexpr int max_iterations = 500;

/// The pairs of one end, among all that were found.
struct end_of_pairs {
  end_of_pairs(std::span<eigenvalue> of, spectrum_end at) : pairs(of), sign(at == spectrum_end::largest ? -1 : 1) {
    for (const eigenvalue& e : pairs) innermost = std::max(innermost, sign * e.value);
  }
  /// How much further out than the innermost pair; negative for what is further in.
  double beyond(double value) const { return innermost - sign * value; }
  /// Marks what may be inside of an eigenvalue that is `reach` further out than `value`.
  void doubt(double value, double reach) const {
    for (eigenvalue& e : pairs) e.unsettled |= sign * e.value > sign * value - reach;
  }
  /// Marks what is inside of one of these by more than its bound.
  void mark_inside(std::span<const double> others) const {
    for (eigenvalue& e : pairs)
      e.clustered |= std::ranges::any_of(others, [&](double v) { return sign * (e.value - v) > e.error_bound; });
  }

  std::span<eigenvalue> pairs;
  double sign;
  double innermost = -std::numeric_limits<double>::infinity();  ///< times the sign
};

std::vector<double> values_of(const eigenpairs& of) {
  std::vector<double> values;
  for (const eigenvalue& e : of.values) values.push_back(e.value);
  return values;
}

}  // namespace

missed_pairs searched_beside(const csr_matrix& a, const eigen_options& o, const stopping_rule& rule, std::int64_t block,
                             eigenpairs& found, const one_start& solve) {
  missed_pairs missed;
  const std::int64_t pairs = std::ssize(found.values), low = pairs_of_lower_end(pairs, o.which),
                     left = a.rows - pairs - deflated_columns(a, o);
  if (found.dense || left < 1) return missed;
  eigen_options how = o;
  how.block = std::clamp<std::int64_t>(std::min(block, left / 3), 1, max_vectors);
  how.pairs = std::min(how.block, max_pairs);
  how.lag = 0;
  how.guess = {};
  how.deflates_found = true;
  how.max_iterations = std::min(o.max_iterations, max_iterations);
  if (o.report)
    how.report = [&o](eigen_progress now) {
      now.searching = true;
      o.report(now);
    };
  for (const spectrum_end end : {spectrum_end::smallest, spectrum_end::largest}) {
    const bool lower = end == spectrum_end::smallest;
    const std::int64_t first = lower ? 0 : low, count = lower ? low : pairs - low;
    const end_of_pairs known(
        std::span(found.values).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)), end);
    if (known.pairs.empty()) continue;
    how.which = end;
    stopping_rule side = rule;
    // Beside those of this end: what others leave unknown, where they are less exact, would hide what is near.
    how.deflate = beside(some_columns(found.vectors, a.rows, first, count), o.deflate, a.rows);
    const double blur = blur_of(known.pairs, {}, rule);
    side.apart_from = {known.sign * known.innermost, blur};
    const eigenpairs others = solve(how, side);
    found.searched += others.loop.iterations;
    const auto outer =
        std::ranges::find_if(others.values, [&](const eigenvalue& e) { return !(known.beyond(e.value) > blur); }) -
        others.values.begin();
    if (outer > 0) {
      missed.vectors = beside(missed.vectors, some_columns(others.vectors, a.rows, 0, outer), a.rows);
      for (std::int64_t k = 0; k < outer; ++k)
        missed.values.push_back(others.values[static_cast<std::size_t>(k)].value);
    } else {
      const std::vector<double> seen = values_of(others);
      mark_clustered(known.pairs, seen);
      known.mark_inside(seen);
      const eigenvalue& outermost = others.values.front();
      if (!outermost.converged) known.doubt(outermost.value, outermost.residual / part_of_distance);
    }
  }
  return missed;
}

}  // namespace tessera::sparse
