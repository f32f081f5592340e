#include "libraries/chemistry/scf/diis.hpp"

#include <cmath>
#include <numeric>
#include <utility>

#include "libraries/lapack/lapack.hpp"

namespace tessera::chemistry {

std::vector<double> diis::next(std::vector<double> vector, std::vector<double> error) {
  m_steps.push_back({std::move(vector), std::move(error)});
  if (m_steps.size() > m_most) m_steps.pop_front();
  while (m_steps.size() > 1) {
    // [B -1; -1 0] [c; x] = [0; -1], B scaled by its last element.
    const std::size_t m = m_steps.size(), n = m + 1;
    std::vector<double> a(n * n, -1.0), b(n, 0.0);
    a[n * n - 1] = 0;
    b[m] = -1;
    const auto overlap = [&](std::size_t p, std::size_t q) {
      const std::vector<double>&x = m_steps[p].error, &y = m_steps[q].error;
      return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
    };
    const double scale = overlap(m - 1, m - 1);
    if (scale == 0) break;  // it is exact
    for (std::size_t p = 0; p < m; ++p)
      for (std::size_t q = 0; q <= p; ++q) a[p + n * q] = a[q + n * p] = overlap(p, q) / scale;
    bool usable = lapack::dgesv(static_cast<int>(n), a.data(), b.data()) == 0;
    for (std::size_t k = 0; k < m; ++k) usable = usable && std::isfinite(b[k]) && std::abs(b[k]) < 1e4;
    if (usable) {
      std::vector<double> mixed(m_steps.back().vector.size(), 0.0);
      for (std::size_t k = 0; k < m; ++k)
        for (std::size_t i = 0; i < mixed.size(); ++i) mixed[i] += b[k] * m_steps[k].vector[i];
      return mixed;
    }
    m_steps.pop_front();
  }
  return m_steps.back().vector;
}

}  // namespace tessera::chemistry
