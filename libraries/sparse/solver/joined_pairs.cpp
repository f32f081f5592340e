#include "libraries/sparse/solver/joined_pairs.hpp"

#include <utility>

#include "libraries/sparse/solver/missed_pairs.hpp"
#include "libraries/sparse/solver/ritz_products.hpp"

namespace tessera::sparse {

eigenpairs joined_pairs(runtime& rt, const csr_matrix& a, const eigen_options& o, const stopping_rule& rule,
                        const eigenpairs& parts) {
  eigenpairs all = parts;
  all.values.clear();
  all.orthogonality = 0;
  const std::int64_t b = std::ssize(all.vectors) / a.rows, low = pairs_of_lower_end(o.pairs, o.which);
  program p(rt, a, o.program.for_columns(b));
  block_vector x = p.vector("X", b);
  const block_vector ax = p.vector("AX", b), r = p.vector("R", b);
  const ritz_products of_x(p, b);
  x.set(std::exchange(all.vectors, {}));
  // Once makes them orthogonal to half of the digits, where the parts have something in common.
  for (int twice = 0; twice < 2; ++twice) record_ritz_step(a, spectrum_end::smallest, x, ax, of_x);
  apply(a, x, ax);
  record_residuals(ax, x, of_x.minus_values, r, of_x.norms);
  gram(x, x, of_x.xx);
  p.run();
  // Ritz vectors ascend; pairs are given from outside, of both ends the smallest first.
  const auto column_of = [&](std::int64_t pair) { return pair < low ? pair : b - 1 - (pair - low); };
  const auto chosen = [&](const std::vector<double>& of) {
    std::vector<double> made;
    made.reserve(of.size());
    for (std::int64_t i = 0; i < std::ssize(of) / b; ++i)
      for (std::int64_t pair = 0; pair < o.pairs; ++pair)
        made.push_back(of[static_cast<std::size_t>(i * b + column_of(pair))]);
    return made;
  };
  const std::vector<double> rows = chosen(of_x.xx.values());
  std::vector<double> overlap;
  for (std::int64_t pair = 0; pair < o.pairs; ++pair)
    overlap.insert(overlap.end(), rows.begin() + column_of(pair) * o.pairs,
                   rows.begin() + (column_of(pair) + 1) * o.pairs);
  give_pairs(all, rule, o.pairs,
             {chosen(of_x.values.values()), chosen(of_x.norms.values()), chosen(x.values()), overlap});
  doubt_pairs(all, o.which);
  mark_as(parts.values, all.values);
  return all;
}

}  // namespace tessera::sparse
