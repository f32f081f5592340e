#pragma once
// The random numbers of the synthetic inputs: one multiplicative generator, the same in every application.
#include <cmath>
#include <cstdint>
#include <numbers>

namespace tessera::apps::rodinia {

/// x <- 48271 x mod (2^31 - 1), as std::minstd_rand; can jump ahead, so that parts of an input are made side by side.
/// Plain data.
class random_stream {
 public:
  static constexpr std::uint64_t modulus = 2147483647, multiplier = 48271;

  /// @param seed  the first state; the first number is the state after one step. Multiples of the modulus count as 1
  explicit constexpr random_stream(std::uint64_t seed) noexcept : m_state(seed % modulus == 0 ? 1 : seed % modulus) {}
  /// The stream behind its first `skipped` numbers.
  constexpr random_stream(std::uint64_t seed, std::uint64_t skipped) noexcept : random_stream(seed) { skip(skipped); }

  /// The next number, 1 to 2^31 - 2.
  constexpr std::int64_t draw() noexcept {
    m_state = m_state * multiplier % modulus;
    return static_cast<std::int64_t>(m_state);
  }
  /// The next number's last decimal digit.
  constexpr int digit() noexcept { return static_cast<int>(draw() % 10); }
  /// The next number in (0, 1).
  constexpr double unit() noexcept { return static_cast<double>(draw()) / 2147483647.0; }
  /// A standard normal number by the method of Box and Muller; takes two numbers of the stream.
  double normal() noexcept {
    const double u = unit(), v = unit();
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }
  /// As `count` calls of draw, in time log(count).
  constexpr void skip(std::uint64_t count) noexcept { multiply(factor_of(count)); }
  /// What `count` steps multiply a state with: for many streams that skip as many numbers.
  static constexpr std::uint64_t factor_of(std::uint64_t count) noexcept {
    std::uint64_t factor = 1, power = multiplier;
    for (; count > 0; count /= 2, power = power * power % modulus)
      if (count % 2 != 0) factor = factor * power % modulus;
    return factor;
  }
  /// As a skip of as many numbers as `factor` stands for.
  constexpr void multiply(std::uint64_t factor) noexcept { m_state = m_state * factor % modulus; }

 private:
  std::uint64_t m_state;
};

}  // namespace tessera::apps::rodinia
