#pragma once
// How the private copies of accumulates become one block.
#include <array>
#include <cstddef>
#include <cstdint>
#include <typeinfo>

namespace tessera::block {

/// Which combination; the same number in the whole process.
using combination_number = std::uint16_t;
inline constexpr combination_number addition = 0;  ///< of the plugins: it has no combination

/// An associative operation on elements of one type whose operands may change places. Plain data.
struct combination {
  void (*combine)(void* to, const void* from, std::int64_t elements) = nullptr;  ///< to[k] = operation(to[k], from[k])
  alignas(8) std::array<std::byte, 16> identity{};  ///< one element: what a private copy begins with
  const std::type_info* type = nullptr;             ///< the program's name for it, for messages
};

/// A number for a combination, which has to be there until the process ends. Throws tessera::error (usage) when there
/// are more than 4095. Any thread.
combination_number add_combination(const combination& what);
/// The combination with a number that add_combination has returned. Any thread.
const combination& combination_at(combination_number number) noexcept;

}  // namespace tessera::block
