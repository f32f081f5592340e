#pragma once
// Time stamps that cost a few nanoseconds.
#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace tessera::trace {

/// Nanoseconds of steady_clock.
inline std::int64_t steady_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// The processor's time stamp counter where it runs at one rate on all cores (8 ns a look, against 25 ns and more for
/// steady_clock), else steady_clock. Ticks become nanoseconds of steady_clock when a recording is taken, by two points
/// at which both clocks were read.
class tick_clock {
 public:
  /// @param source  of a simulated run: nanoseconds, whose place outlives this; null: real time
  explicit tick_clock(const std::uint64_t* source = nullptr) noexcept : m_source(source) {
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    m_counter = __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d >> 8 & 1u) != 0;  // "invariant TSC"
#endif
  }
  bool is_virtual() const noexcept { return m_source != nullptr; }
  std::uint64_t now() const noexcept {
    if (m_source != nullptr) return *m_source;
#if defined(__x86_64__)
    if (m_counter) return __rdtsc();
#endif
    return static_cast<std::uint64_t>(steady_ns());
  }

 private:
  const std::uint64_t* m_source;
  bool m_counter = false;
};

}  // namespace tessera::trace
