#pragma once
// A polynomial of a matrix that is small on an interval and large outside.
#include <vector>

#include "libraries/sparse/solver/deflation.hpp"
#include "libraries/sparse/solver/pencil.hpp"
#include "libraries/sparse/solver/spectrum_bounds.hpp"

namespace tessera::sparse {

/// Where a polynomial is small, and where it is 1.
struct filter_interval {
  double centre, half_width;  ///< half_width > 0
  double outermost;           ///< outside of the interval
  int degree;                 ///< of the polynomial
};
/// For one end of a spectrum: between the innermost of the Ritz values, the outermost first, and the other end. Where a
/// polynomial of the degree would be so large at the outermost place that rounding covers the rest, the degree is
/// lower; where the lowest one would be, the interval is wider.
filter_interval unwanted(std::span<const double> ritz_values, spectrum_end end, const spectrum_interval& all,
                         int degree);

/// How much larger the polynomial is at a place than anywhere in the interval; 1 within.
double growth(const filter_interval& of, double place);

/// Y = p(A) X, p(t) = T((t - centre) / half_width) / T((outermost - centre) / half_width) with the Chebyshev polynomial
/// T, by its recurrence: Zhou, Saad, Tiago and Chelikowsky, J. Comput. Phys. 219 (2006) 172. Calls record.
class chebyshev_filter {
 public:
  /// Three block vectors. @param degree at least 1
  chebyshev_filter(program& p, const linear_operator& a, std::int64_t columns, int degree);
  /// From the next call of prepare and run on. Not within a loop's body.
  void raise_degree(int to);

  /// Makes the coefficients of the polynomial from `from`, as `interval` says when the iteration runs.
  void prepare(std::span<const small_matrix> from,
               std::function<filter_interval(std::span<const small_view> from)> interval) const;
  /// Degree - 1 products with A. Of A beside what is to be left out, where that is given: a polynomial may be so large
  /// there that rounding would cover the rest.
  void run(const block_vector& x, const block_vector& ax, const deflation* away = nullptr) const;

  const block_vector& filtered() const { return m_blocks[(degree() - 1) % 3]; }  ///< Y
  const block_vector& following() const { return m_blocks[degree() % 3]; }       ///< free behind run
  const block_vector& last() const { return m_blocks[(degree() + 1) % 3]; }      ///< likewise
  std::size_t degree() const noexcept { return m_steps.size(); }

 private:
  /// Y(i) = product A Y(i - 1) + same Y(i - 1) + before Y(i - 2); 1 x columns each.
  struct step {
    small_matrix product, same, before;
  };
  program& m_program;
  const linear_operator m_operator;
  std::int64_t m_columns;
  std::vector<step> m_steps;
  std::vector<block_vector> m_blocks;
};

}  // namespace tessera::sparse
