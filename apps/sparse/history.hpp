#pragma once
// What an eigensolver tells of its iterations.
#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libraries/sparse/solver/eigenpairs.hpp"

namespace tessera::apps {

/// An iteration that has ended.
struct solver_moment {
  double seconds;  ///< since the start
  sparse::eigen_progress now;
};

/// Iterations until all pairs are done if residuals go on falling as they did in these: of the pair that needs the
/// most. nullopt where that cannot be known: few iterations, or a pair whose residual does not fall by more than it
/// scatters.
std::optional<double> iterations_left(std::span<const solver_moment> latest);
/// The same in seconds.
std::optional<double> seconds_left(std::span<const solver_moment> latest);

/// The iterations of a run, for the progress line, the report and the JSON. The solver notes; any thread reads.
class solver_history {
 public:
  /// A run begins: what was noted before, of an attempt that was given up, is dropped.
  void begin();
  void note(sparse::eigen_progress now) { note_at(seconds_since_start(), std::move(now)); }
  void note_at(double seconds, sparse::eigen_progress now);  ///< the same, with a time of the caller's

  /// "eigs: iteration 40, 3 of 8 pairs converged, largest residual 1.2e-04, 12 s, about 20 s left"; empty before the
  /// first iteration.
  std::string line(double seconds) const;
  /// Of the last iterations, see above; infinite where there are enough and residuals do not fall.
  std::optional<double> left() const;
  /// The first and the last iteration and, between, every one; of more than 1000 every second, fourth, ...
  std::vector<solver_moment> moments() const;

 private:
  double seconds_since_start() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
  }

  std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
  mutable std::mutex m_lock;
  std::vector<solver_moment> m_kept;
  std::size_t m_every = 1, m_skipped = 0;
  std::deque<solver_moment> m_latest;  ///< for the rate at which residuals fall
};

}  // namespace tessera::apps
