#pragma once
// What the policy auto learns of a leaf from one launch of a region to the next. Pure.

namespace tessera::hierarchy {

/// Iterations per second that a leaf is taken to do, after a task of it did `now`. The mean with what was known halves
/// what one task tells, so that a disturbance is not believed at once, and a leaf that has become slower is known to be
/// so to a few percent after five launches. @param known  before; 0: nothing was
inline double learnt_rate(double known, double now) noexcept { return known == 0 ? now : 0.5 * (known + now); }

}  // namespace tessera::hierarchy
