#include "hierarchy/policy/policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "core/base/suggest.hpp"

namespace tessera::hierarchy {
namespace {

constexpr std::array<std::string_view, 7> names{"static", "flatten", "percentage", "range", "any", "auto", "runtime"};

/// Without the blanks around it; where it has nothing else, its end.
std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == text.npos) return text.substr(text.size());
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

[[noreturn]] void refuse(std::string message, const std::string& where, std::string hint = {}) {
  throw error(error_kind::configuration, std::move(message), where, std::move(hint));
}

/// Reads the text of a policy; its mistakes have columns.
class policy_reader {
 public:
  policy_reader(std::string_view text, const std::string& where) : m_text(text), m_where(where) {}

  policy read() const {
    const auto colon = m_text.find_first_of(":[");
    const std::string_view word = trimmed(m_text.substr(0, colon));
    policy p;
    p.kind = kind_of(word);
    const bool has_list = colon != m_text.npos;
    const bool wants_list = p.kind == policy_kind::percentage || p.kind == policy_kind::range;
    if (has_list && !wants_list)
      refuse_at(m_text.substr(colon), fmt::format("policy {} takes no list", word), "percentage and range take one");
    if (!has_list && wants_list)
      refuse_at(
          m_text.substr(m_text.size()), fmt::format("policy {} needs a list", word),
          p.kind == policy_kind::percentage ? "for example percentage:[50,25,25]" : "for example range:[1000,24]");
    if (!wants_list) return p;
    const std::string_view list = trimmed(m_text.substr(m_text[colon] == ':' ? colon + 1 : colon));
    if (p.kind == policy_kind::range) {
      p.counts = numbers<std::uint64_t>(list, word);
    } else {
      p.percentages = numbers<double>(list, word);
      const double sum = std::accumulate(p.percentages.begin(), p.percentages.end(), 0.0);
      if (std::abs(sum - 100) > 0.01 + 1e-9)
        refuse_at(list, fmt::format("policy percentage: the shares sum to {:g}, not 100", sum),
                  "a share for each leaf, in their order; a leaf with 0 gets nothing");
    }
    return p;
  }

 private:
  /// @param at  a part of the text, which begins where the mistake is
  [[noreturn]] void refuse_at(std::string_view at, std::string message, std::string hint = {}) const {
    const auto column = at.data() - m_text.data() + 1;
    refuse(std::move(message),
           fmt::format("{}{}column {} of policy '{}'", m_where, m_where.empty() ? "" : ", ", column, m_text),
           std::move(hint));
  }

  policy_kind kind_of(std::string_view word) const {
    const auto known = std::find(names.begin(), names.end(), word);
    if (known != names.end()) return static_cast<policy_kind>(known - names.begin());
    const std::string near = suggest(word, std::vector<std::string>(names.begin(), names.end()));
    refuse_at(
        word, fmt::format("unknown policy '{}'", word),
        near.empty() ? fmt::format("known: {}", fmt::join(names, ", ")) : fmt::format("did you mean '{}'?", near));
  }

  template <typename number>
  std::vector<number> numbers(std::string_view list, std::string_view word) const {
    if (list.starts_with('[') != list.ends_with(']'))
      refuse_at(list, fmt::format("policy {}: a bracket is missing", word));
    if (list.starts_with('[')) list = trimmed(list.substr(1, list.size() - 2));
    const std::string_view all = list;
    std::vector<number> found;
    for (bool more = !list.empty(); more;) {
      const auto comma = list.find(',');
      const std::string_view item = trimmed(list.substr(0, comma));
      number value{};
      const auto [end, status] = std::from_chars(item.data(), item.data() + item.size(), value);
      bool good = status == std::errc{} && end == item.data() + item.size();
      if constexpr (std::is_floating_point_v<number>) good = good && std::isfinite(value) && value >= 0;
      if (item.empty())
        refuse_at(item, fmt::format("policy {}: entry {} is empty", word, found.size() + 1),
                  "a number stands in front of each comma and behind it");
      if (!good)
        refuse_at(
            item,
            std::is_integral_v<number>
                ? fmt::format("policy {}: '{}' is not a whole number from 0 to 2^64 - 1", word, item)
                : fmt::format("policy {}: '{}' is not a number of at least 0", word, item),
            std::is_integral_v<number> ? "they are numbers of iterations; percentage takes parts of a hundred" : "");
      found.push_back(value);
      more = comma != list.npos;
      if (more) list.remove_prefix(comma + 1);
    }
    if (found.empty()) refuse_at(all, fmt::format("policy {} has an empty list", word));
    return found;
  }

  std::string_view m_text;
  const std::string& m_where;
};

}  // namespace

std::string_view name_of(policy_kind kind) noexcept { return names[static_cast<std::size_t>(kind)]; }

policy policy::parse(std::string_view text, const std::string& where) { return policy_reader(text, where).read(); }

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
