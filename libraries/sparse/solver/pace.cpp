#include "libraries/sparse/solver/pace.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::sparse {

void convergence_pace::note(const stopping_rule& rule, const std::vector<double>& values,
                            const std::vector<double>& residuals) {
  double worst = 0;  // of a pair that is done
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!rule.done(values[k], residuals[k])) worst = std::max(worst, std::log10(residuals[k] / rule.wanted(values[k])));
  m_decades.push_back(worst);
}

std::optional<double> convergence_pace::iterations_left(std::size_t window) const {
  if (m_decades.size() <= window) return std::nullopt;
  const double left = m_decades.back(), gained = m_decades[m_decades.size() - 1 - window] - left;
  if (left == 0) return 0;
  return gained > 0 ? left / gained * static_cast<double>(window) : std::numeric_limits<double>::infinity();
}

}  // namespace tessera::sparse
