#include "libraries/sparse/solver/solvers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/base/error.hpp"
#include "libraries/sparse/solver/chebyshev.hpp"
#include "libraries/sparse/solver/lanczos.hpp"
#include "libraries/sparse/solver/lobpcg.hpp"

namespace tessera::sparse {
namespace {

constexpr std::array all{eigensolver{.name = "lobpcg",
                                     .title = "LOBPCG",
                                     .iteration = "iterations",
                                     .block_limits_levels = false,
                                     .preconditioned = true,
                                     .min_memory = min_memory_of_lobpcg,
                                     .solve = lobpcg},
                         eigensolver{.name = "lanczos",
                                     .title = "Lanczos",
                                     .iteration = "restarts",
                                     .block_limits_levels = true,
                                     .preconditioned = false,
                                     .min_memory = min_memory_of_lanczos,
                                     .solve = lanczos},
                         eigensolver{.name = "chebyshev",
                                     .title = "Chebyshev-filtered subspaces",
                                     .iteration = "iterations",
                                     .block_limits_levels = false,
                                     .preconditioned = false,
                                     .min_memory = min_memory_of_chebyshev,
                                     .solve = chebyshev}};

}  // namespace

std::span<const eigensolver> eigensolvers() noexcept { return all; }

std::vector<std::string> eigensolver_names() {
  std::vector<std::string> names;
  for (const eigensolver& s : all) names.emplace_back(s.name);
  return names;
}

const eigensolver& eigensolver_named(std::string_view name) {
  const auto found = std::ranges::find(all, name, &eigensolver::name);
  if (found == all.end())
    throw error(error_kind::usage, fmt::format("there is no eigensolver '{}'", name), "the solver",
                fmt::format("{}", fmt::join(eigensolver_names(), ", ")));
  return *found;
}

}  // namespace tessera::sparse
