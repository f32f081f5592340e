#pragma once
// Loops that write down their indices: what the generated sources and the comparison share.
#include <cstdint>
#include <type_traits>
#include <vector>

namespace heads {

/// A number, in any type that a loop may have: integers wrap around.
struct value {
  long double number;
  template <class T>
  T as() const {
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(number);
    else if constexpr (std::is_same_v<T, bool>)
      return number != 0;
    else if (number != number)
      return T{};
    else
      return static_cast<T>(number < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(number))
                                       : static_cast<std::uint64_t>(number));
  }
};

/// One loop.
struct head {
  const char* text;
  void (*run)(const value& first, const value& bound);
};

/// Writes an index down, exactly: the mantissa has 64 bits. Throws `enough` where there are many.
void note(long double index);
struct enough {};
/// Counts the starts of a loop inside, as `note` counts indices.
void begin_loop();
template <class T>
T from(T first) {
  begin_loop();
  return first;
}

/// What the generated heads use.
enum colours {
  red = -2,
  green = 3,
  blue = 7
};
struct bits {
  unsigned few : 3;
  int some : 5;
};
using counter = unsigned short;
typedef long long distance;

}  // namespace heads
