#pragma once
// A policy and its text form.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::hierarchy {

enum class policy_kind : std::uint8_t {
  static_split,  ///< "static": evenly over the children, recursively
  flatten,       ///< "flatten": evenly over all leaves at once
  percentage,    ///< "percentage:[50,25,25]": shares in percent, in the order of the leaves
  range,         ///< "range:[1000,24]": numbers of iterations, in the order of the leaves
  any,           ///< "any": the whole loop to one leaf
  automatic,     ///< "auto": shares from what the leaves took
  runtime        ///< "runtime": what the configuration says
};
/// The word for a kind ("static").
std::string_view name_of(policy_kind kind) noexcept;

struct policy {
  policy_kind kind = policy_kind::static_split;
  std::vector<double> percentages;    ///< of percentage; each >= 0, together 100 +- 0.01
  std::vector<std::uint64_t> counts;  ///< of range

  /// Reads "static", "percentage:[50, 25, 25]" and so on; brackets may be left out. Throws tessera::error (kind
  /// configuration) for an unknown word (hint: the nearest), a list that is missing or not wanted, numbers that are
  /// negative or not numbers, and percentages that do not sum to 100 +- 0.01. It says `where`, which names the text's
  /// place or region, and the column in the text.
  static policy parse(std::string_view text, const std::string& where = {});

  friend bool operator==(const policy&, const policy&) = default;
};

/// The text that parse reads back.
std::string to_text(const policy& p);

/// What a policy is when the configuration (key region.policy, or the variable GECKO_POLICY behind it) says
/// `configured`: `asked` itself unless it is `runtime`. Throws when the configured text is `runtime` too.
policy resolve(const policy& asked, std::string_view configured, const std::string& where = {});

}  // namespace tessera::hierarchy
