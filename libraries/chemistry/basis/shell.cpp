#include "libraries/chemistry/basis/shell.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tessera::chemistry {

std::string fault_of_exponent(double exponent) {
  if (!(exponent > 0)) return "the exponent is not positive";
  if (exponent >= min_exponent && exponent <= largest_exponent) return {};
  return fmt::format("the exponent is {:.3g}, and not between {:.0e} and {:.0e}", exponent, min_exponent,
                     largest_exponent);
}

std::string fault_of_coefficient(double coefficient) {
  if (std::abs(coefficient) <= largest_coefficient) return {};
  return fmt::format("the coefficient is {:.3g}, and its size at most {:.0e}", coefficient, largest_coefficient);
}

std::string fault_of(const shell& one) {
  if (one.exponents.empty()) return "all coefficients of a shell are 0";
  return vanishes(one) ? "the shell vanishes: its primitives cancel, or its coefficients are too small" : "";
}

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
