#include "apps/comd/reference.hpp"

#include <cmath>

namespace tessera::apps::comd {
namespace {

/// The functions of an embedded-atom potential over memory of their own.
struct owned_tables {
  std::vector<double> density, pair, embedding;
  embedded_atom_tables<double> tables;
  explicit owned_tables(const embedded_atom& of)
      : density(cubic_coefficients(of.density)),
        pair(cubic_coefficients(of.pair)),
        embedding(cubic_coefficients(of.embedding)),
        tables{of.cutoff, over(density, of.density), over(pair, of.pair), over(embedding, of.embedding)} {}

 private:
  static cubic_table<double> over(const std::vector<double>& coefficients, const samples& of) {
    return table_over(coefficients.data(), static_cast<std::int64_t>(of.values.size()) - 1, of.step);
  }
};

/// Calls `use(i, j, difference, square)` for each pair i < j that is within the cutoff.
template <class Use>
void for_each_pair(const vector3& box, std::span<const vector3> positions, double cutoff, const Use& use) {
  const double limit = cutoff * cutoff;
  for (std::size_t i = 0; i < positions.size(); ++i)
    for (std::size_t j = i + 1; j < positions.size(); ++j) {
      vector3 d{};
      double square = 0;
      for (std::size_t a = 0; a < 3; ++a) {
        d[a] = positions[i][a] - positions[j][a];
        if (d[a] > box[a] / 2) d[a] -= box[a];
        if (d[a] < -box[a] / 2) d[a] += box[a];
        square += d[a] * d[a];
      }
      if (square < limit) use(i, j, d, square);
    }
}

void add_force(all_pairs& to, std::size_t i, std::size_t j, const vector3& difference, double factor) {
  for (std::size_t a = 0; a < 3; ++a) {
    to.forces[i][a] += factor * difference[a];
    to.forces[j][a] -= factor * difference[a];
  }
}

all_pairs sum_pairs(const lennard_jones& by, const vector3& box, std::span<const vector3> positions) {
  all_pairs made{0, std::vector<vector3>(positions.size())};
  for_each_pair(box, positions, by.cutoff, [&](std::size_t i, std::size_t j, const vector3& d, double square) {
    made.energy += by.energy(square);
    add_force(made, i, j, d, by.force(square));
  });
  return made;
}

all_pairs sum_pairs(const embedded_atom& of, const vector3& box, std::span<const vector3> positions) {
  const owned_tables owned(of);
  const embedded_atom_tables<double>& by = owned.tables;
  all_pairs made{0, std::vector<vector3>(positions.size())};
  std::vector<double> densities(positions.size());
  for_each_pair(box, positions, of.cutoff, [&](std::size_t i, std::size_t j, const vector3&, double square) {
    const double f = by.density.value(std::sqrt(square));
    densities[i] += f, densities[j] += f;
  });
  for (const double rho : densities) made.energy += by.embedding.value(rho);
  for_each_pair(box, positions, of.cutoff, [&](std::size_t i, std::size_t j, const vector3& d, double square) {
    const double r = std::sqrt(square);
    const double slopes = by.embedding.slope(densities[i]) + by.embedding.slope(densities[j]);
    made.energy += by.pair.value(r);
    add_force(made, i, j, d, -(by.pair.slope(r) + slopes * by.density.slope(r)) / r);
  });
  return made;
}

/// Calls `use(square)` with the square of the distance of each other site.
template <class Use>
void for_each_site(double lattice_constant, double cutoff, const Use& use) {
  const double half = lattice_constant / 2;
  const auto most = static_cast<int>(cutoff / half);
  for (int x = -most; x <= most; ++x)
    for (int y = -most; y <= most; ++y)
      for (int z = -most; z <= most; ++z) {
        const double square = half * half * (x * x + y * y + z * z);
        if ((x + y + z) % 2 == 0 && square > 0 && square < cutoff * cutoff) use(square);
      }
}

double site_energy(const lennard_jones& by, double lattice_constant) {
  double energy = 0;
  for_each_site(lattice_constant, by.cutoff, [&](double square) { energy += by.energy(square) / 2; });
  return energy;
}

double site_energy(const embedded_atom& of, double lattice_constant) {
  const owned_tables owned(of);
  double energy = 0, density = 0;
  for_each_site(lattice_constant, of.cutoff, [&](double square) {
    energy += owned.tables.pair.value(std::sqrt(square)) / 2;
    density += owned.tables.density.value(std::sqrt(square));
  });
  return energy + owned.tables.embedding.value(density);
}

}  // namespace

double cutoff_of(const potential& p) {
  return std::visit([](const auto& one) { return one.cutoff; }, p);
}

all_pairs sum_over_all_pairs(const potential& by, const vector3& box, std::span<const vector3> positions) {
  return std::visit([&](const auto& one) { return sum_pairs(one, box, positions); }, by);
}

double lattice_energy(const potential& by, double lattice_constant) {
  return std::visit([&](const auto& one) { return site_energy(one, lattice_constant); }, by);
}

std::optional<known_energy> known_lennard_jones(std::int64_t cells, std::int64_t step) {
  struct entry {
    std::int64_t cells, step;
    known_energy energy;
  };
  static constexpr entry known[] = {{10, 10, {-1.166059664379, -1.233186130247}},
                                    {10, 100, {-1.166049902620, -1.206644363408}},
                                    {20, 10, {-1.166059622057, -1.233147893486}},
                                    {20, 50, {-1.166051645149, -1.193765243379}},
                                    {20, 100, {-1.166049767266, -1.206959996208}}};
  for (const entry& e : known)
    if (e.cells == cells && e.step == step) return e.energy;
  return {};
}

}  // namespace tessera::apps::comd
