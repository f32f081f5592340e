#pragma once
// The worst of many errors, for checks of results.
#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::apps {

/// The larger one; infinity where the error is no number, so that a check never takes that for right.
inline double worse(double worst, double error) {
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
}

}  // namespace tessera::apps
