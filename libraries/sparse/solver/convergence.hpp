#pragma once
// What all eigensolvers share: when a pair is done, its residual, and how pairs are given.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "libraries/sparse/solver/eigenpairs.hpp"

namespace tessera::sparse {

/// A residual of so much of the distance from a value says on which side of it an eigenvalue is.
constexpr double part_of_distance = 0.1;

/// When a pair is done.
struct stopping_rule {
  criterion compare;
  double tolerance, norm;
  double rounding;  ///< residuals below are as good as zero
  /// Of a search: what counts is on which side of a value an eigenvalue is, where they are further apart than the blur.
  struct side {
    double value, blur;
  };
  std::optional<side> apart_from = {};

  /// The largest residual that the tolerance allows; in a search, a part of the distance.
  double tolerated(double value) const;
  /// The same, or what rounding leaves: the largest one that is small enough.
  double wanted(double value) const { return std::max(rounding, tolerated(value)); }
  /// What is not finite is never done.
  bool done(double value, double residual) const { return std::isfinite(value) && residual <= wanted(value); }
  /// With its error bound, for a residual that was measured.
  eigenvalue judged(double value, double residual) const;
  /// How many of the first pairs are done.
  std::int64_t pairs_done(const std::vector<double>& values, const std::vector<double>& residuals,
                          std::int64_t pairs) const;
  /// Of the first pairs.
  eigen_progress progress(int iteration, const std::vector<double>& values, const std::vector<double>& residuals,
                          std::int64_t pairs) const;
};
/// By the options, and the matrix's norm and rows.
stopping_rule rule_for(const csr_matrix& a, const eigen_options& o);

/// Throws tessera::error: usage for a matrix that is not symmetric or malformed, for no pairs and more than the matrix
/// has, for a tolerance that is negative or no number, a negative lag or degree, and for guessed and deflated vectors
/// that do not fit; input for a norm that is not finite.
void require_solvable(const csr_matrix& a, const eigen_options& o);
/// Throws tessera::error (usage): the solver takes no such thing.
[[noreturn]] void refuse_option(const char* solver, const char* option, const char* hint = "LOBPCG does");
/// Throws tessera::error (usage) for a block that has fewer vectors than there are pairs.
void require_block(const eigen_options& o);
/// Whether the matrix has fewer rows than `blocks` blocks of `block` vectors, beside what is deflated: they leave no
/// room for an iteration.
bool is_small(const csr_matrix& a, const eigen_options& o, std::int64_t block, int blocks);

/// Numbers between -1 and 1, the same everywhere.
std::vector<double> random_start(std::int64_t count, std::uint64_t seed);

/// Records R = AX - X diag(values), and the norms of its columns.
void record_residuals(const block_vector& ax, const block_vector& x, const small_matrix& minus_values,
                      const block_vector& r, const small_matrix& norms);

/// Numbers of a block of vectors whose first columns are pairs.
struct measured_block {
  std::vector<double> values, residuals;
  std::vector<double> vectors, overlap;  ///< row-major: X, X^T X
};
/// Adds up the loops of one solver.
void add_iterations(loop_outcome& to, const loop_outcome& more);
/// Adds the first `pairs` to `to`.
void give_pairs(eigenpairs& to, const stopping_rule& rule, std::int64_t pairs, const measured_block& of);

/// Marks those of the pairs of one end, the outermost first, that are so near the innermost Ritz value of their space
/// that an eigenvalue further out may be hidden by what they are not exact to. The space may have no more than the
/// pairs.
void mark_clustered(std::span<eigenvalue> pairs, double innermost);
/// Marks those that are as near to one of `others`, values of vectors beside those of the pairs.
void mark_clustered(std::span<eigenvalue> pairs, std::span<const double> others);
/// Marks pairs beside which one vector has seen several eigenvalues that their own bounds do not tell apart. It sees
/// one of several equal ones, so that these are not marked: which of them a pair is makes no difference.
void mark_unresolved(std::span<eigenvalue> pairs, std::span<const double> seen);
/// Marks pairs that are, within the bounds, marked ones of `from`, as clustered and as unsettled.
void mark_as(const std::vector<eigenvalue>& from, std::vector<eigenvalue>& pairs);

}  // namespace tessera::sparse
