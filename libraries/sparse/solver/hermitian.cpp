#include "libraries/sparse/solver/hermitian.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "libraries/matrix_market/read.hpp"
#include "libraries/sparse/matrix/available_memory.hpp"
#include "libraries/sparse/solver/convergence.hpp"
#include "libraries/sparse/solver/deflation.hpp"
#include "libraries/sparse/solver/early_stop.hpp"
#include "libraries/sparse/solver/missed_pairs.hpp"
#include "libraries/sparse/solver/scale.hpp"
#include "libraries/sparse/solver/small_table.hpp"
#include "libraries/sparse/solver/subspace.hpp"

namespace tessera::sparse {
namespace {

using number = std::complex<double>;

/// Of the real form of some vectors.
complex_table complex_vectors(const std::vector<double>& real, std::int64_t order) {
  complex_table made(order, std::ssize(real) / (2 * order));
  for (std::int64_t i = 0; i < order; ++i)
    for (std::int64_t j = 0; j < made.columns; ++j)
      made(i, j) = {real[static_cast<std::size_t>(2 * i * made.columns + j)],
                    real[static_cast<std::size_t>((2 * i + 1) * made.columns + j)]};
  return made;
}

std::vector<double> real_vectors(const complex_table& of) {
  std::vector<double> made(2 * of.numbers.size());
  for (std::int64_t i = 0; i < of.rows; ++i)
    for (std::int64_t j = 0; j < of.columns; ++j) {
      made[static_cast<std::size_t>(2 * i * of.columns + j)] = of(i, j).real();
      made[static_cast<std::size_t>((2 * i + 1) * of.columns + j)] = of(i, j).imag();
    }
  return made;
}

/// x and ix of each vector, in real form: together they span what x spans with complex factors.
std::vector<double> both_real(const std::vector<double>& real, std::int64_t order) {
  const complex_table x = complex_vectors(real, order);
  complex_table made(order, 2 * x.columns);
  for (std::int64_t i = 0; i < order; ++i)
    for (std::int64_t j = 0; j < x.columns; ++j) {
      made(i, 2 * j) = x(i, j);
      made(i, 2 * j + 1) = number(0, 1) * x(i, j);
    }
  return real_vectors(made);
}

/// X with X^H X = 1, by the vectors Z of the real problem: Ritz vectors of their span, the pairs that are asked for.
/// Twice as many orthonormal real vectors as complex ones have a Gram matrix Z^H Z of eigenvalues 2 and 0, and others
/// where they cut a group of equal eigenvalues; as many as pairs are never all small.
complex_table chosen_vectors(const csr_matrix& a, const complex_table& z, const eigen_options& o) {
  complex_table whole = adjoint_product(z, z);
  const std::vector<double> lengths = diagonalize(whole);
  const double least = 1 / static_cast<double>(o.pairs + 1);
  const auto first = std::ranges::find_if(lengths, [&](double v) { return v > least; }) - lengths.begin();
  const std::int64_t rank = whole.columns - first;
  if (rank < o.pairs)
    throw error(error_kind::numerical,
                fmt::format("the vectors span {} dimensions, and {} pairs are asked for", rank, o.pairs), a.name,
                "another start (--seed), or a larger --block");
  complex_table basis(whole.rows, rank);
  for (std::int64_t i = 0; i < basis.rows; ++i)
    for (std::int64_t j = 0; j < rank; ++j)
      basis(i, j) = whole(i, first + j) / std::sqrt(lengths[static_cast<std::size_t>(first + j)]);
  const complex_table q = product(z, basis);
  complex_table inner = adjoint_product(q, complex_vectors(plain_product(a, real_vectors(q)), q.rows));
  (void)diagonalize(inner);
  complex_table outermost(rank, o.pairs);
  for (std::int64_t pair = 0; pair < o.pairs; ++pair) {
    const std::int64_t from = outermost_place(rank_of_pair(pair, o.pairs, o.which), rank, o.which);
    for (std::int64_t i = 0; i < rank; ++i) outermost(i, pair) = inner(i, from);
  }
  return product(q, outermost);
}

/// Values and residuals of X, by products with A.
void measure(const csr_matrix& a, const complex_table& x, const eigen_options& o, const stopping_rule& rule,
             eigenpairs& to) {
  const std::vector<double> vectors = real_vectors(x);
  const complex_table ax = complex_vectors(plain_product(a, vectors), x.rows);
  const complex_table overlap = adjoint_product(x, x), inner = adjoint_product(x, ax);
  to.values.clear();
  to.vectors = vectors;
  to.orthogonality = 0;
  for (std::int64_t p = 0; p < o.pairs; ++p) {
    const double value = inner(p, p).real() / overlap(p, p).real();
    double square = 0;
    for (std::int64_t i = 0; i < x.rows; ++i) square += std::norm(ax(i, p) - value * x(i, p));
    to.values.push_back(rule.judged(value, std::sqrt(square)));
    for (std::int64_t q = 0; q < o.pairs; ++q)
      to.orthogonality = std::max(to.orthogonality, std::abs(overlap(p, q) - static_cast<double>(p == q)));
  }
  doubt_pairs(to, o.which);
}

/// How far the complex pairs are, by that of the real ones, which have each value twice.
eigen_progress progress_of_complex(eigen_progress real, const eigen_options& o) {
  std::vector<pair_progress>& pairs = real.of_pairs;
  if (pairs.size() % 2 != 0 || !std::ranges::all_of(pairs, [](const auto& p) { return std::isfinite(p.value); }))
    return real;
  std::ranges::stable_sort(pairs, {}, &pair_progress::value);
  std::vector<pair_progress> complex_pairs;
  for (std::size_t k = 0; k < pairs.size(); k += 2)
    complex_pairs.push_back({pairs[k].value, std::max(pairs[k].residual, pairs[k + 1].residual), pairs[k].wanted});
  if (o.which == spectrum_end::largest) std::ranges::reverse(complex_pairs);
  const auto done = std::ranges::count_if(complex_pairs, [](const auto& p) { return p.residual <= p.wanted; });
  pairs = std::move(complex_pairs);
  real.pairs = o.pairs;
  real.converged = std::min<std::int64_t>(done, o.pairs);
  return real;
}

eigenpairs pairs_of_real_form(runtime& rt, eigensolver_function solve, const csr_matrix& a,
                              const eigen_options& given) {
  constexpr int attempts = 3;
  const eigen_options o = with_early_stop(given);
  const stopping_rule rule = rule_for(a, o);
  eigen_options how = real_options(a, o);
  how.tolerance *= 0.5;  // a complex vector is a sum of real ones
  eigenpairs found;
  loop_outcome loop;
  int searched = 0;
  if (o.report)
    how.report = [&](eigen_progress now) {
      now.iteration += loop.iterations;
      o.report(progress_of_complex(std::move(now), o));
    };
  for (int attempt = 0; attempt < attempts; ++attempt) {
    how.max_iterations = o.max_iterations - loop.iterations;
    found = solve(rt, a, how);
    add_iterations(loop, found.loop);
    searched += found.searched;
    const bool solved = found.converged();
    const std::vector<eigenvalue> real = found.values;
    std::vector<double> start = std::move(found.vectors);
    measure(a, chosen_vectors(a, complex_vectors(start, a.rows / 2), o), o, rule, found);
    mark_as(real, found.values);
    if (!solved || found.converged() || loop.iterations >= o.max_iterations || is_stopped(o)) break;
    how.guess = std::move(start);
    how.tolerance *= 0.1;
  }
  loop.converged = found.converged();
  found.loop = loop;
  found.searched = searched;
  return found;
}

}  // namespace

csr_matrix real_form(std::string name, std::int64_t order, const std::vector<complex_triplet>& entries) {
  if (order >= std::int64_t{1} << 30)
    throw error(error_kind::input, fmt::format("the matrix has {} rows", order), name,
                "a complex matrix has fewer than 2^30: its real form has twice as many");
  std::vector<triplet> real;
  real.reserve(4 * entries.size());
  for (const complex_triplet& e : entries) {
    const std::int32_t i = 2 * e.row, j = 2 * e.column;
    const double re = e.value.real(), im = e.value.imag();
    real.insert(real.end(), {{i, j, re}, {i + 1, j + 1, re}});
    if (im != 0) real.insert(real.end(), {{i, j + 1, -im}, {i + 1, j, im}});
  }
  return matrix_of(std::move(name), 2 * order, 2 * order, real);
}

csr_matrix read_hermitian(matrix_market::open_file& file, std::optional<std::int64_t> memory) {
  std::int64_t order = 0;
  std::vector<complex_triplet> entries;
  file.entries(
      [&](const matrix_market::header& h) {
        if (h.kind != matrix_market::symmetry::hermitian)
          throw error(error_kind::input, "the matrix is complex and not hermitian by its first line", file.name(),
                      "%%MatrixMarket matrix coordinate complex hermitian");
        // Both triangles, four real entries for each of those, and the rows that are made of them.
        constexpr double of_row = 2 * 2 * sizeof(std::int64_t);
        constexpr double of_entry =
            2 * (sizeof(complex_triplet) + 4 * (sizeof(triplet) + sizeof(std::int32_t) + sizeof(double)));
        require_memory(file.name(), h.rows, h.entries,
                       of_row * static_cast<double>(h.rows) + of_entry * static_cast<double>(h.entries),
                       memory ? *memory : available_memory());
        order = h.rows;
        entries.reserve(2 * static_cast<std::size_t>(h.entries));
      },
      [&](const matrix_market::entry& e) {
        entries.push_back({e.row, e.column, {e.value, e.imaginary}});
        if (e.row != e.column) entries.push_back({e.column, e.row, {e.value, -e.imaginary}});
      });
  csr_matrix made = real_form(file.name(), order, entries);
  for (const double v : made.values)
    if (!std::isfinite(v))
      throw error(error_kind::input, "entries that are given twice add up to a number that is not finite", made.name);
  return made;
}

eigen_options real_options(const csr_matrix& a, const eigen_options& o) {
  eigen_options how = o;
  // Of both ends, each has all its doubles.
  const bool odd_at_both = o.which == spectrum_end::both && o.pairs % 2 == 1;
  if (!o.guess.empty()) how.guess = both_real(o.guess, a.rows / 2);
  if (!o.deflate.empty()) how.deflate = both_real(o.deflate, a.rows / 2);
  how.pairs = 2 * (o.pairs + (odd_at_both ? 1 : 0));
  if (how.pairs > a.rows - deflated_columns(a, how)) how.pairs = std::min(how.pairs, pairs_left(a, how));
  how.block = o.block == o.pairs ? how.pairs : 2 * o.block;
  return how;
}

eigenpairs hermitian_pairs(runtime& rt, eigensolver_function solve, const csr_matrix& a, const eigen_options& o) {
  if (a.rows % 2 != 0)
    throw error(error_kind::usage, fmt::format("{} rows are no real form of a complex matrix", a.rows), a.name,
                "two for each complex row");
  if (o.mass != nullptr) refuse_option("a complex matrix", "mass matrix", "real ones do");
  require_vectors(o.guess, a.rows, "the guess");
  if (2 * o.pairs > a.rows)
    throw error(error_kind::usage, fmt::format("{} pairs of a complex matrix of {} rows", o.pairs, a.rows / 2), a.name,
                fmt::format("it has {} eigenvalues", a.rows / 2));
  if (const std::int64_t left = real_options(a, o).pairs; 2 * o.pairs > left) require_pairs_left(o.pairs, left / 2);
  return at_moderate_scale(a, o, [&](const csr_matrix& scaled, const eigen_options& how) {
    return pairs_of_real_form(rt, solve, scaled, how);
  });
}

}  // namespace tessera::sparse
