#pragma once
// Tiled Cholesky factorization and solution as tasks.
#include <cstdint>

#include "apps/common/memory_budget.hpp"
#include "tessera/tessera.hpp"

namespace tessera::apps {

/// Tasks that factorize submits for t tiles per side: t potrf, t(t-1)/2 trsm, t(t-1)/2 syrk, t(t-1)(t-2)/6 gemm.
std::uint64_t factorization_tasks(std::int64_t tiles) noexcept;

/// Submits the right-looking tiled factorization A = L L^T, in place, lower triangle (LAPACK's dpotrf by tiles; e.g.
/// Buttari et al., Parallel Computing 35, 2009). Tasks on the critical path have priority. Where the matrix does not
/// fit into the room, the same tasks in the order of plan_factorization, without priorities. `info`: one element per
/// diagonal tile. For double and float.
template <class T>
void factorize(runtime& rt, tiled_matrix<T>& a, array<std::int32_t>& info, const memory_budget& into = {});

/// After a fence: throws tessera::error (numerical) naming the first pivot that is not positive, counted from 1.
void check_pivots(array<std::int32_t>& info, std::int64_t tile);

/// Submits L y = b, then L^T x = y; b (n elements in blocks of the tile size) becomes x.
void solve(runtime& rt, const tiled_matrix<double>& l, tiled_matrix<double>& b);

}  // namespace tessera::apps
