#pragma once
// What memory without contents is filled with, so that it can be recognised later.
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/block/element_type.hpp"

namespace tessera::validate {

/// Bytes drawn once per run. Floating-point elements become signalling NaNs with a payload of their own: no computation
/// makes those, and what is computed from them is a NaN with the same payload. Other elements become pseudo-random
/// bytes that depend on the position. Immutable.
class pattern {
 public:
  explicit pattern(std::uint64_t seed) noexcept;

  /// What the absence of contents means.
  enum class meaning : std::uint8_t {
    never_written,  ///< of a write or scratch block before the task has written it
    ended           ///< of a task or view that is over
  };
  /// Fills whole elements. `id` (24 bits) can be read back from results in f64.
  void fill(std::span<std::byte> to, element_type type, meaning is, std::uint32_t id = 0) const noexcept;

  /// Number of the program's elements that still are as fill(never_written) has left them, each of `per_element` of
  /// `type`; one counts as a whole, since the bytes between its members are nobody's. Integers count only in runs of
  /// 8 bytes, since a shorter one may be chance.
  std::uint64_t untouched(std::span<const std::byte> in, element_type type, std::size_t per_element = 1) const noexcept;
  /// Whether all bytes are as fill(ended, id) has left them; else the first one that is not.
  bool intact(std::span<const std::byte> in, element_type type, std::uint32_t id,
              std::size_t& out_first) const noexcept;

  /// Floating-point elements that were computed from filled ones (or are copies of them), and the id of one of those.
  struct taint {
    std::uint64_t elements = 0;
    std::size_t first = 0;  ///< element
    std::uint32_t id = 0;   ///< f64 only
  };
  taint tainted(std::span<const std::byte> in, element_type type, meaning is) const noexcept;

  /// Bytes around a block; they depend on the position.
  void fill_zone(std::span<std::byte> to) const noexcept;
  /// First damaged byte and number of them; `count` 0: none.
  std::uint64_t zone_damage(std::span<const std::byte> in, std::size_t& out_first) const noexcept;

 private:
  std::uint64_t word(std::uint64_t position, std::uint64_t salt) const noexcept;
  void element(std::byte* to, element_type type, std::uint64_t position, meaning is, std::uint32_t id) const noexcept;

  std::uint64_t m_seed, m_f64[2];  // by meaning: payloads
  std::uint32_t m_f32[2];
};

}  // namespace tessera::validate
