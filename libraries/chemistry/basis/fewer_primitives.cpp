#include "libraries/chemistry/basis/fewer_primitives.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::chemistry {
namespace {

bool may_share(const shell& one, const shell& other) {
  return one.atom == other.atom && one.at == other.at && one.momentum == other.momentum &&
         one.spherical == other.spherical;
}

void erase_primitive(shell& of, std::size_t k) {
  of.exponents.erase(of.exponents.begin() + static_cast<std::ptrdiff_t>(k));
  of.coefficients.erase(of.coefficients.begin() + static_cast<std::ptrdiff_t>(k));
}

/// The primitive of `single` is not needed in `contracted`.
void take_out(shell& contracted, const shell& single) {
  if (contracted.exponents.size() < 2) return;
  const auto found = std::ranges::find(contracted.exponents, single.exponents.front());
  if (found != contracted.exponents.end())
    erase_primitive(contracted, static_cast<std::size_t>(found - contracted.exponents.begin()));
}

/// Takes as much of `other`, which has the same primitives or more, from a contraction as makes its primitive k vanish.
/// Not where that were more than all of it: small differences of large numbers are not exact.
void eliminate(shell& from, std::size_t k, const shell& other) {
  if (from.exponents.size() < 2) return;
  const auto of_other = [&](double exponent) {
    const auto found = std::ranges::find(other.exponents, exponent);
    return found == other.exponents.end()
               ? 0.0
               : other.coefficients[static_cast<std::size_t>(found - other.exponents.begin())];
  };
  const double there = of_other(from.exponents[k]);
  if (std::abs(from.coefficients[k]) > std::abs(there)) return;
  const double part = from.coefficients[k] / there;
  for (std::size_t e = 0; e < from.exponents.size(); ++e) from.coefficients[e] -= part * of_other(from.exponents[e]);
  erase_primitive(from, k);
}

std::size_t tightest(const shell& of) {
  return static_cast<std::size_t>(std::ranges::max_element(of.exponents) - of.exponents.begin());
}
std::size_t most_diffuse(const shell& of) {
  return static_cast<std::size_t>(std::ranges::min_element(of.exponents) - of.exponents.begin());
}

void normalise(shell& of) {
  const double factor = 1 / std::sqrt(self_overlap(of));
  for (double& c : of.coefficients) c *= factor;
}

}  // namespace

std::vector<shell> with_fewer_primitives(std::vector<shell> shells) {
  const std::vector<shell> before = shells;
  for (const shell& single : before)
    if (single.exponents.size() == 1)
      for (shell& one : shells)
        if (may_share(one, single)) take_out(one, single);
  for (std::size_t k = 0; k + 1 < shells.size(); ++k) {
    shell &inner = shells[k], &outer = shells[k + 1];
    if (!may_share(inner, outer) || inner.exponents.size() < 3 || inner.exponents != outer.exponents) continue;
    eliminate(outer, tightest(outer), inner);
    if (outer.exponents.size() < inner.exponents.size()) eliminate(inner, most_diffuse(inner), outer);
  }
  for (std::size_t k = 0; k < shells.size(); ++k)
    if (shells[k].exponents != before[k].exponents) normalise(shells[k]);
  return shells;
}

}  // namespace tessera::chemistry
