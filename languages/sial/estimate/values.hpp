#pragma once
// Ints, scalars and indices as far as they are known before a run.
#include <cstdint>
#include <optional>
#include <vector>

#include "languages/sial/estimate/uses.hpp"
#include "languages/sial/interpreter/geometry.hpp"

namespace tessera::sial {

/// An index has a value, none (`unbound`), or one that is not known: it stands for all of its range.
inline constexpr std::int64_t any_value = INT64_MIN + 1;

/// Segment numbers, inclusive.
struct segment_range {
  std::int64_t low = 1, high = 0;
  double count() const noexcept { return high < low ? 0 : static_cast<double>(high) - static_cast<double>(low) + 1; }
};

/// Only ints and scalars that decide something are kept; others are never known.
struct values {
  /// Vectors of the data that the program does not change: what it looks things up in. By array; null: not known.
  std::vector<const std::vector<double>*> tables;
  std::vector<std::optional<std::int64_t>> ints;
  std::vector<std::optional<double>> scalars;
  std::vector<std::int64_t> indices;

  /// What is not known in both, or differs, is not known.
  void merge(const values& other);
  void forget(const std::set<symbol>& the_ints, const std::set<symbol>& the_scalars);
  std::optional<std::int64_t> int_of(const expression& e) const;
  std::optional<double> scalar_of(const expression& e) const;
  std::optional<double> element_of(const block_reference& b) const;  ///< of a table
  std::optional<bool> holds(const relation& r) const;
};

/// At the start of a program. @param data may be null; else it outlives them
values start_values(const program& of, const geometry& sizes, const use_table& uses, const init_data* data);
/// The range of an index that is no subindex.
segment_range range_of(symbol index, const code& lowered, const geometry& sizes);

}  // namespace tessera::sial
