#include "libraries/chemistry/exchange/function_order.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace tessera::chemistry {
namespace {

constexpr std::array<std::string_view, 15> molden_g{"xxxx", "yyyy", "zzzz", "xxxy", "xxxz", "xyyy", "yyyz", "xzzz",
                                                    "yzzz", "xxyy", "xxzz", "yyzz", "xxyz", "xyyz", "xyzz"};
constexpr std::array<std::string_view, 10> molden_f{"xxx", "yyy", "zzz", "xyy", "xxy",
                                                    "xxz", "xzz", "yzz", "yyz", "xyz"};
constexpr std::array<std::string_view, 6> molden_d{"xx", "yy", "zz", "xy", "xz", "yz"};

/// The ordinal here of a Cartesian function: by falling powers of x, then of y.
std::size_t cartesian_ordinal(std::string_view powers) {
  const auto y = static_cast<std::size_t>(std::ranges::count(powers, 'y')),
             z = static_cast<std::size_t>(std::ranges::count(powers, 'z')), rest = y + z;
  return rest * (rest + 1) / 2 + z;
}

template <std::size_t count>
std::vector<std::size_t> ordinals_of(const std::array<std::string_view, count>& functions) {
  std::vector<std::size_t> all;
  for (const std::string_view one : functions) all.push_back(cartesian_ordinal(one));
  return all;
}

std::vector<std::size_t> in_turn(std::size_t count) {
  std::vector<std::size_t> all(count);
  for (std::size_t k = 0; k < count; ++k) all[k] = k;
  return all;
}

/// m = 0, 1, -1, 2, -2 ...; here they ascend from -l.
std::vector<std::size_t> by_size_of_m(std::size_t l) {
  std::vector<std::size_t> all{l};
  for (std::size_t m = 1; m <= l; ++m) {
    all.push_back(l + m);
    all.push_back(l - m);
  }
  return all;
}

}  // namespace

std::vector<std::size_t> molden_order(int momentum, bool spherical) {
  const auto l = static_cast<std::size_t>(momentum);
  if (l == 1) return spherical ? std::vector<std::size_t>{2, 0, 1} : in_turn(3);  // x is m = 1, y -1, z 0
  if (spherical) return by_size_of_m(l);
  return l == 0 ? in_turn(1) : l == 2 ? ordinals_of(molden_d) : l == 3 ? ordinals_of(molden_f) : ordinals_of(molden_g);
}

std::vector<std::size_t> trexio_order(int momentum, bool spherical) {
  const auto l = static_cast<std::size_t>(momentum);
  return spherical ? by_size_of_m(l) : in_turn((l + 1) * (l + 2) / 2);
}

}  // namespace tessera::chemistry
