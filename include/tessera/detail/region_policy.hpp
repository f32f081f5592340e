#pragma once
// How the iterations of a region are split, as values.
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace tessera {

namespace detail {
/// A policy that has nothing beside its name.
struct policy_word {
  std::string_view text;
};
}  // namespace detail

/// How the iterations of a region are split over the leaves at its location and below (docs/regions.md). Made by what
/// the namespace policy has: `{.policy = tessera::policy::percentage({60, 40})}`.
class region_policy {
 public:
  /// As the configuration says: policy::configured.
  region_policy() : m_text("runtime") {}
  /// One of the constants of the namespace policy.
  region_policy(detail::policy_word word) : m_text(word.text) {}  // NOLINT: meant to convert
  /// What a configuration or a command line says: "static", "flatten", "percentage:60,40", "range:1000,24", "any",
  /// "auto" or "runtime". The region that uses it throws tessera::error (configuration) for mistakes, with the nearest
  /// word.
  static region_policy from_text(std::string_view text) { return region_policy(detail::policy_word{text}); }
  const std::string& text() const noexcept { return m_text; }  ///< that from_text reads back
  /// Same text.
  friend bool operator==(const region_policy&, const region_policy&) = default;

 private:
  std::string m_text;
};

/// Policies of regions.
namespace policy {

inline constexpr detail::policy_word configured{"runtime"};   ///< what region.policy says; what regions do by default
inline constexpr detail::policy_word static_split{"static"};  ///< evenly over the children, recursively
inline constexpr detail::policy_word flatten{"flatten"};      ///< evenly over all leaves at once
inline constexpr detail::policy_word any{"any"};              ///< the whole loop to one leaf
inline constexpr detail::policy_word automatic{"auto"};       ///< shares from what the leaves took

/// Shares in percent, in the order of the leaves; together 100.
region_policy percentage(std::span<const double> shares);
/// The same, written out: `percentage({60, 40})`.
inline region_policy percentage(std::initializer_list<double> shares) {
  return percentage(std::span(shares.begin(), shares.size()));
}
/// Numbers of iterations, in the order of the leaves; together those of the loop.
region_policy range(std::span<const std::uint64_t> counts);
/// The same, written out: `range({1000, 24})`.
inline region_policy range(std::initializer_list<std::uint64_t> counts) {
  return range(std::span(counts.begin(), counts.size()));
}

}  // namespace policy
}  // namespace tessera
