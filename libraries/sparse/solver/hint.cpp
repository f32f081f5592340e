#include "libraries/sparse/solver/hint.hpp"

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

/// Whether the solvers take it that solve for a diagonal B alone.
bool is_diagonal(const csr_matrix& b) {
  for (std::size_t i = 0; i + 1 < b.row_starts.size(); ++i)
    for (auto k = static_cast<std::size_t>(b.row_starts[i]); k < static_cast<std::size_t>(b.row_starts[i + 1]); ++k)
      if (static_cast<std::size_t>(b.entry_columns[k]) != i && b.values[k] != 0) return false;
  return true;
}

/// " without --degree": options of the run that another solver refuses; empty where there are none.
std::string without(const std::vector<const char*>& options) {
  return options.empty() ? std::string() : fmt::format(" without {}", fmt::join(options, " and "));
}

/// `--solver lobpcg`, for a run of another solver.
std::string to_lobpcg(const unfinished_run& run) {
  std::vector<const char*> refused;
  if (run.options.degree > 0) refused.push_back("--degree");
  if (run.options.orthogonal != reorthogonalization::full) refused.push_back("--reorthogonalize");
  return "--solver lobpcg --precond block-jacobi" + without(refused);
}

/// `--solver chebyshev`, likewise.
std::string to_chebyshev(const unfinished_run& run) {
  std::vector<const char*> refused;
  if (run.preconditioner_asked) refused.push_back("--precond");
  if (run.options.orthogonal != reorthogonalization::full) refused.push_back("--reorthogonalize");
  return "--solver chebyshev" + without(refused);
}

/// For the low end of a matrix whose eigenvalues are close together there.
std::string for_crowded_end(const unfinished_run& run) {
  constexpr const char* seen =
      "eigenvalues at this end are a tiny part of ||A|| and close together for products with A: ";
  const bool filters = run.by.name == "chebyshev";
  const bool takes_filters = !filters && (run.options.mass == nullptr || is_diagonal(*run.options.mass));
  if (run.by.preconditioned) {
    const bool tiles = run.options.precondition == preconditioning::block_jacobi;
    return fmt::format("{}{}--block {}{}", seen, tiles ? "" : "--precond block-jacobi, ", 2 * run.found.block,
                       takes_filters ? ", or " + to_chebyshev(run) : std::string());
  }
  if (run.options.which != spectrum_end::both) return seen + to_lobpcg(run);  // which goes to one end
  return seen + (takes_filters ? to_chebyshev(run) : fmt::format("--block {}", 2 * run.found.block));
}

/// Where pairs are exact, and not those that were asked for.
std::string for_passed_over(const unfinished_run& run) {
  const bool ended = run.found.loop.iterations >= run.options.max_iterations;
  return fmt::format("pairs were passed over, the outermost near {:.6g} or further out: {}, a larger --block{}",
                     run.options.which == spectrum_end::largest ? std::ranges::max(run.found.passed_over)
                                                                : std::ranges::min(run.found.passed_over),
                     ended ? "more --iterations" : "another --seed",
                     run.options.guess.empty() ? "" : ", or no --guess");
}

constexpr const char* for_deflated = "deflated vectors must be eigenvectors as exact as --tol";

/// For a dense matrix: nothing goes on there. With a B that is badly conditioned it is less exact than LOBPCG, which
/// measures residuals with B as it is.
std::string for_dense(const unfinished_run& run) {
  constexpr std::int64_t blocks_of_iteration = 10;
  std::vector<std::string> helps;
  if (!run.options.deflate.empty()) helps.emplace_back(for_deflated);
  const std::int64_t most = run.order / blocks_of_iteration;
  if (run.options.mass != nullptr && !is_diagonal(*run.options.mass) && most >= run.options.pairs)
    helps.push_back(
        fmt::format("--block {} or less, with which LOBPCG iterates: of this pencil a dense solution is no "
                    "more exact",
                    most));
  helps.emplace_back("a larger --tol");
  return fmt::format("{}", fmt::join(helps, "; "));
}

/// With a margin, two digits.
std::int64_t enough_iterations(double done, double left) {
  const double all = done + 1.2 * left, unit = std::pow(10, std::floor(std::log10(all)) - 1);
  return std::llround(std::ceil(all / unit) * unit);
}

}  // namespace

std::string hint_for(const unfinished_run& run) {
  constexpr double max_iterations = 1e6;
  constexpr std::int64_t max_dense_rows = 2500;
  if (!run.found.passed_over.empty()) return for_passed_over(run);
  if (run.found.dense) return for_dense(run);
  if (run.options.max_iterations == 0) return "more --iterations";  // how residuals fall is not known
  std::vector<std::string> helps;
  if (run.found.gave_up)
    helps.push_back(fmt::format("the solver gave up, since by its pace the {} iterations were not enough",
                                run.options.max_iterations));
  if (!run.options.deflate.empty()) helps.emplace_back(for_deflated);
  if (run.order <= max_dense_rows)
    helps.push_back(fmt::format("--block {}, which solves it as a dense matrix", run.order));
  // None are left by estimates that the residuals did not confirm: more of them confirm nothing.
  if (run.iterations_left && *run.iterations_left > 0 && *run.iterations_left < max_iterations) {
    const std::int64_t enough = enough_iterations(run.found.loop.iterations, *run.iterations_left);
    // A solver that gave up had seen another pace.
    if (enough > run.options.max_iterations)
      helps.push_back(fmt::format("--iterations {}, by the pace of the last ones", enough));
  }
  const bool crowded = is_crowded(run);
  if (crowded) helps.push_back(for_crowded_end(run));
  if (!run.iterations_left && !crowded && !run.found.gave_up) helps.emplace_back("more --iterations");
  if (!run.by.block_limits_levels)
    helps.emplace_back("a larger --block, or a larger --tol");
  else if (run.found.block > 1)
    helps.emplace_back("--block 1, which may need fewer restarts and sees one of several equal values; a larger --tol");
  else
    helps.emplace_back("a larger --tol");
  return fmt::format("{}", fmt::join(helps, "; "));
}

}  // namespace tessera::sparse
