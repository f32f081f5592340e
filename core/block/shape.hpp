#pragma once
// The extents of a dense block.
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "core/base/error.hpp"

namespace tessera {

/// The most dimensions a block may have; the plugin ABI has room for as many.
inline constexpr std::size_t max_rank = 8;

/// Extents of a dense block, rank 0 to 8, first index fastest (Fortran order). Rank 0 is a single element.
class shape {
 public:
  /// Rank 0: a single element.
  constexpr shape() noexcept = default;
  /// `shape{3, 4}`: elements per dimension. Throws as the constructor below.
  shape(std::initializer_list<std::int64_t> extents) : shape(std::span(extents.begin(), extents.size())) {}

  /// Throws tessera::error (usage) for a rank above 8, a negative extent, or more than 2^62 elements.
  explicit shape(std::span<const std::int64_t> extents) {
    if (extents.size() > max_rank)
      throw error(error_kind::usage, "a block has rank " + std::to_string(extents.size()), {}, "the highest rank is 8");
    std::int64_t count = 1;
    for (const std::int64_t extent : extents) {
      if (extent < 0) throw error(error_kind::usage, "a block has the negative extent " + std::to_string(extent));
      if (__builtin_mul_overflow(count, extent, &count) || count > (std::int64_t{1} << 62))
        throw error(error_kind::usage, "a block has more than 2^62 elements");
      m_extents[m_rank++] = extent;
    }
  }

  std::size_t rank() const noexcept { return m_rank; }  ///< number of dimensions
  /// Elements along one dimension, 0-based, below 8; 0 for dimensions beyond the rank.
  std::int64_t operator[](std::size_t dimension) const noexcept { return m_extents[dimension]; }
  /// Elements along each dimension, as many as the rank; valid while the shape lives.
  std::span<const std::int64_t> extents() const noexcept { return {m_extents.data(), m_rank}; }
  /// Number of elements; 1 for rank 0.
  std::int64_t count() const noexcept {
    std::int64_t count = 1;
    for (const std::int64_t extent : extents()) count *= extent;
    return count;
  }
  /// Same rank and same extents.
  friend bool operator==(const shape&, const shape&) = default;

 private:
  std::array<std::int64_t, max_rank> m_extents{};
  std::uint8_t m_rank = 0;
};

}  // namespace tessera
