#include "libraries/sparse/solver/envelope.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "libraries/sparse/matrix/reorder.hpp"

namespace tessera::sparse {

envelope_factor::envelope_factor(const csr_matrix& a) : m_matrix(reverse_cuthill_mckee(a).reordered(a)) {
  const auto n = static_cast<std::size_t>(a.rows);
  m_starts.push_back(0);
  for (std::size_t i = 0; i < n; ++i) {
    const auto begin = static_cast<std::size_t>(m_matrix.row_starts[i]);
    const bool any = m_matrix.row_starts[i] < m_matrix.row_starts[i + 1];
    m_first.push_back(any ? std::min(i, static_cast<std::size_t>(m_matrix.entry_columns[begin])) : i);
    m_starts.push_back(m_starts.back() + i - m_first[i] + 1);
  }
}

double envelope_factor::operations() const noexcept {
  double sum = 0;
  for (std::size_t i = 0; i < m_first.size(); ++i) {
    const auto length = static_cast<double>(i - m_first[i] + 1);
    sum += length * length;
  }
  return sum;
}

bool envelope_factor::factorize(double shift) {
  m_factor.assign(m_starts.back(), 0.0);
  for (std::size_t i = 0; i < m_first.size(); ++i) {
    double* const l = m_factor.data() + m_starts[i];  // of column m_first[i]
    const std::size_t first = m_first[i];
    for (auto k = static_cast<std::size_t>(m_matrix.row_starts[i]);
         k < static_cast<std::size_t>(m_matrix.row_starts[i + 1]); ++k) {
      const auto column = static_cast<std::size_t>(m_matrix.entry_columns[k]);
      if (column <= i) l[column - first] = m_matrix.values[k];
    }
    l[i - first] -= shift;
    for (std::size_t j = first; j < i; ++j) {
      const std::size_t from = std::max(first, m_first[j]);
      const double* const above = m_factor.data() + m_starts[j] + (from - m_first[j]);
      const double known = std::inner_product(above, above + (j - from), l + (from - first), 0.0);
      l[j - first] = (l[j - first] - known) / m_factor[m_starts[j + 1] - 1];
    }
    const double pivot = l[i - first] - std::inner_product(l, l + (i - first), l, 0.0);
    if (!(pivot > 0)) return false;
    l[i - first] = std::sqrt(pivot);
  }
  return true;
}

void envelope_factor::solve(std::vector<double>& x) const {
  for (std::size_t i = 0; i < m_first.size(); ++i) {
    const double* const l = m_factor.data() + m_starts[i];
    const std::size_t length = i - m_first[i];
    x[i] = (x[i] - std::inner_product(l, l + length, &x[m_first[i]], 0.0)) / l[length];
  }
  for (std::size_t i = m_first.size(); i-- > 0;) {
    const double* const l = m_factor.data() + m_starts[i];
    const std::size_t length = i - m_first[i];
    x[i] /= l[length];
    for (std::size_t k = 0; k < length; ++k) x[m_first[i] + k] -= l[k] * x[i];
  }
}

}  // namespace tessera::sparse
