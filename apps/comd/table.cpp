#include "apps/comd/table.hpp"

namespace tessera::apps::comd {

std::vector<double> cubic_coefficients(const samples& of) {
  const std::vector<double>& f = of.values;
  const std::size_t n = f.size();
  std::vector<double> slopes(n);  // per step
  slopes[0] = f[1] - f[0], slopes[n - 1] = f[n - 1] - f[n - 2];
  slopes[1] = (f[2] - f[0]) / 2, slopes[n - 2] = (f[n - 1] - f[n - 3]) / 2;
  for (std::size_t k = 2; k + 2 < n; ++k) slopes[k] = (f[k - 2] - f[k + 2] + 8 * (f[k + 1] - f[k - 1])) / 12;
  std::vector<double> made;
  made.reserve(4 * (n - 1));
  for (std::size_t k = 0; k + 1 < n; ++k) {
    const double rise = f[k + 1] - f[k];
    made.insert(made.end(),
                {f[k], slopes[k], 3 * rise - 2 * slopes[k] - slopes[k + 1], slopes[k] + slopes[k + 1] - 2 * rise});
  }
  return made;
}

}  // namespace tessera::apps::comd
