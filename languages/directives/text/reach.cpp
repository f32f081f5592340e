#include "languages/directives/text/reach.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace tessera::directive {
namespace {

row_reach any_row(const std::string& why) { return {true, 0, 0, {}, false, why}; }

bool varies(const polynomial& p, const subscript_names& names) {
  return std::ranges::any_of(names.varying, [&](const std::string& v) { return p.has(v); });
}

bool has_inner(const polynomial& p, const subscript_names& names) {
  return std::ranges::any_of(names.inner, [&](const auto& loop) { return p.has(loop.first); });
}

/// The terms with the index, without it; nothing where one has its square.
struct parts {
  polynomial stride, rest;
};
std::optional<parts> split(const polynomial& subscript, const std::string& index) {
  parts made;
  for (const auto& [of, coefficient] : subscript.terms()) {
    polynomial::product others = of;
    std::erase(others, index);
    polynomial term = polynomial::constant(coefficient);
    for (const std::string& name : others) term = term * polynomial::name(name);
    if (of.size() - others.size() > 1) return std::nullopt;
    (of.size() == others.size() ? made.rest : made.stride) =
        (of.size() == others.size() ? made.rest : made.stride) + term;
  }
  return made;
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

/// Whether a part of a row takes each value of the one loop around it: j or j - 1; or there is neither.
bool covers(const polynomial& rest, const subscript_names& names) {
  if (names.inner.empty()) return rest.is_constant();
  return names.inner.size() == 1 && rest.coefficient({names.inner.begin()->first}) == 1 &&
         (rest - polynomial::name(names.inner.begin()->first)).is_constant();
}

/// How many strides are in the rest: (i + 1) * m + j has one.
std::int64_t strides_in(const polynomial& rest, const polynomial& stride) {
  const auto& [of, coefficient] = *stride.terms().rbegin();  // one with names
  return floor_quotient(rest.coefficient(of), coefficient);
}

/// The largest or smallest value of a polynomial while the inner loops run; nothing where it is not known.
std::optional<polynomial> extreme(polynomial of, bool largest, const subscript_names& names) {
  for (std::size_t round = 0; has_inner(of, names); ++round) {
    if (round > 8) return std::nullopt;
    polynomial next;
    for (const auto& [product, coefficient] : of.terms()) {
      polynomial term = polynomial::constant(coefficient);
      std::size_t replaced = 0;
      for (const std::string& name : product) {
        const auto loop = names.inner.find(name);
        if (loop != names.inner.end() && ++replaced > 1) return std::nullopt;
        const bool last = (coefficient > 0) == largest;
        term = term * (loop == names.inner.end() ? polynomial::name(name)
                       : last                    ? loop->second.last
                                                 : loop->second.first);
      }
      next = next + term;
    }
    of = next;
  }
  return of;
}

}  // namespace

row_reach reach_of(const polynomial& subscript, const subscript_names& names) {
  if (varies(subscript, names)) return any_row("the subscript has a part that is not known before the loop");
  const auto split_up = split(subscript, names.index);
  if (!split_up || split_up->stride == polynomial{}) return any_row("the subscript does not follow the loop's index");
  const polynomial& stride = split_up->stride;
  if (has_inner(stride, names) || (stride.is_constant() && stride.constant_part() < 1))
    return any_row("the subscript does not go forward with the loop's index");
  const std::int64_t offset = stride.is_constant() ? 0 : strides_in(split_up->rest, stride);
  const polynomial rest = split_up->rest - polynomial::constant(offset) * stride;
  const auto smallest = extreme(rest, false, names), largest = extreme(rest, true, names);
  if (!smallest || !largest) return any_row("the subscript is not linear");
  if (stride.is_constant() && smallest->is_constant() && largest->is_constant()) {
    const std::int64_t elements = stride.constant_part();
    const std::int64_t first = floor_quotient(smallest->constant_part(), elements),
                       last = floor_quotient(largest->constant_part(), elements);
    const bool all = last == first && largest->constant_part() - smallest->constant_part() == elements - 1;
    return {false, first, last, stride, all && covers(rest, names), {}};
  }
  const polynomial room = stride - polynomial::constant(1) - *largest;
  if (!smallest->is_constant() || smallest->constant_part() < 0 || !room.is_constant() || room.constant_part() < 0)
    return any_row("it is not known that the subscript stays in a row of " + stride.text() + " elements");
  return {false, offset, offset, stride, covers(rest, names) && *smallest == polynomial{} && room == polynomial{}, {}};
}

row_reach reach_of(const std::vector<polynomial>& subscripts, const std::vector<std::int64_t>& extents,
                   const subscript_names& names) {
  const polynomial row = subscripts.front() - polynomial::name(names.index);
  if (varies(row, names) || !row.is_constant()) return any_row("the first index does not follow the loop's");
  std::int64_t elements = 1;
  bool all = names.inner.size() == extents.size();
  std::set<std::string> loops;
  for (std::size_t k = 0; k < extents.size(); ++k) {
    elements *= extents[k];
    const auto& terms = subscripts[k + 1].terms();
    const bool loop = terms.size() == 1 && terms.begin()->second == 1 && terms.begin()->first.size() == 1 &&
                      names.inner.contains(terms.begin()->first.front());
    all = all && loop && names.inner.at(terms.begin()->first.front()).first == polynomial{} &&
          names.inner.at(terms.begin()->first.front()).last == polynomial::constant(extents[k] - 1) &&
          loops.insert(terms.begin()->first.front()).second;
  }
  return {false, row.constant_part(), row.constant_part(), polynomial::constant(elements), all, {}};
}

bool leaves_dimension(const std::vector<polynomial>& subscripts, const std::vector<std::int64_t>& extents,
                      const subscript_names& names) {
  for (std::size_t k = 0; k < extents.size(); ++k) {
    const auto smallest = extreme(subscripts[k + 1], false, names), largest = extreme(subscripts[k + 1], true, names);
    if ((smallest && smallest->is_constant() && smallest->constant_part() < 0) ||
        (largest && largest->is_constant() && largest->constant_part() >= extents[k]))
      return true;
  }
  return false;
}

std::optional<std::string> place_of(const polynomial& subscript, const std::vector<std::string>& collapsed,
                                    const subscript_names& names) {
  std::string place;
  polynomial rest = subscript;
  subscript_names level = names;
  for (const std::string& index : collapsed) {
    level.index = index;
    level.inner.erase(index);
    const row_reach reach = reach_of(rest, level);
    if (reach.whole || reach.lowest != reach.highest) return std::nullopt;
    const parts split_up = *split(rest, index);
    rest = split_up.rest - polynomial::constant(reach.lowest) * split_up.stride;
    place += std::to_string(reach.lowest) + "*(" + split_up.stride.text() + ") ";
  }
  return place;
}

std::optional<std::string> place_of(const std::vector<polynomial>& subscripts,
                                    const std::vector<std::string>& collapsed, const subscript_names& names) {
  if (subscripts.size() < collapsed.size()) return std::nullopt;
  std::string place;
  for (std::size_t k = 0; k < collapsed.size(); ++k) {
    const polynomial offset = subscripts[k] - polynomial::name(collapsed[k]);
    if (varies(offset, names) || !offset.is_constant()) return std::nullopt;
    place += offset.text() + " ";
  }
  return place;
}

}  // namespace tessera::directive
