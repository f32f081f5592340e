#pragma once
// The fewest tiles that must move between a memory of T tiles and the one behind it. Derived in
// docs/decisions/0015_planned_orders.md. Standard library only.
#include <algorithm>
#include <cmath>

namespace bench {

/// Tiles that must come into view (be brought, or made for the first time) in a memory of `room` tiles, for
/// `operations` of which at most per_tiles(d) can be done with d different tiles. At least that many come whatever the
/// order: among the first room + x that come, and then between every x, no more than room + x are ever seen.
template <class Function>
double views_needed(double operations, double room, Function per_tiles) {
  const auto tiles_for = [&](double count) {  // the fewest with which so many operations can be done
    double d = 0;
    while (per_tiles(d) < count) d += 1;
    return d;
  };
  if (operations <= per_tiles(room)) return tiles_for(operations);
  double most = 0;
  for (double x = 1; x <= 4 * room; x += 1) {
    const double whole = std::floor(operations / per_tiles(room + x));
    if (whole == 0) {
      most = std::max(most, tiles_for(operations));
      break;
    }
    const double rest = operations - whole * per_tiles(room + x);
    most = std::max(most, room + whole * x + std::max(tiles_for(rest) - room, 0.0));
  }
  return most;
}

/// For C = A B of n x n tiles each: with d tiles at most (d/3)^(3/2) products (Loomis and Whitney).
inline double product_views(double n, double room) {
  return views_needed(n * n * n, room, [](double d) { return std::pow(d / 3, 1.5); });
}

/// For the Cholesky factorization of n x n tiles, of which the lower triangle is kept. An update joins three tiles
/// below the diagonal like the sides of a triangle, of which d sides have at most sqrt(2)/3 d^(3/2) (Kruskal and
/// Katona).
inline double factorization_views(double n, double room) {
  return views_needed(n * (n - 1) * (n - 2) / 6, room, [](double d) { return std::sqrt(2.0) / 3 * std::pow(d, 1.5); });
}

/// Tiles in and out for the product, C not read at first. What comes into view is brought but for the n^2 tiles of C
/// that are made; those are taken out in the end.
inline double product_bound(double n, double room) { return std::max(3 * n * n, product_views(n, room)); }

/// Tiles that must come in for the factorization, since two sets of tiles below the diagonal that together have all
/// sides of every triangle cannot both be small: one has all but those of a triangle of half the side. So while so few
/// are seen during two segments, a third begins.
inline double factorization_loads_by_halves(double n, double room) {
  const double half = std::floor(n / 2), least = n * (n - 1) / 2 - half * (half - 1) / 2;
  const double segment = least - 1 - room;
  return segment < 1 ? 0 : n + room + 2 * segment + 1;
}

/// Tiles in and out for the factorization.
inline double factorization_bound(double n, double room) {
  const double tiles = n * (n + 1) / 2;
  return tiles + std::max({tiles, factorization_views(n, room), factorization_loads_by_halves(n, room)});
}

}  // namespace bench
