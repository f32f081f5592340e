#pragma once
// The exponential function as plain arithmetic, which a compiler does for several numbers at once.
#include <bit>
#include <cstdint>

namespace tessera::apps::rodinia {

/// ln 2 in two parts; a product of the first with a whole number below 2^11 is exact.
inline constexpr double exponential_ln2 = 0x1.62e42fee00000p-1, exponential_ln2_rest = 0x1.a39ef35793c76p-33;

/// e^x for |x| <= 700, right to two units in the last place. A text for devices that does the same operations, with
/// `rint` and `ldexp` for the whole number and the power of two, has the same bits.
[[gnu::always_inline]] inline double exponential(double x) noexcept {
  constexpr double rounder = 0x1.8p52;  // a sum with it keeps whole numbers only: in the last bits
  const double rounded = x * 1.4426950408889634 + rounder, n = rounded - rounder;
  const double r = x - n * exponential_ln2 - n * exponential_ln2_rest;  // x = n ln 2 + r, |r| <= ln(2) / 2
  double e = 1.0 / 6227020800;  // the series of e^r, whose next term is below the last bit of 1
  for (const double factorial :
       {479001600., 39916800., 3628800., 362880., 40320., 5040., 720., 120., 24., 6., 2., 1., 1.})
    e = e * r + 1 / factorial;
  return e * std::bit_cast<double>((std::bit_cast<std::uint64_t>(rounded) + 1023) << 52);
}

}  // namespace tessera::apps::rodinia
