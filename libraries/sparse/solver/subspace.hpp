#pragma once
// What solvers do that iterate a block of vectors, a subspace.
#include "libraries/sparse/solver/eigenpairs.hpp"
#include "libraries/sparse/solver/small_table.hpp"

namespace tessera::sparse {

/// Row-major columns, each divided by its largest element: squares are finite then.
std::vector<double> of_moderate_size(std::vector<double> numbers, std::int64_t columns);

/// The guessed vectors, of moderate size, without those that are zero or depend on deflated ones or on each other.
small_table usable_guess(const eigen_options& o, std::int64_t rows);

/// The seed of a run's random vectors, by the options' and by the deflated vectors: these may have been made of the
/// same random ones. Then they would have all that those have of an eigenvalue with several copies.
std::uint64_t start_seed(const eigen_options& o);

/// rows x columns numbers, row-major: the guess as far as it is usable; the rest is random.
std::vector<double> started_at(const eigen_options& o, std::int64_t rows, std::int64_t columns);

/// The dimension of the span of row-major vectors.
std::int64_t rank_of(const std::vector<double>& vectors, std::int64_t rows);

/// Vectors side by side, all row-major: those of `a`, and those of `b` behind them.
std::vector<double> beside(const std::vector<double>& a, const std::vector<double>& b, std::int64_t rows);

/// Columns from `first` on, `count` of them, of row-major numbers.
std::vector<double> some_columns(const std::vector<double>& of, std::int64_t rows, std::int64_t first,
                                 std::int64_t count);

/// Throws tessera::error (usage) for `numbers` that are no vectors of so many rows, or not finite; `what` they are for.
void require_vectors(const std::vector<double>& numbers, std::int64_t rows, const char* what);

/// A small matrix's numbers, row-major.
std::vector<double> elements_of(const small_view& v);

/// Ritz values and the same with a minus, as rows.
void give_values(const std::vector<double>& found, const small_view& values, const small_view& minus);

/// Records that C becomes what makes Ritz vectors X C of X, from the products X^T A X and X^T B X.
void record_ritz_vectors(const small_matrix& x_ax, const small_matrix& xx, spectrum_end end, const small_matrix& c,
                         const small_matrix& values, const small_matrix& minus_values);

}  // namespace tessera::sparse
