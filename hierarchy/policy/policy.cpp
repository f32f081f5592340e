#include "hierarchy/policy/policy.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "core/base/suggest.hpp"

namespace tessera::hierarchy {
namespace {

constexpr std::array<std::string_view, 7> names{"static", "flatten", "percentage", "range", "any", "auto", "runtime"};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

[[noreturn]] void refuse(std::string message, const std::string& where, std::string hint = {}) {
  throw error(error_kind::configuration, std::move(message), where, std::move(hint));
}

template <typename number>
std::vector<number> numbers(std::string_view list, std::string_view word, const std::string& where) {
  list = trimmed(list);
  if (list.starts_with('[') != list.ends_with(']')) refuse(fmt::format("policy {}: a bracket is missing", word), where);
  if (list.starts_with('[')) list = trimmed(list.substr(1, list.size() - 2));
  std::vector<number> found;
  for (bool more = !list.empty(); more;) {
    const auto comma = list.find(',');
    const std::string_view item = trimmed(list.substr(0, comma));
    number value{};
    const auto [end, status] = std::from_chars(item.data(), item.data() + item.size(), value);
    bool good = !item.empty() && status == std::errc{} && end == item.data() + item.size();
    if constexpr (std::is_floating_point_v<number>) good = good && std::isfinite(value) && value >= 0;
    if (!good)
      refuse(fmt::format("policy {}: '{}' is not a number of at least 0", word, item), where,
             std::is_integral_v<number> ? "numbers of iterations are whole" : "");
    found.push_back(value);
    more = comma != list.npos;
    if (more) list.remove_prefix(comma + 1);
  }
  if (found.empty()) refuse(fmt::format("policy {} has an empty list", word), where);
  return found;
}

}  // namespace

std::string_view name_of(policy_kind kind) noexcept { return names[static_cast<std::size_t>(kind)]; }

policy policy::parse(std::string_view text, const std::string& where) {
  const auto colon = text.find_first_of(":[");
  const std::string_view word = trimmed(text.substr(0, colon));
  const bool has_list = colon != text.npos;
  policy p;
  std::size_t kind = 0;
  while (kind < names.size() && names[kind] != word) ++kind;
  if (kind == names.size()) {
    const std::string near = suggest(word, std::vector<std::string>(names.begin(), names.end()));
    refuse(fmt::format("unknown policy '{}'", word), where,
           near.empty() ? fmt::format("known: {}", fmt::join(names, ", ")) : fmt::format("did you mean '{}'?", near));
  }
  p.kind = static_cast<policy_kind>(kind);
  const bool wants_list = p.kind == policy_kind::percentage || p.kind == policy_kind::range;
  if (has_list && !wants_list) refuse(fmt::format("policy {} takes no list", word), where);
  if (!has_list && wants_list)
    refuse(fmt::format("policy {} needs a list", word), where,
           p.kind == policy_kind::percentage ? "for example percentage:[50,25,25]" : "for example range:[1000,24]");
  if (!wants_list) return p;
  const std::string_view list = text.substr(text[colon] == ':' ? colon + 1 : colon);
  if (p.kind == policy_kind::range) {
    p.counts = numbers<std::uint64_t>(list, word, where);
  } else {
    p.percentages = numbers<double>(list, word, where);
    const double sum = std::accumulate(p.percentages.begin(), p.percentages.end(), 0.0);
    if (std::abs(sum - 100) > 0.01 + 1e-9)
      refuse(fmt::format("policy percentage: the shares sum to {:g}, not 100", sum), where);
  }
  return p;
}

std::string to_text(const policy& p) {
  if (p.kind == policy_kind::percentage) return fmt::format("percentage:[{}]", fmt::join(p.percentages, ","));
  if (p.kind == policy_kind::range) return fmt::format("range:[{}]", fmt::join(p.counts, ","));
  return std::string(name_of(p.kind));
}

policy resolve(const policy& asked, std::string_view configured, const std::string& where) {
  if (asked.kind != policy_kind::runtime) return asked;
  const policy p = policy::parse(configured, where);
  if (p.kind == policy_kind::runtime)
    refuse("the policy 'runtime' stands for the configured one, which is 'runtime' itself", where,
           "set region.policy (or GECKO_POLICY) to static, flatten, any, percentage:[...] or range:[...]");
  return p;
}

}  // namespace tessera::hierarchy
