#include "hierarchy/policy/learning.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::hierarchy {
namespace {

// Relative to what a task takes.
constexpr double noise = 0.1;             // of its time, where nothing has changed
constexpr double common_drift = 0.07;     // of both numbers together, from task to task: half of a time is believed
constexpr double separate_drift = 0.005;  // of each by itself
constexpr double surprise = 3;            // standard deviations

double square(double x) noexcept { return x * x; }

}  // namespace

learnt_cost::learnt_cost(const leaf_cost& kept) noexcept : m_cost(kept) { drift(0.3, 0, 0); }

void learnt_cost::begin(double iterations, double seconds) noexcept {
  m_cost = {0, seconds / iterations};
  // Of the sum little is unknown, but how much of it is fixed may be anything.
  const double unknown = square(0.5 * seconds);
  m_fixed_variance = unknown;
  m_covariance = -unknown / iterations;
  m_slope_variance = (unknown + square(noise * seconds)) / square(iterations);
}

/// Both numbers change by one factor of this standard deviation, and each by so much of a task's time by itself.
void learnt_cost::drift(double factor, double each, double iterations) noexcept {
  const double seconds = each * m_cost.seconds(iterations);
  m_fixed_variance += square(factor * m_cost.fixed) + square(seconds);
  m_covariance += square(factor) * m_cost.fixed * m_cost.per_iteration;
  m_slope_variance += square(factor * m_cost.per_iteration) + (iterations > 0 ? square(seconds / iterations) : 0);
}

void learnt_cost::note(double iterations, double seconds) noexcept {
  if (!m_cost.known()) return begin(iterations, seconds);
  drift(common_drift, separate_drift, iterations);
  const double expected = m_cost.seconds(iterations);
  const auto variance = [&] {
    return m_fixed_variance + 2 * iterations * m_covariance + square(iterations) * m_slope_variance +
           square(noise * expected);
  };
  double wrong = seconds - expected;
  const double most = surprise * std::sqrt(variance());
  if (std::abs(wrong) <= most) {
    m_surprises = 0;
  } else {
    m_surprises = wrong > 0 ? std::max(m_surprises, 0) + 1 : std::min(m_surprises, 0) - 1;
    if (std::abs(m_surprises) == 1)
      wrong = std::copysign(most, wrong);
    else
      drift(wrong / expected, 0, iterations);
  }
  const double fixed_gain = (m_fixed_variance + iterations * m_covariance) / variance(),
               slope_gain = (m_covariance + iterations * m_slope_variance) / variance();
  // The least per iteration: a leaf that seems to take none would get all.
  const double least = 0.01 * seconds / iterations;
  const double gained = m_fixed_variance + iterations * m_covariance,
               gained_slope = m_covariance + iterations * m_slope_variance;
  m_cost.fixed = std::max(m_cost.fixed + fixed_gain * wrong, 0.0);
  m_cost.per_iteration = std::max(m_cost.per_iteration + slope_gain * wrong, least);
  m_fixed_variance -= fixed_gain * gained;
  m_covariance -= fixed_gain * gained_slope;
  m_slope_variance -= slope_gain * gained_slope;
}

}  // namespace tessera::hierarchy
