#include "apps/sparse/solver/hint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tessera::sparse {
namespace {

/// Whether a value that did not converge is so small a part of the norm that products with A hardly tell it from
/// others.
bool is_crowded(const unfinished_run& run) {
  if (run.options.which == spectrum_end::largest) return false;
  double least = run.found.norm;
  for (const eigenvalue& e : run.found.values)
    if (!e.converged) least = std::min(least, std::abs(e.value));
  constexpr double close_together = 1e-3;
  return least < close_together * run.found.norm;
}

/// For the low end of a matrix whose eigenvalues are close together there.
std::string for_crowded_end(const unfinished_run& run) {
  const char* const seen = "eigenvalues at this end are a tiny part of ||A|| and close together for products with A: ";
  if (!run.by.preconditioned) return fmt::format("{}--solver lobpcg --precond block-jacobi", seen);
  const bool tiles = run.options.precondition == preconditioning::block_jacobi;
  return fmt::format("{}{}--block {}, or --solver chebyshev", seen, tiles ? "" : "--precond block-jacobi, ",
                     2 * run.found.block);
}

/// With a margin, two digits.
std::int64_t enough_iterations(double done, double left) {
  const double all = done + 1.2 * left, unit = std::pow(10, std::floor(std::log10(all)) - 1);
  return std::llround(std::ceil(all / unit) * unit);
}

}  // namespace

std::string hint_for(const unfinished_run& run) {
  constexpr double most_iterations = 1e6;
  constexpr std::int64_t most_dense_rows = 2500;
  std::vector<std::string> helps;
  if (!run.options.deflate.empty()) helps.emplace_back("deflated vectors must be eigenvectors as exact as --tol");
  if (run.iterations_left && *run.iterations_left < most_iterations)
    helps.push_back(fmt::format("--iterations {}, by the pace of the last ones",
                                enough_iterations(run.found.loop.iterations, *run.iterations_left)));
  const bool crowded = is_crowded(run);
  if (crowded) helps.push_back(for_crowded_end(run));
  if (run.order <= most_dense_rows && run.options.which != spectrum_end::both)
    helps.push_back(fmt::format("--solver lobpcg --block {}, which solves it as a dense matrix", run.order / 3 + 1));
  if (!run.iterations_left && !crowded) helps.emplace_back("more --iterations");
  helps.emplace_back("a larger --block, or a larger --tol");
  return fmt::format("{}", fmt::join(helps, "; "));
}

}  // namespace tessera::sparse
