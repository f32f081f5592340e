// The iterations of a loop's head beside those that C++ runs: every pair of types, and the ends of their ranges.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "tessera/detail/loop_head.hpp"
#include "tessera/directives.hpp"

namespace {

using tessera::directives::loop;
using tessera::directives::loop_range;
using tessera::directives::loop_step;
using tessera::directives::loop_test;

__extension__ using whole = __int128;
std::size_t longest = 300;  // an index of 8 bits has gone all the way round

/// What C++ does.
struct run_of_loop {
  std::vector<whole> indices;
  bool too_long = false, overflows = false;
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wfloat-equal"
template <class Index, class Bound>
bool goes_on(Index i, loop_test test, Bound bound) {
  switch (test) {
    case loop_test::less:
      return i < bound;
    case loop_test::up_to:
      return i <= bound;
    case loop_test::greater:
      return i > bound;
    case loop_test::down_to:
      return i >= bound;
    default:
      return i != bound;
  }
}
#pragma GCC diagnostic pop

template <class Index, class Bound, class Step>
run_of_loop run(Index first, loop_test test, Bound bound, loop_step does, Step step) {
  run_of_loop made;
  for (Index i = first; goes_on(i, test, bound);) {
    if (made.indices.size() == longest) {
      made.too_long = true;
      break;
    }
    made.indices.push_back(i);
    using sum = decltype(i + step);
    sum next{};
    const auto a = static_cast<sum>(i), b = static_cast<sum>(step);
    const bool over =
        does == loop_step::add ? __builtin_add_overflow(a, b, &next) : __builtin_sub_overflow(a, b, &next);
    if (over && std::is_signed_v<sum>) {
      made.overflows = true;
      break;
    }
    i = static_cast<Index>(next);
  }
  return made;
}

/// Whether the indices go on in equal steps, as a region's do.
bool is_progression(const std::vector<whole>& indices) {
  for (std::size_t k = 2; k < indices.size(); ++k)
    if (indices[k] - indices[k - 1] != indices[1] - indices[0]) return false;
  return true;
}

/// "" where they agree.
template <class Index, class Bound, class Step>
std::string difference(Index first, loop_test test, Bound bound, loop_step does, Step step) {
  const run_of_loop wanted = run(first, test, bound, does, step);
  const loop_range made = loop<Index>({"i", 1, 2}, first, test, +bound, does, +step);
  if (!made.fault.empty()) {
    if (wanted.overflows || wanted.too_long || !is_progression(wanted.indices)) return {};
    const auto beyond = [](whole i) { return i > std::numeric_limits<std::int64_t>::max() - 1; };
    for (const whole i : wanted.indices)
      if (beyond(i)) return {};
    return made.fault;
  }
  if (wanted.overflows) return "an index that leaves its range is not refused";
  const tessera::loop_bounds& b = made.bounds;
  whole i = b.begin;
  for (std::size_t k = 0; k < wanted.indices.size(); ++k, i += b.step) {
    if (b.step > 0 ? i >= b.end : i <= b.end) return "it ends at iteration " + std::to_string(k);
    if (i != wanted.indices[k]) return "another index at iteration " + std::to_string(k);
  }
  const bool more = b.step > 0 ? i < b.end : i > b.end;
  return more == wanted.too_long ? std::string()
                                 : "it has other iterations than " + std::to_string(wanted.indices.size());
}

constexpr std::array tests = {loop_test::less, loop_test::up_to, loop_test::greater, loop_test::down_to,
                              loop_test::differs};
constexpr std::array directions = {loop_step::add, loop_step::subtract};

template <class T>
std::vector<T> values() {
  using limits = std::numeric_limits<T>;
  std::vector<T> made;
  for (const int v : {-130, -5, -1, 0, 1, 3, 100, 127, 128, 200, 255, 300})
    if (std::is_floating_point_v<T> || static_cast<int>(static_cast<T>(v)) == v || v < 0)
      made.push_back(static_cast<T>(v));
  if constexpr (std::is_floating_point_v<T>) {
    for (const double v : {-2.5, -0.25, 0.5, 2.5, 99.75, 4294967295.0, 1e30, -1e30}) made.push_back(static_cast<T>(v));
    made.insert(made.end(), {limits::quiet_NaN(), limits::infinity(), -limits::infinity()});
  } else {
    made.insert(made.end(),
                {limits::min(), static_cast<T>(limits::min() + 1), static_cast<T>(limits::max() - 2), limits::max()});
  }
  return made;
}

template <class Index, class Bound>
void check_pair() {
  for (const Index first : values<Index>())
    for (const Bound bound : values<Bound>())
      for (const loop_test test : tests)
        for (const loop_step does : directions)
          for (const int step : {1, 7}) {
            // Few of the loops that run on for ever, which are the long ones to run.
            const bool leads_away = (test == loop_test::less || test == loop_test::up_to) != (does == loop_step::add);
            if (sizeof(Index) > 1 && (leads_away || test == loop_test::differs) && step == 7) continue;
            if (sizeof(Index) > 2 && first > Index(20) && leads_away) continue;
            const std::string found = difference(first, test, bound, does, step);
            ASSERT_EQ(found, "") << "first " << +first << ", bound " << +bound << ", test " << int(test) << ", step "
                                 << (does == loop_step::add ? step : -step) << ", bytes " << sizeof(Index) << " "
                                 << sizeof(Bound);
          }
}

template <class Index>
class loop_heads : public testing::Test {};
using indices = testing::Types<signed char, unsigned char, short, unsigned short, int, unsigned, long, unsigned long>;
TYPED_TEST_SUITE(loop_heads, indices);

TYPED_TEST(loop_heads, count_as_the_language_does) {
  check_pair<TypeParam, bool>();
  check_pair<TypeParam, signed char>();
  check_pair<TypeParam, unsigned char>();
  check_pair<TypeParam, short>();
  check_pair<TypeParam, unsigned short>();
  check_pair<TypeParam, int>();
  check_pair<TypeParam, unsigned>();
  check_pair<TypeParam, long>();
  check_pair<TypeParam, unsigned long>();
  check_pair<TypeParam, float>();
  check_pair<TypeParam, double>();
  check_pair<TypeParam, long double>();
}

TEST(long_loops, of_16_bits) {
  longest = 70'000;
  for (const int first : {0, 3, 32'700, 65'500})
    for (const double bound : {-1.0, 5.5, 32'768.0, 40'000.0, 65'535.0, 65'536.0})
      for (const loop_test test : tests)
        for (const loop_step does : directions) {
          EXPECT_EQ(difference(static_cast<short>(first), test, bound, does, 1), "") << first << " " << bound;
          EXPECT_EQ(difference(static_cast<unsigned short>(first), test, bound, does, 1), "") << first << " " << bound;
          EXPECT_EQ(difference(static_cast<unsigned short>(first), test, static_cast<int>(bound), does, 16'384), "")
              << first << " " << bound;
        }
  longest = 300;
}

}  // namespace
