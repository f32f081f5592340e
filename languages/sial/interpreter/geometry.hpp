#pragma once
// Sizes: what the segment tables and constants of a job make of a program's declarations.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "languages/sial/code/code.hpp"
#include "languages/sial/data/init_data.hpp"
#include "tessera/tessera.hpp"

namespace tessera::sial {

/// The segments of one dimension of an array.
struct dimension {
  index_kind kind = index_kind::simple;
  std::int64_t low = 1, high = 0;                      ///< segment numbers, inclusive
  const std::vector<std::int64_t>* lengths = nullptr;  ///< of segments 1, 2, ...; null: every segment has one element
  std::int64_t segments() const noexcept { return high - low + 1; }
  std::int64_t length(std::int64_t segment) const noexcept {
    return lengths == nullptr ? 1 : (*lengths)[static_cast<std::size_t>(segment - 1)];
  }
  std::int64_t offset(std::int64_t segment) const noexcept;  ///< elements of the dimension before a segment
  std::int64_t elements() const noexcept { return offset(high + 1); }
};

/// The segments that a block is of, by dimension.
using segment_numbers = std::array<std::int64_t, max_array_rank>;

/// An array as this job has it.
struct array_geometry {
  std::string name;
  array_kind kind = array_kind::temp;
  std::size_t rank = 0;
  std::array<dimension, max_array_rank> dims;
  segment_numbers stride{};  ///< of block ordinals, first dimension fastest
  std::int64_t blocks = 1;

  shape extents_of(const std::int64_t* segments) const;  ///< of one block
  double elements() const noexcept;                      ///< of the whole array
  /// The segments of a block, by its ordinal; 0 beyond the rank.
  segment_numbers segments_of(std::int64_t ordinal) const noexcept;
  /// "a[1,2]", of a block's segments or its ordinal.
  std::string name_of(const std::int64_t* segments) const;
  std::string name_of(std::int64_t ordinal) const { return name_of(segments_of(ordinal).data()); }
};

/// Everything about sizes that one program needs.
class geometry {
 public:
  /// Throws tessera::error (input): constants and segment tables that the data lack, ranges outside of them, empty
  /// ranges.
  geometry(const code& of, const init_data& data);

  const array_geometry& array(std::uint32_t number) const { return m_arrays[number]; }
  std::size_t arrays() const noexcept { return m_arrays.size(); }
  const std::vector<std::int64_t>& int_start() const noexcept { return m_ints; }  ///< registers at the start
  const std::vector<double>& scalar_start() const noexcept { return m_scalars; }  ///< likewise
  /// The lengths of a kind's segments; null for simple indices.
  const std::vector<std::int64_t>* lengths_of(index_kind kind) const;

 private:
  dimension dimension_of(const code& of, symbol index) const;

  std::vector<std::int64_t> m_ints;
  std::vector<double> m_scalars;
  std::array<std::vector<std::int64_t>, 6> m_lengths;  // by index_kind
  std::vector<std::vector<std::int64_t>> m_pieces;     // of subindices, by index
  std::vector<array_geometry> m_arrays;
};

/// Pieces that a subindex makes of a segment.
inline constexpr std::int64_t pieces_of_a_segment = 4;

}  // namespace tessera::sial
