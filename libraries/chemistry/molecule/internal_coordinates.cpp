#include "libraries/chemistry/molecule/internal_coordinates.hpp"

#include <cmath>

namespace tessera::chemistry {
namespace {

constexpr double straight = 1e-6;  // the sine of an angle that counts as 0 or 180 degrees

position difference(const position& a, const position& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

position cross(const position& a, const position& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double norm(const position& a) { return std::hypot(a[0], a[1], a[2]); }

position scaled(const position& a, double factor) { return {a[0] * factor, a[1] * factor, a[2] * factor}; }

/// Some direction that is perpendicular to `axis`, which has length 1.
position perpendicular(const position& axis) {
  const position other = std::abs(axis[0]) < 0.9 ? position{1, 0, 0} : position{0, 1, 0};
  const position found = cross(axis, other);
  return scaled(found, 1 / norm(found));
}

}  // namespace

std::optional<position> placed(const position& bonded, double distance, const position& second, double angle,
                               const position& third, double dihedral) {
  const position bond = difference(bonded, second), farther = difference(second, third);
  if (norm(bond) == 0) return std::nullopt;
  const position axis = scaled(bond, 1 / norm(bond));
  position normal = cross(farther, axis);
  if (norm(normal) > straight * norm(farther))
    normal = scaled(normal, 1 / norm(normal));
  else if (std::sin(angle) < straight)
    normal = perpendicular(axis);
  else
    return std::nullopt;
  const position in_plane = cross(normal, axis);
  const double along = -distance * std::cos(angle), aside = distance * std::sin(angle);
  position found = bonded;
  for (std::size_t i = 0; i < 3; ++i)
    found[i] += along * axis[i] + aside * (std::cos(dihedral) * in_plane[i] + std::sin(dihedral) * normal[i]);
  return found;
}

}  // namespace tessera::chemistry
