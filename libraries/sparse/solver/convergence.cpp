#include "libraries/sparse/solver/convergence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "libraries/sparse/solver/deflation.hpp"
#include "libraries/sparse/solver/subspace.hpp"

namespace tessera::sparse {

double stopping_rule::tolerated(double value) const {
  if (apart_from) return std::max(apart_from->blur, part_of_distance * std::abs(value - apart_from->value));
  return tolerance * (compare == criterion::relative ? std::abs(value) : compare == criterion::norm ? norm : 1);
}

eigenvalue stopping_rule::judged(double value, double residual) const {
  return {value, residual, residual + rounding, done(value, residual),
          residual > tolerated(value) && residual <= rounding};
}

std::int64_t stopping_rule::pairs_done(const std::vector<double>& values, const std::vector<double>& residuals,
                                       std::int64_t pairs) const {
  std::int64_t count = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(pairs); ++k) count += done(values[k], residuals[k]);
  return count;
}

eigen_progress stopping_rule::progress(int iteration, const std::vector<double>& values,
                                       const std::vector<double>& residuals, std::int64_t pairs) const {
  eigen_progress now{iteration, pairs_done(values, residuals, pairs), pairs,
                     *std::max_element(residuals.begin(), residuals.begin() + pairs)};
  for (std::size_t k = 0; k < static_cast<std::size_t>(pairs); ++k)
    now.of_pairs.push_back({values[k], residuals[k], wanted(values[k])});
  return now;
}

stopping_rule rule_for(const csr_matrix& a, const eigen_options& o) {
  const double norm = infinity_norm(a);
  const double rounding = 10 * std::numeric_limits<double>::epsilon() * std::sqrt(static_cast<double>(a.rows)) * norm;
  return {o.compare, o.tolerance, norm, rounding};
}

void require_solvable(const csr_matrix& a, const eigen_options& o) {
  require_well_formed(a);
  require_symmetric(a);
  if (o.pairs < 1) throw error(error_kind::usage, "no pairs are asked for", a.name, "at least one");
  if (o.pairs > a.rows)
    throw error(error_kind::usage, fmt::format("{} pairs of a matrix of {} rows", o.pairs, a.rows), a.name,
                fmt::format("it has {} eigenvalues", a.rows));
  if (!(o.tolerance >= 0))
    throw error(error_kind::usage, fmt::format("the tolerance is {}", o.tolerance), a.name, "0 or more");
  if (o.preconditioner && (o.preconditioner->rows() != a.rows || o.preconditioner->columns() != a.rows))
    throw error(error_kind::usage,
                fmt::format("{} is {} x {}, and {} has {} rows", o.preconditioner->name(), o.preconditioner->rows(),
                            o.preconditioner->columns(), a.name, a.rows),
                "the preconditioner", "one of the matrix's shape");
  if (o.preconditioner && o.preconditioner->is_symmetric() == false)
    throw error(error_kind::input, "the preconditioner is not symmetric", o.preconditioner->name(),
                "LOBPCG needs a symmetric, positive definite one");
  if (o.lag < 0) throw error(error_kind::usage, fmt::format("the lag is {}", o.lag), a.name, "0 or more iterations");
  if (o.degree < 0)
    throw error(error_kind::usage, fmt::format("a polynomial of degree {}", o.degree), a.name, "1 or more");
  require_vectors(o.guess, a.rows, "the guess");
  require_deflation(a, o);
  if (!std::isfinite(infinity_norm(a)))
    throw error(error_kind::input, "the norm of the matrix is too large for a double", a.name,
                "divide its entries by a number");
}

void refuse_option(const char* solver, const char* option, const char* hint) {
  throw error(error_kind::usage, fmt::format("{} takes no {}", solver, option), "the solver", hint);
}

void require_block(const eigen_options& o) {
  if (o.block != 0 && o.block < o.pairs)
    throw error(error_kind::usage, fmt::format("a block of {} cannot hold {} pairs", o.block, o.pairs), "the block",
                "each vector of the block becomes one pair; a few more than the pairs make the last ones converge");
}

bool is_small(const csr_matrix& a, const eigen_options& o, std::int64_t block, int blocks) {
  return a.rows - deflated_columns(a, o) < blocks * block;
}

std::vector<double> random_start(std::int64_t count, std::uint64_t seed) {
  std::vector<double> numbers(static_cast<std::size_t>(count));
  std::uint64_t state = seed * 0xD1342543DE82EF95u + 1;
  for (double& x : numbers) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    x = static_cast<double>(state >> 11) * 0x1.0p-52 - 1;
  }
  return numbers;
}

void record_residuals(const block_vector& ax, const block_vector& x, const small_matrix& minus_values,
                      const block_vector& r, const small_matrix& norms) {
  copy(ax, r);
  axpy(minus_values, x, r);
  column_norms(r, norms);
}

void add_iterations(loop_outcome& to, const loop_outcome& more) {
  if (more.passes > 0) to.form = more.form, to.passes = more.passes, to.tasks = more.tasks;
  to.iterations += more.iterations;
  to.seconds += more.seconds;
  to.build_seconds += more.build_seconds;
  to.work += more.work;
  add_moved(to.moved, more.moved);
}

void give_pairs(eigenpairs& to, const stopping_rule& rule, std::int64_t pairs, const measured_block& of) {
  const auto width = static_cast<std::int64_t>(std::sqrt(static_cast<double>(of.overlap.size())) + 0.5);
  for (std::size_t k = 0; k < static_cast<std::size_t>(pairs); ++k)
    to.values.push_back(rule.judged(of.values[k], of.residuals[k]));
  for (std::int64_t i = 0; i < std::ssize(of.vectors) / width; ++i)
    for (std::int64_t j = 0; j < pairs; ++j) to.vectors.push_back(of.vectors[static_cast<std::size_t>(i * width + j)]);
  for (std::int64_t i = 0; i < pairs; ++i)
    for (std::int64_t j = 0; j < pairs; ++j)
      to.orthogonality = std::max(to.orthogonality, std::abs(of.overlap[static_cast<std::size_t>(i * width + j)] -
                                                             static_cast<double>(i == j)));
}

namespace {

/// Vectors of a cluster that the bounds do not tell apart are any vectors of it. Those that a block has leave out the
/// ends of the cluster, by about so many bounds at most.
constexpr double few_bounds = 8;

double width_of_cluster(std::span<const eigenvalue> pairs) {
  double bound = 0;
  for (const eigenvalue& e : pairs) bound = std::max(bound, e.error_bound);
  return few_bounds * bound;
}

}  // namespace

void mark_clustered(std::span<eigenvalue> pairs, double innermost) {
  const double width = width_of_cluster(pairs);
  const auto is_near = [&](const eigenvalue& e) { return std::abs(e.value - innermost) <= width; };
  const auto near = std::ranges::count_if(pairs, is_near);
  // The innermost value may be that of the last pair, which says nothing where this is alone.
  if (near == 1 && pairs.back().value == innermost) return;
  for (eigenvalue& e : pairs) e.clustered |= is_near(e);
}

void mark_clustered(std::span<eigenvalue> pairs, std::span<const double> others) {
  const double width = width_of_cluster(pairs);
  for (eigenvalue& e : pairs)
    e.clustered |= std::ranges::any_of(others, [&](double v) { return std::abs(v - e.value) <= width; });
}

void mark_unresolved(std::span<eigenvalue> pairs, std::span<const double> seen) {
  for (eigenvalue& e : pairs)
    e.clustered |=
        std::ranges::count_if(seen, [&](double v) { return std::abs(v - e.value) <= few_bounds * e.error_bound; }) > 1;
}

void mark_as(const std::vector<eigenvalue>& from, std::vector<eigenvalue>& pairs) {
  for (eigenvalue& e : pairs)
    for (const eigenvalue& f : from)
      if (std::abs(f.value - e.value) <= f.error_bound + e.error_bound)
        e.clustered |= f.clustered, e.unsettled |= f.unsettled;
}

bool eigenpairs::converged() const noexcept { return std::ranges::all_of(values, &eigenvalue::converged); }

}  // namespace tessera::sparse
