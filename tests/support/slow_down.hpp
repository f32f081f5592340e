#pragma once
// How much less tests do under a sanitizer: release keeps the full counts.
#include <cstdint>

namespace tessera::testing {

/// Random programs and long loops do so many times less under a sanitizer; 1 without one.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::uint64_t slow_down = 10;
#else
inline constexpr std::uint64_t slow_down = 1;
#endif

/// Whether a sanitizer makes this program slow.
inline constexpr bool is_slow = slow_down > 1;

/// Whether the thread sanitizer watches. It sees nothing new in the thousandth iteration of a program whose first ones
/// it has seen, so that tests of numbers that take so many are left to the others.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool watches_threads = true;
#else
inline constexpr bool watches_threads = false;
#endif

}  // namespace tessera::testing
