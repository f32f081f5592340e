// Graphs whose degrees follow a power law.
#include <algorithm>
#include <cmath>

#include "libraries/sparse/matrix/families.hpp"

namespace tessera::sparse::families {
namespace {

/// The generator splitmix64: one sequence per seed, everywhere.
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : m_state(seed) {}
  /// In [0, 1).
  double next() {
    std::uint64_t z = m_state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
  }

 private:
  std::uint64_t m_state;
};

csr_matrix adjacency(int scale, int edge_factor) {
  const std::int64_t vertices = std::int64_t{1} << scale, edges = vertices * edge_factor;
  random_numbers random(static_cast<std::uint64_t>(scale) << 32 | static_cast<std::uint64_t>(edge_factor));
  std::vector<triplet> entries;
  entries.reserve(static_cast<std::size_t>(2 * edges));
  for (std::int64_t k = 0; k < edges; ++k) {
    std::int32_t from = 0, to = 0;
    for (int level = 0; level < scale; ++level) {
      const double x = random.next();  // quadrants .57, .19 (right), .19 (below), .05
      from = 2 * from + static_cast<std::int32_t>(x >= 0.76);
      to = 2 * to + static_cast<std::int32_t>((x >= 0.57 && x < 0.76) || x >= 0.95);
    }
    if (from == to) continue;
    entries.push_back({from, to, 1});
    entries.push_back({to, from, 1});
  }
  return matrix_of({}, vertices, vertices, entries);
}

}  // namespace

csr_matrix graph_laplacian(int scale, int edge_factor, bool normalised) {
  const csr_matrix graph = adjacency(scale, edge_factor);
  const auto degree = [&](std::int64_t v) {
    return static_cast<double>(graph.row_starts[static_cast<std::size_t>(v) + 1] -
                               graph.row_starts[static_cast<std::size_t>(v)]);
  };
  csr_matrix a;
  a.rows = a.columns = graph.rows;
  a.row_starts.push_back(0);
  const auto enter = [&](std::int64_t column, double value) {
    a.entry_columns.push_back(static_cast<std::int32_t>(column));
    a.values.push_back(value);
  };
  for (std::int64_t v = 0; v < graph.rows; ++v) {
    const double own = degree(v), diagonal = normalised ? std::min(own, 1.0) : own;
    bool entered = false;
    for (std::int64_t k = graph.row_starts[static_cast<std::size_t>(v)];
         k < graph.row_starts[static_cast<std::size_t>(v) + 1]; ++k) {
      const std::int64_t other = graph.entry_columns[static_cast<std::size_t>(k)];
      if (!entered && other > v) enter(v, diagonal), entered = true;
      enter(other, normalised ? -1 / std::sqrt(own * degree(other)) : -1);
    }
    if (!entered) enter(v, diagonal);
    a.row_starts.push_back(a.nonzeros());
  }
  return a;
}

}  // namespace tessera::sparse::families
