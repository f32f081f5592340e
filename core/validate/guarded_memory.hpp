#pragma once
// A private copy of a block, with bytes around it that must not be touched.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/validate/pattern.hpp"

namespace tessera::validate {

/// Elements aligned to 256 bytes, with a zone of 4096 bytes before them and one behind them.
class guarded_memory {
 public:
  static constexpr std::size_t zone = 4096;

  /// Contents unspecified. @param number  names it in results that are computed from it after its end
  guarded_memory(std::size_t bytes, const pattern& with, std::uint32_t number);

  std::span<std::byte> elements() noexcept { return {m_memory.data() + m_offset, m_bytes}; }
  std::span<const std::byte> elements() const noexcept { return {m_memory.data() + m_offset, m_bytes}; }
  std::uint32_t number() const noexcept { return m_number; }

  /// Bytes that were written outside of the elements.
  struct damage {
    std::uint64_t bytes = 0;
    std::int64_t first = 0;  ///< bytes from the first element (below 0), or from the end of the last one
  };
  std::optional<damage> find_damage(const pattern& with) const;
  /// Restores the zones.
  void mend(const pattern& with) noexcept;

 private:
  static constexpr std::size_t alignment = 256;
  std::span<std::byte> before() noexcept { return {m_memory.data() + m_offset - zone, zone}; }
  std::span<std::byte> behind() noexcept { return {m_memory.data() + m_offset + m_bytes, zone}; }

  std::size_t m_bytes, m_offset = 0;
  std::uint32_t m_number;
  std::vector<std::byte> m_memory;
};

}  // namespace tessera::validate
