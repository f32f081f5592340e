// Where a loop of the program ends.
#include "tessera/detail/loop_head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "tessera/directives.hpp"

namespace tessera::directives::detail {
namespace {

__extension__ using wide = __int128;  // holds every index of 64 bits, every step and their products with a few

constexpr wide min_index = std::numeric_limits<std::int64_t>::min(),
               largest_index = std::numeric_limits<std::int64_t>::max();

std::string text_of(wide value) {
  return value < 0 ? fmt::format("{}", static_cast<std::int64_t>(value))
                   : fmt::format("{}", static_cast<std::uint64_t>(value));
}

/// Iteration k has the index first + k * stride, until it leaves the range of its type.
class iterations_of {
 public:
  iterations_of(const loop_head& head, loop_compare compare, const void* bound)
      : m_head(head), m_compare(compare), m_bound(bound) {
    const wide values = wide(1) << head.bits;
    m_least = head.is_signed ? -values / 2 : 0;
    m_largest = m_least + values - 1;
    m_first = wrapped(head.is_signed ? wide(static_cast<std::int64_t>(head.first)) : wide(head.first));
    m_second = head.does == loop_step::add ? m_first + wide(static_cast<std::int64_t>(head.step))
                                           : m_first - wide(static_cast<std::int64_t>(head.step));
    m_stride = wrapped(m_second) - m_first;
  }

  loop_range range() const {
    if (!goes_on(at(m_first))) return none();
    if (m_stride == 0) return fault("adds 0 to its index and does not end");
    const bool at_once = m_head.overflows && m_second != wrapped(m_second);
    const wide after = at_once ? 1 : 1 + (m_stride > 0 ? m_largest - m_first : m_least - m_first) / m_stride;
    // Conversions keep the order of indices of one sign.
    const wide turn = (m_stride > 0) == (m_first < 0) ? std::min(after, first_of_other_sign()) : after;
    if (const auto end = end_between(0, turn)) return of(*end);
    if (turn < after)
      if (const auto end = end_between(turn, after)) return of(*end);
    const wide last = m_first + (after - 1) * m_stride;
    if (m_head.overflows)
      return fault(
          fmt::format("does not end before its index leaves the range of its type: {} is the last one", text_of(last)));
    const wide next = wrapped(last + m_stride);
    if (goes_on(at(next)))
      return fault(
          fmt::format("does not end before its index wraps around, from {} to {}", text_of(last), text_of(next)));
    return of(after);
  }

 private:
  wide wrapped(wide value) const {
    const wide values = wide(1) << m_head.bits, rest = (value - m_least) % values;
    return m_least + (rest < 0 ? rest + values : rest);
  }
  int at(wide index) const { return m_compare(m_bound, static_cast<std::uint64_t>(index)); }
  bool goes_on(int order) const {
    switch (m_head.test) {
      case loop_test::less:
        return order == -1;
      case loop_test::up_to:
        return order == -1 || order == 0;
      case loop_test::greater:
        return order == 1;
      case loop_test::down_to:
        return order == 1 || order == 0;
      default:
        return order != 0;
    }
  }
  wide first_of_other_sign() const {
    const wide away = m_first < 0 ? -m_first : m_first + 1, stride = m_stride < 0 ? -m_stride : m_stride;
    return (away + stride - 1) / stride;
  }

  /// The first iteration of [from, to) that the loop does not begin, where all indices have one sign.
  std::optional<wide> end_between(wide from, wide to) const {
    const int before = m_stride > 0 ? -1 : 1;  // the index is before the bound
    const bool seeks = m_head.test == loop_test::differs;
    const auto ended = [&](wide k) {
      const int order = at(m_first + k * m_stride);
      return seeks ? order != before : !goes_on(order);
    };
    if (!seeks && ended(from)) return from;
    if (!ended(to - 1)) return std::nullopt;
    wide running = from - 1, end = to - 1;  // ended(end), and not ended(running) where there is such an iteration
    wide guess = (wide(m_head.near) - m_first) / m_stride;
    for (wide k : {guess, guess + 1, guess - 1, guess + 2}) {
      if (k <= running || k >= end) continue;
      (ended(k) ? end : running) = k;
    }
    while (end - running > 1) {
      const wide middle = running + (end - running) / 2;
      (ended(middle) ? end : running) = middle;
    }
    if (seeks && at(m_first + end * m_stride) != 0) return std::nullopt;  // passed, or not a number
    return end;
  }

  static loop_range none() { return {{0, 0, 1}, {}, {}}; }
  static loop_range fault(std::string why) { return {{0, 0, 1}, std::move(why), {}}; }
  /// So many iterations.
  loop_range of(wide count) const {
    if (count == 0) return none();
    const wide last = m_first + (count - 1) * m_stride, one = m_stride > 0 ? 1 : -1,
               stride = count == 1 ? one : m_stride;
    for (const wide index : {m_first, last + one, stride})
      if (index < min_index || index > largest_index)
        return fault(fmt::format("goes from {} to {}, and the indices of a region are signed numbers of 64 bits",
                                 text_of(m_first), text_of(last)));
    return {{std::int64_t(m_first), std::int64_t(last + one), std::int64_t(stride)}, {}, {}};
  }

  const loop_head& m_head;
  loop_compare m_compare;
  const void* m_bound;
  wide m_least, m_largest, m_first, m_second, m_stride;  // the second one is not wrapped yet
};

}  // namespace

loop_range range_of(const loop_head& head, loop_compare compare, const void* bound) {
  return iterations_of(head, compare, bound).range();
}

void check_loop(const loop_range& loop) {
  if (!loop.fault.empty())
    throw error(error_kind::usage, loop.fault, loop.where,
                "compare the index with a bound that it reaches, or give it another type");
}

std::string place_of_loop(const loop_place& place, const std::source_location& site) {
  return fmt::format("region at {}:{}:{}", site.file_name(), place.line, place.column);
}

}  // namespace tessera::directives::detail
