#include "apps/cholesky/factorization.hpp"

#include <string>

namespace tessera::apps {
namespace {

// Ready tasks near the diagonal first: they free the most successors. Updates of far columns fill the gaps.
std::int16_t priority_of(std::int64_t tiles, std::int64_t step, std::int64_t column) {
  const std::int64_t near = tiles - (column - step);
  return static_cast<std::int16_t>(std::min<std::int64_t>(near, 30000));
}

}  // namespace

std::uint64_t factorization_tasks(std::int64_t tiles) noexcept {
  const auto t = static_cast<std::uint64_t>(tiles);
  return t + t * (t - 1) + (t >= 2 ? t * (t - 1) * (t - 2) / 6 : 0);
}

template <class T>
void factorize(runtime& rt, array<T>& a, array<std::int32_t>& info) {
  const std::int64_t tiles = a.counts()[0];
  for (std::int64_t k = 0; k < tiles; ++k) {
    potrf(rt, a(k, k), info(k), {.priority = static_cast<std::int16_t>(priority_of(tiles, k, k) + 2)});
    for (std::int64_t i = k + 1; i < tiles; ++i)
      trsm<T>(rt, 1.0, a(k, k), a(i, k), {.priority = static_cast<std::int16_t>(priority_of(tiles, k, k) + (i == k + 1))});
    for (std::int64_t j = k + 1; j < tiles; ++j) {
      const std::int16_t priority = j == k + 1 ? priority_of(tiles, k, j) : std::int16_t{0};
      syrk<T>(rt, -1.0, a(j, k), 1.0, a(j, j), {.priority = priority});
      for (std::int64_t i = j + 1; i < tiles; ++i)
        gemm<T>(rt, T(-1), a(i, k), transpose::no, a(j, k), transpose::yes, T(1), a(i, j), {.priority = priority});
    }
  }
}
template void factorize(runtime& rt, array<double>& a, array<std::int32_t>& info);
template void factorize(runtime& rt, array<float>& a, array<std::int32_t>& info);

void check_pivots(array<std::int32_t>& info, std::int64_t tile) {
  for (std::size_t k = 0; k < info.size(); ++k) {
    const std::int32_t failed = info.read_host(info.block(k))[0];
    if (failed == 0) continue;
    const std::int64_t pivot = static_cast<std::int64_t>(k) * tile + failed;
    throw error(error_kind::numerical, "the matrix is not positive definite: pivot " + std::to_string(pivot) + " is not positive",
                "row and column " + std::to_string(pivot) + ", tile " + std::to_string(k),
                "check the matrix (a missing boundary condition?), or shift its diagonal");
  }
}

void solve(runtime& rt, const tiled_matrix& l, array<double>& b) {
  const std::int64_t tiles = l.counts()[0];
  const auto forward = [](view<const double> d, view<double> x) {
    for (std::int64_t j = 0; j < x.size(); ++j) {
      x[j] /= d(j, j);
      for (std::int64_t i = j + 1; i < x.size(); ++i) x[i] -= d(i, j) * x[j];
    }
  };
  const auto backward = [](view<const double> d, view<double> x) {
    for (std::int64_t j = x.size() - 1; j >= 0; --j) {
      for (std::int64_t i = j + 1; i < x.size(); ++i) x[j] -= d(i, j) * x[i];
      x[j] /= d(j, j);
    }
  };
  for (std::int64_t k = 0; k < tiles; ++k) {
    rt.submit("solve_lower", forward, read(l(k, k)), update(b(k)));
    for (std::int64_t i = k + 1; i < tiles; ++i)
      gemm(rt, -1.0, l(i, k), transpose::no, b(k), transpose::no, 1.0, b(i));
  }
  for (std::int64_t k = tiles - 1; k >= 0; --k) {
    rt.submit("solve_upper", backward, read(l(k, k)), update(b(k)));
    for (std::int64_t i = 0; i < k; ++i)
      gemm(rt, -1.0, l(k, i), transpose::yes, b(k), transpose::no, 1.0, b(i));
  }
}

}  // namespace tessera::apps
