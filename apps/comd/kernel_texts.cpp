#include "apps/comd/kernel_texts.hpp"

#include <fmt/format.h>

#include <string>

namespace tessera::apps::comd {
namespace {

/// A body that goes over the partners of atom k of a cell: those of the cells around whose distance is below the
/// cutoff.
/// @param names    parameters behind (cell, k, counts, positions and before those of the grid
/// @param values   parameters behind those
/// @param begin    declares the sums @param pair  adds a partner, q of the cell `other`, dx, dy, dz away, to them
/// @param end      writes them
std::string over_partners(const char* names, const char* values, const char* begin, const std::string& pair,
                          const char* end) {
  return fmt::format(R"((cell, k, counts, positions, {}, nx, ny, nz, bx, by, bz, cutoff2, {}) {{
  {}
  if (k < counts[cell]) {{
    const positions_element x = positions(cell, 0, k), y = positions(cell, 1, k), z = positions(cell, 2, k);
    const long hx = cell / nz / ny, hy = cell / nz % ny, hz = cell % nz;
    for (long cx = hx - 1; cx <= hx + 1; ++cx)
      for (long cy = hy - 1; cy <= hy + 1; ++cy)
        for (long cz = hz - 1; cz <= hz + 1; ++cz) {{
          const long other = ((cx + nx) % nx * ny + (cy + ny) % ny) * nz + (cz + nz) % nz;
          const positions_element sx = cx < 0 ? -bx : cx >= nx ? bx : 0, sy = cy < 0 ? -by : cy >= ny ? by : 0,
                                  sz = cz < 0 ? -bz : cz >= nz ? bz : 0;
          const long count = counts[other];
          for (long q = 0; q < count; ++q) {{
            const positions_element dx = x - (positions(other, 0, q) + sx), dy = y - (positions(other, 1, q) + sy),
                                    dz = z - (positions(other, 2, q) + sz), square = dx * dx + dy * dy + dz * dz;
            if (square < cutoff2 && square > 0) {{
              {}
            }}
          }}
        }}
  }}
  {}
}})",
                     names, values, begin, pair, end);
}

/// Declares the interval of a table at a place: its number and how far into it. @param table  prefix of the names
/// @param type  of numbers
std::string interval(const char* type, const char* table, const char* at) {
  return fmt::format(R"(const {2} {0}_t = {1} * {0}_per_step;
              {2} {0}_in = {0}_t < {0}_last ? {0}_t : {0}_last;
              {0}_in = {0}_in > 0 ? {0}_in : 0;
              const long {0}_i = (long){0}_in;
              const {2} {0}_d = {0}_t - {0}_i;)",
                     table, at, type);
}
/// The table's function there, and its slope: an expression each.
std::string value_of(const char* table) {
  return fmt::format("({0}({0}_i, 0) + {0}_d * ({0}({0}_i, 1) + {0}_d * ({0}({0}_i, 2) + {0}_d * {0}({0}_i, 3))))",
                     table);
}
std::string slope_of(const char* table) {
  return fmt::format("(({0}({0}_i, 1) + {0}_d * (2 * {0}({0}_i, 2) + 3 * {0}_d * {0}({0}_i, 3))) * {0}_per_step)",
                     table);
}

}  // namespace

std::string_view lennard_jones_text() {
  static const std::string text = over_partners(
      "forces, energies", "sigma2, shift, strength, depth", "forces_element fx = 0, fy = 0, fz = 0, energy = 0;",
      R"(const forces_element inverse = 1 / square, s = sigma2 * inverse, s6 = s * s * s;
              const forces_element force = s6 * (2 * s6 - 1) * inverse;
              energy += s6 * (s6 - 1) - shift;
              fx += force * dx, fy += force * dy, fz += force * dz;)",
      R"(forces(cell, 0, k) = strength * fx, forces(cell, 1, k) = strength * fy, forces(cell, 2, k) = strength * fz;
  energies(cell, k) = depth * energy;)");
  return text;
}

std::string_view density_text() {
  static const std::string text =
      over_partners("density, densities", "density_per_step, density_last", "densities_element sum = 0;",
                    fmt::format(R"(const densities_element r = sqrt(square);
              {}
              sum += {};)",
                                interval("densities_element", "density", "r"), value_of("density")),
                    "densities(cell, k) = sum;");
  return text;
}

std::string_view embedding_text() {
  static const std::string text = fmt::format(
      R"((cell, k, counts, densities, embedding, slopes, energies, embedding_per_step, embedding_last) {{
  densities_element energy = 0, slope = 0;
  if (k < counts[cell]) {{
    {}
    energy = {};
    slope = {};
  }}
  energies(cell, k) = energy, slopes(cell, k) = slope;
}})",
      interval("densities_element", "embedding", "densities(cell, k)"), value_of("embedding"), slope_of("embedding"));
  return text;
}

std::string_view embedded_force_text() {
  static const std::string text = over_partners(
      "slopes, density, pair, forces, energies", "density_per_step, density_last, pair_per_step, pair_last",
      "forces_element fx = 0, fy = 0, fz = 0, energy = 0;",
      fmt::format(R"(const forces_element r = sqrt(square);
              {}
              {}
              const forces_element force = -({} + (slopes(cell, k) + slopes(other, q)) * {}) / r;
              energy += {};
              fx += force * dx, fy += force * dy, fz += force * dz;)",
                  interval("forces_element", "density", "r"), interval("forces_element", "pair", "r"), slope_of("pair"),
                  slope_of("density"), value_of("pair")),
      R"(forces(cell, 0, k) = fx, forces(cell, 1, k) = fy, forces(cell, 2, k) = fz;
  if (k < counts[cell]) energies(cell, k) += energy / 2;)");
  return text;
}

}  // namespace tessera::apps::comd
