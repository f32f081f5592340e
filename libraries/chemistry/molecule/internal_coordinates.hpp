#pragma once
// Places from a distance, an angle and a dihedral.
#include <array>
#include <optional>

namespace tessera::chemistry {

using position = std::array<double, 3>;

/// Where an atom is that has `distance` to `bonded`, the angle `angle` to `second` at `bonded`, and the dihedral
/// `dihedral` to `third` about the axis from `bonded` to `second`. Angles are in radians. The dihedral is positive
/// when, seen along the axis, the nearer bond turns clockwise to cover the farther one. None when `bonded` and `second`
/// are at one place, and when they lie on a line with `third` while the angle is not straight.
std::optional<position> placed(const position& bonded, double distance, const position& second, double angle,
                               const position& third, double dihedral);

}  // namespace tessera::chemistry
