#pragma once
// The families of generate.hpp one by one. For generate.cpp.
#include <cstdint>
#include <vector>

#include "libraries/sparse/matrix/csr_matrix.hpp"

namespace tessera::sparse::families {

/// 2 or 3 dimensions of `side` points.
csr_matrix laplacian(int dimensions, std::int64_t side);
/// Its lowest eigenvalues: sums over the dimensions of 4 sin^2(pi k / (2 (side + 1))), k = 1 .. side.
std::vector<double> laplacian_lowest(int dimensions, std::int64_t side, std::size_t count);

/// [[M, 0, A], [0, a I, B'], [A, B, 0]]: A the 27-point Laplacian on side^3 points, B couples each of 6 side^2 controls
/// on the faces with the 3 x 3 nearest points of its face.
csr_matrix boundary_control(std::int64_t side);

/// Which spins are coupled.
enum class spins : std::uint8_t {
  heisenberg_ring,
  open_xx_chain,
  haldane_shastry_ring
};
/// In the basis of `length`-bit words with length / 2 ones, ascending.
csr_matrix spin_chain(spins kind, int length);
/// What is known of its low end.
std::vector<double> spin_chain_lowest(spins kind, int length, std::size_t count);

/// Graph of 2^scale vertices, `edge_factor` edges drawn per vertex by quadrants of probability .57, .19, .19, .05;
/// without loops, each edge once.
csr_matrix graph_laplacian(int scale, int edge_factor, bool normalised);

}  // namespace tessera::sparse::families
