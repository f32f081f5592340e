#pragma once
// Sums into shared blocks that do not depend on who comes first.
#include <cstdint>
#include <map>
#include <vector>

#include "languages/sial/exchange/array_generation.hpp"
#include "languages/sial/interpreter/private_blocks.hpp"
#include "languages/sial/interpreter/tile.hpp"

namespace tessera::sial {

/// What one worker has added to blocks of shared arrays and not yet handed over, with --deterministic. Refers to all
/// that it is made from. One thread.
class deterministic_sums {
 public:
  /// @param arrays the generation that the worker is in, by array
  deterministic_sums(const array_generations& arrays, block_pool& pool)
      : m_generations(arrays), m_pool(pool), m_sums(arrays.size()) {}

  /// Adds to a block's sum: `from`, or `value` to each element where that has no data.
  void add(std::uint32_t array, std::int64_t ordinal, const shape& extents, const tile& from, double value);
  /// Forgets a block's sum, if there is one.
  void drop(std::uint32_t array, std::int64_t ordinal);
  void drop_all(std::uint32_t array);
  /// Adds a block's sum, if there is one, to the block that all see.
  void hand_over(std::uint32_t array, std::int64_t ordinal);
  /// All sums, in the order of arrays and ordinals.
  void hand_over_all();

 private:
  using sums_of_array = std::map<std::int64_t, private_block*>;  // by ordinal
  void hand_over(std::uint32_t array, sums_of_array::iterator which);

  const array_generations& m_generations;
  block_pool& m_pool;
  std::vector<sums_of_array> m_sums;  // by array
};

}  // namespace tessera::sial
