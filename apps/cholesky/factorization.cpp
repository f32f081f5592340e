#include "apps/cholesky/factorization.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "apps/cholesky/order.hpp"

namespace tessera::apps {
namespace {

// Ready tasks near the diagonal first: they free the most successors. Updates of far columns fill the gaps.
std::int16_t priority_of(std::int64_t tiles, std::int64_t step, std::int64_t column) {
  const std::int64_t near = tiles - (column - step);
  return static_cast<std::int16_t>(std::min<std::int64_t>(near, 30000));
}

/// The tasks of the factorization, one at a time.
template <class T>
struct steps {
  runtime& rt;
  array<T>& a;
  array<std::int32_t>& info;
  std::uint32_t at;

  /// Factorizes the tile (k, k).
  void factor(std::int64_t k, std::int16_t priority = 0) const {
    potrf(rt, a(k, k), info(k), {.priority = priority, .at = at});
  }
  /// Ends the tile (i, k) below it.
  void divide(std::int64_t i, std::int64_t k, std::int16_t priority = 0) const {
    trsm<T>(rt, 1.0, a(k, k), a(i, k), {.priority = priority, .at = at});
  }
  /// Subtracts from the tile (i, j) what column k contributes.
  void update(std::int64_t i, std::int64_t j, std::int64_t k, std::int16_t priority = 0) const {
    const task_options options{.priority = priority, .at = at};
    if (i == j)
      syrk<T>(rt, -1.0, a(j, k), 1.0, a(j, j), options);
    else
      gemm<T>(rt, T(-1), a(i, k), transpose::no, a(j, k), transpose::yes, T(1), a(i, j), options);
  }
};

/// Ends the tiles in rows [top, bottom) of a panel: what the columns to the left contribute, forwards or backwards,
/// then the rest.
template <class T>
void finish_rows(const steps<T>& submit, const factor_panel& p, std::int64_t top, std::int64_t bottom, bool backwards) {
  const std::int64_t end = p.column + p.width;
  std::vector<std::pair<std::int64_t, std::int64_t>> tiles;
  for (std::int64_t j = p.column; j < end; ++j)
    for (std::int64_t i = std::max(j, top); i < bottom; ++i) tiles.emplace_back(i, j);
  const auto left = [&](std::int64_t step) { return backwards ? p.column - 1 - step : step; };
  // The first columns come to two tiles after the other, so that the tiles are not wanted all at the beginning; two, so
  // that streams need not wait for each other.
  const std::int64_t first = std::min(first_columns, p.column);
  constexpr std::size_t few = 2;
  for (std::size_t begin = 0; begin < tiles.size(); begin += few)
    for (std::int64_t step = 0; step < first; ++step)
      for (std::size_t k = begin; k < std::min(begin + few, tiles.size()); ++k)
        submit.update(tiles[k].first, tiles[k].second, left(step));
  for (std::int64_t step = first; step < p.column; ++step)
    for (const auto& [i, j] : tiles) submit.update(i, j, left(step));
  for (std::int64_t k = p.column; k < end; ++k) {
    if (k >= top && k < bottom) submit.factor(k);
    for (std::int64_t i = std::max(k + 1, top); i < bottom; ++i) submit.divide(i, k);
    for (const auto& [i, j] : tiles)
      if (j > k) submit.update(i, j, k);
  }
}

// Panels alternate between downwards and upwards, groups of rows between forwards and backwards: what was used last is
// used first.
template <class T>
void factorize_by_panels(const steps<T>& submit, std::int64_t tiles, const std::vector<factor_panel>& plan) {
  bool backwards = false, upwards = false;
  for (const factor_panel& p : plan) {
    const std::int64_t below = std::min(p.column + std::max(p.width, p.at_once), tiles);
    finish_rows(submit, p, p.column, below, backwards);
    const std::int64_t groups = (tiles - below + p.at_once - 1) / p.at_once;
    for (std::int64_t g = 0; g < groups; ++g) {
      const std::int64_t top = below + (upwards ? groups - 1 - g : g) * p.at_once;
      backwards = !backwards;
      finish_rows(submit, p, top, std::min(top + p.at_once, tiles), backwards);
    }
    backwards = !backwards;
    upwards = !upwards;
  }
}

}  // namespace

std::uint64_t factorization_tasks(std::int64_t tiles) noexcept {
  const auto t = static_cast<std::uint64_t>(tiles);
  return t + t * (t - 1) + (t >= 2 ? t * (t - 1) * (t - 2) / 6 : 0);
}

template <class T>
void factorize(runtime& rt, array<T>& a, array<std::int32_t>& info, const memory_budget& into) {
  const std::int64_t tiles = a.counts()[0];
  const auto tile_bytes = static_cast<std::uint64_t>(a.block_extents()[0] * a.block_extents()[1]) * sizeof(T);
  const std::vector<factor_panel> plan = plan_factorization(tiles, into.tiles(tile_bytes, tiles * (tiles + 1) / 2));
  const steps<T> submit{rt, a, info, into.location};
  if (!plan.empty()) return factorize_by_panels(submit, tiles, plan);
  for (std::int64_t k = 0; k < tiles; ++k) {
    submit.factor(k, static_cast<std::int16_t>(priority_of(tiles, k, k) + 2));
    for (std::int64_t i = k + 1; i < tiles; ++i)
      submit.divide(i, k, static_cast<std::int16_t>(priority_of(tiles, k, k) + (i == k + 1)));
    for (std::int64_t j = k + 1; j < tiles; ++j) {
      const std::int16_t priority = j == k + 1 ? priority_of(tiles, k, j) : std::int16_t{0};
      for (std::int64_t i = j; i < tiles; ++i) submit.update(i, j, k, priority);
    }
  }
}
template void factorize(runtime& rt, array<double>& a, array<std::int32_t>& info, const memory_budget& into);
template void factorize(runtime& rt, array<float>& a, array<std::int32_t>& info, const memory_budget& into);

void check_pivots(array<std::int32_t>& info, std::int64_t tile) {
  for (std::size_t k = 0; k < info.size(); ++k) {
    const std::int32_t failed = info.read_host(info.block(k))[0];
    if (failed == 0) continue;
    const std::int64_t pivot = static_cast<std::int64_t>(k) * tile + failed;
    throw error(error_kind::numerical,
                "the matrix is not positive definite: pivot " + std::to_string(pivot) + " is not positive",
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
    for (std::int64_t i = k + 1; i < tiles; ++i) gemm(rt, -1.0, l(i, k), transpose::no, b(k), transpose::no, 1.0, b(i));
  }
  for (std::int64_t k = tiles - 1; k >= 0; --k) {
    rt.submit("solve_upper", backward, read(l(k, k)), update(b(k)));
    for (std::int64_t i = 0; i < k; ++i) gemm(rt, -1.0, l(k, i), transpose::yes, b(k), transpose::no, 1.0, b(i));
  }
}

}  // namespace tessera::apps
