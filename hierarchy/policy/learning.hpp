#pragma once
// What the policy auto learns of a leaf from one launch of a region to the next. Pure.

namespace tessera::hierarchy {

/// What a leaf takes for n iterations: fixed + n * per_iteration seconds.
struct leaf_cost {
  double fixed = 0;          ///< of a launch, however short
  double per_iteration = 0;  ///< 0: nothing is known
  bool known() const noexcept { return per_iteration > 0; }
  double seconds(double iterations) const noexcept { return fixed + iterations * per_iteration; }
};

/// The cost of a leaf at one region, learnt from tasks of different lengths: a Kalman filter for the two numbers. From
/// one task to the next it expects both to change by one factor, as where a leaf becomes slower or is shared, and
/// hardly in any other way; so tasks of one length tell of that factor alone, and the way in which seconds divide into
/// the two numbers is kept from the tasks whose lengths differed. One task tells half of the factor. One that took
/// much longer or shorter than expected tells less, and two of them in a row are believed.
class learnt_cost {
 public:
  learnt_cost() = default;
  /// What an earlier run has learnt, which may be off by some tens of percent.
  explicit learnt_cost(const leaf_cost& kept) noexcept;

  /// A task took so long. Both numbers are above 0.
  void note(double iterations, double seconds) noexcept;
  const leaf_cost& now() const noexcept { return m_cost; }

 private:
  void begin(double iterations, double seconds) noexcept;
  void drift(double factor, double each, double iterations) noexcept;

  leaf_cost m_cost;
  double m_fixed_variance = 0, m_covariance = 0, m_slope_variance = 0;  // of m_cost
  int m_surprises = 0;  // tasks in a row that took much longer (> 0) or shorter than expected
};

}  // namespace tessera::hierarchy
