#include "libraries/chemistry/exchange/normalised_basis.hpp"

#include <cmath>

namespace tessera::chemistry {

std::vector<double> normalised_coefficients(const shell& of) {
  // Two normalised primitives overlap by (2 sqrt(a b) / (a + b))^(l + 3/2).
  double square = 0;
  for (std::size_t i = 0; i < of.exponents.size(); ++i)
    for (std::size_t j = 0; j < of.exponents.size(); ++j) {
      const double a = of.exponents[i], b = of.exponents[j];
      square += of.coefficients[i] * of.coefficients[j] * std::pow(2 * std::sqrt(a * b) / (a + b), of.momentum + 1.5);
    }
  std::vector<double> all = of.coefficients;
  for (double& one : all) one /= std::sqrt(square);
  return all;
}

std::vector<double> norms_of_functions(const integrals& over) {
  const std::size_t n = over.functions();
  const std::vector<double> overlap = over.overlap();
  std::vector<double> norms(n);
  for (std::size_t k = 0; k < n; ++k) norms[k] = std::sqrt(overlap[k * n + k]);
  return norms;
}

}  // namespace tessera::chemistry
