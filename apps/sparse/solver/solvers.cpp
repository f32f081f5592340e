#include "apps/sparse/solver/solvers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "apps/sparse/solver/chebyshev.hpp"
#include "apps/sparse/solver/lanczos.hpp"
#include "apps/sparse/solver/lobpcg.hpp"
#include "core/base/error.hpp"

namespace tessera::sparse {
namespace {

constexpr std::array all{
    eigensolver{.name = "lobpcg",
                .title = "LOBPCG",
                .iteration = "iterations",
                .block_limits_levels = false,
                .hint = "more --iterations, a larger --block, --precond, or a larger --tol",
                .least_memory = least_memory_of_lobpcg,
                .solve = lobpcg},
    eigensolver{.name = "lanczos",
                .title = "Lanczos",
                .iteration = "restarts",
                .block_limits_levels = true,
                .hint = "more --iterations, a larger --tol, or --solver lobpcg with --precond for the small end",
                .least_memory = least_memory_of_lanczos,
                .solve = lanczos},
    eigensolver{.name = "chebyshev",
                .title = "Chebyshev-filtered subspaces",
                .iteration = "iterations",
                .block_limits_levels = false,
                .hint = "more --iterations, a larger --block, a larger --degree, or a larger --tol",
                .least_memory = least_memory_of_chebyshev,
                .solve = chebyshev}};

}  // namespace

std::span<const eigensolver> eigensolvers() noexcept { return all; }

std::vector<std::string> eigensolver_names() {
  std::vector<std::string> names;
  for (const eigensolver& s : all) names.emplace_back(s.name);
  return names;
}

std::string hint_for(const eigensolver& by, const eigen_options& o, const eigenpairs& found) {
  if (!o.deflate.empty()) return fmt::format("deflated vectors must be eigenvectors as exact as --tol; {}", by.hint);
  double least = found.norm;
  for (const eigenvalue& e : found.values)
    if (!e.converged) least = std::min(least, std::abs(e.value));
  constexpr double close_together = 1e-3;  // of the norm: gaps between such values are tiny parts of the spectrum
  const bool conditioned = o.precondition == preconditioning::jacobi || o.precondition == preconditioning::block_jacobi;
  if (o.which == spectrum_end::largest || conditioned || !(least < close_together * found.norm))
    return std::string(by.hint);
  return fmt::format(
      "eigenvalues of {:.0e} ||A|| are close together for products with A: --solver lobpcg --precond block-jacobi; "
      "else {}",
      least / found.norm, by.hint);
}

const eigensolver& eigensolver_named(std::string_view name) {
  const auto found = std::ranges::find(all, name, &eigensolver::name);
  if (found == all.end())
    throw error(error_kind::usage, fmt::format("there is no eigensolver '{}'", name), "the solver",
                fmt::format("{}", fmt::join(eigensolver_names(), ", ")));
  return *found;
}

}  // namespace tessera::sparse
