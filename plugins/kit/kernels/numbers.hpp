#pragma once
// Numbers as kernels of the host compute with them.
#include <complex>
#include <cstring>

#include "plugins/kit/abi/operand.hpp"

namespace tessera::kit {

/// A factor that a caller gave, as the type that it has.
template <class T>
T value_of(const scalar& from) {
  T value;
  std::memcpy(&value, from.bytes, sizeof value);
  return value;
}

/// Complex numbers by the textbook formula: std::complex looks at every result for infinities.
template <class Real>
Real product(Real a, Real b) {
  return a * b;
}
template <class Real>
std::complex<Real> product(std::complex<Real> a, std::complex<Real> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace tessera::kit
