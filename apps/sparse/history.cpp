#include "apps/sparse/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "libraries/progress/progress.hpp"

namespace tessera::apps {
namespace {

constexpr std::size_t max_kept = 1000, max_latest = 40, min_latest = 5;

/// Iterations until a pair's residual is small enough, from the line that fits its logarithms best.
std::optional<double> iterations_left_of(std::span<const solver_moment> latest, std::size_t pair) {
  const auto distance = [&](const solver_moment& m) {  // in powers of ten
    const sparse::pair_progress& p = m.now.of_pairs[pair];
    return std::log10(p.residual / p.wanted);
  };
  const double left = distance(latest.back());
  if (left <= 0) return 0;
  const auto n = static_cast<double>(latest.size());
  double x_sum = 0, y_sum = 0, xx_sum = 0, xy_sum = 0;
  for (const solver_moment& m : latest) {
    const double x = m.now.iteration - latest.front().now.iteration, y = distance(m);
    x_sum += x, y_sum += y, xx_sum += x * x, xy_sum += x * y;
  }
  const double slope = (n * xy_sum - x_sum * y_sum) / (n * xx_sum - x_sum * x_sum);
  if (!(slope < 0) || !std::isfinite(left)) return std::nullopt;
  // A fall that is within the scatter is none.
  double scatter = 0;
  for (const solver_moment& m : latest) {
    const double x = m.now.iteration - latest.front().now.iteration;
    scatter += std::pow(distance(m) - (y_sum + slope * (n * x - x_sum)) / n, 2);
  }
  const double fall = -slope * (latest.back().now.iteration - latest.front().now.iteration);
  if (fall < 2 * std::sqrt(scatter / n)) return std::nullopt;
  return left / -slope;
}

}  // namespace

std::optional<double> iterations_left(std::span<const solver_moment> latest) {
  if (latest.size() < min_latest) return std::nullopt;
  double most = 0;
  for (std::size_t pair = 0; pair < latest.back().now.of_pairs.size(); ++pair) {
    const std::optional<double> of_pair = iterations_left_of(latest, pair);
    if (!of_pair) return std::nullopt;
    most = std::max(most, *of_pair);
  }
  return most;
}

std::optional<double> seconds_left(std::span<const solver_moment> latest) {
  const std::optional<double> iterations = iterations_left(latest);
  if (!iterations) return std::nullopt;
  const solver_moment &first = latest.front(), &last = latest.back();
  return *iterations * (last.seconds - first.seconds) / (last.now.iteration - first.now.iteration);
}

void solver_history::begin() {
  const std::lock_guard hold(m_lock);
  m_start = std::chrono::steady_clock::now();
  m_kept.clear(), m_latest.clear();
  m_every = 1, m_skipped = 0;
}

void solver_history::note_at(double seconds, sparse::eigen_progress now) {
  const std::lock_guard hold(m_lock);
  // A solver that begins again has another rate.
  if (!m_latest.empty() && now.iteration <= m_latest.back().now.iteration) m_latest.clear();
  m_latest.push_back({seconds, std::move(now)});
  if (m_latest.size() > max_latest) m_latest.pop_front();
  if (++m_skipped < m_every) return;
  m_skipped = 0;
  m_kept.push_back(m_latest.back());
  if (m_kept.size() < 2 * max_kept) return;
  for (std::size_t k = 1; 2 * k < m_kept.size(); ++k) m_kept[k] = std::move(m_kept[2 * k]);
  m_kept.resize(max_kept);
  m_skipped = m_every;  // the last one is gone, and the next is kept
  m_every *= 2;
}

std::string solver_history::line(double seconds) const {
  const std::lock_guard hold(m_lock);
  if (m_latest.empty()) return {};
  const sparse::eigen_progress& now = m_latest.back().now;
  std::string text = fmt::format("eigs: iteration {}, {} of {} pairs converged, largest residual {:.1e}, {}",
                                 now.iteration, now.converged, now.pairs, now.largest_residual, duration_text(seconds));
  const std::vector<solver_moment> latest(m_latest.begin(), m_latest.end());
  if (const std::optional<double> left = seconds_left(latest))
    text += fmt::format(", about {} left", duration_text(*left));
  return text;
}

std::optional<double> solver_history::left() const {
  const std::lock_guard hold(m_lock);
  if (m_latest.size() < min_latest) return std::nullopt;
  return iterations_left(std::vector<solver_moment>(m_latest.begin(), m_latest.end()))
      .value_or(std::numeric_limits<double>::infinity());
}

std::vector<solver_moment> solver_history::moments() const {
  const std::lock_guard hold(m_lock);
  std::vector<solver_moment> all = m_kept;
  if (!m_latest.empty() && (all.empty() || all.back().now.iteration != m_latest.back().now.iteration))
    all.push_back(m_latest.back());
  return all;
}

}  // namespace tessera::apps
