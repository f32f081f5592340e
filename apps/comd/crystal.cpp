#include "apps/comd/crystal.hpp"

#include "apps/comd/units.hpp"

namespace tessera::apps::comd {

vector3 crystal::box() const {
  vector3 edges{};
  for (std::size_t a = 0; a < 3; ++a) edges[a] = static_cast<double>(size[a]) * lattice_constant;
  return edges;
}

crystal make_crystal(const std::array<std::int64_t, 3>& size, double lattice_constant) {
  constexpr double sites[4][3] = {{0.25, 0.25, 0.25}, {0.25, 0.75, 0.75}, {0.75, 0.25, 0.75}, {0.75, 0.75, 0.25}};
  crystal made{size, lattice_constant, {}, {}};
  made.positions.reserve(static_cast<std::size_t>(4 * size[0] * size[1] * size[2]));
  for (std::int64_t x = 0; x < size[0]; ++x)
    for (std::int64_t y = 0; y < size[1]; ++y)
      for (std::int64_t z = 0; z < size[2]; ++z)
        for (const auto& site : sites)
          made.positions.push_back({(static_cast<double>(x) + site[0]) * lattice_constant,
                                    (static_cast<double>(y) + site[1]) * lattice_constant,
                                    (static_cast<double>(z) + site[2]) * lattice_constant});
  made.momenta.assign(made.positions.size(), vector3{});
  return made;
}

}  // namespace tessera::apps::comd
