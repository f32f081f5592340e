#pragma once
// Families of symmetric matrices by formula, most of them with a known spectrum.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libraries/sparse/matrix/csr_matrix.hpp"

namespace tessera::sparse {

/// A family by name and size, "lap3d:100":
///
/// | family | matrix |
/// |---|---|
/// | `lap2d:M`, `lap3d:M` | Laplacian on M^2 or M^3 points, 2d on the diagonal, -1 to neighbours, Dirichlet |
/// | `xxz:L` | Heisenberg ring of L spins 1/2 in the sector Sz = 0: sum of S_i S_(i+1); L even, 4 to 28 |
/// | `xx:L` | open chain: sum of Sx Sx + Sy Sy of neighbours, the same sector |
/// | `hs:L` | Haldane-Shastry ring: all pairs, (pi/L)^2 / sin^2(pi (i - j) / L) S_i S_j, the same sector |
/// | `kkt3d:N` | KKT matrix of a boundary control problem on N^3 points: indefinite, 2 N^3 + 6 N^2 rows |
/// | `rmat:S[:F]` | graph Laplacian D - W of an R-MAT graph of 2^S vertices with F edges drawn per vertex (8) |
/// | `nrmat:S[:F]` | its normalised form I - D^-1/2 W D^-1/2 |
///
/// Throws tessera::error of kind usage for another family, and a size that it has not, and of kind memory, before it is
/// made, when the matrix does not fit into `memory` bytes; without that number into what the machine has left.
csr_matrix generate(std::string_view family, std::optional<std::int64_t> memory = {});

/// The lowest eigenvalues in closed form, ascending, multiple ones repeated; at most `count`, fewer where fewer are
/// known (`xxz`: the ground state; `kkt3d`: none; `rmat`, `nrmat`: a zero).
std::vector<double> known_lowest(std::string_view family, std::size_t count);

}  // namespace tessera::sparse
