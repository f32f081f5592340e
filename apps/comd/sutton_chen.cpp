// The tables of the embedded-atom potential that needs no file.
#include <algorithm>
#include <cmath>

#include "apps/comd/embedded_atom.hpp"
#include "apps/comd/units.hpp"

namespace tessera::apps::comd {
namespace {

/// 1 before `from`, 0 behind `to`, with two continuous derivatives.
double fade(double r, double from, double to) {
  const double x = std::clamp((r - from) / (to - from), 0.0, 1.0);
  return 1 - x * x * x * (10 - x * (15 - 6 * x));
}

template <class Function>
samples sample(double end, std::size_t count, const Function& of) {
  samples made{end / static_cast<double>(count - 1), {}};
  for (std::size_t k = 0; k < count; ++k) made.values.push_back(of(made.step * static_cast<double>(k)));
  return made;
}

}  // namespace

embedded_atom sutton_chen_copper() {
  constexpr double epsilon = 0.012382, c = 39.432, a = 3.61, begin = 6, cutoff = 7;
  constexpr double nearest = 1;    // closer atoms never come; the powers would overwhelm the tables
  constexpr double densest = 400;  // the perfect lattice has a density of 110
  const auto power = [=](double r, int n) { return std::pow(a / std::max(r, nearest), n) * fade(r, begin, cutoff); };
  return {.name = "Sutton-Chen copper",
          .mass = copper_mass,
          .lattice_constant = a,
          .cutoff = cutoff,
          .density = sample(cutoff, 3501, [&](double r) { return power(r, 6); }),
          .pair = sample(cutoff, 3501, [&](double r) { return epsilon * power(r, 9); }),
          .embedding = sample(densest, 4001, [&](double rho) { return -epsilon * c * std::sqrt(rho); })};
}

}  // namespace tessera::apps::comd
