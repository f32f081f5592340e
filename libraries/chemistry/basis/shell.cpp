#include "libraries/chemistry/basis/shell.hpp"

#include <cmath>

namespace tessera::chemistry {

double self_overlap(const shell& of) {
  double square = 0;
  for (std::size_t k = 0; k < of.exponents.size(); ++k)
    for (std::size_t l = 0; l < of.exponents.size(); ++l) {
      const double a = of.exponents[k], b = of.exponents[l];
      square += of.coefficients[k] * of.coefficients[l] * std::pow(2 * std::sqrt(a * b) / (a + b), of.momentum + 1.5);
    }
  return square;
}

bool vanishes(const shell& of) {
  double sum = 0;
  for (const double c : of.coefficients) sum += c * c;
  return !(sum > 1e-20) || !(self_overlap(of) > 1e-10 * sum);
}

std::size_t functions(const shell& of) noexcept {
  const auto l = static_cast<std::size_t>(of.momentum);
  return of.spherical ? 2 * l + 1 : (l + 1) * (l + 2) / 2;
}

std::size_t functions(std::span<const shell> of) noexcept {
  std::size_t sum = 0;
  for (const shell& one : of) sum += functions(one);
  return sum;
}

std::vector<std::size_t> first_functions(std::span<const shell> of) {
  std::vector<std::size_t> firsts = {0};
  firsts.reserve(of.size() + 1);
  for (const shell& one : of) firsts.push_back(firsts.back() + functions(one));
  return firsts;
}

}  // namespace tessera::chemistry
