#pragma once
// A block's elements in memory, as statements read and write them.
#include <cstdint>

#include "languages/sial/interpreter/elementwise.hpp"
#include "tessera/tessera.hpp"

namespace tessera::sial {

/// Dense elements, first dimension fastest. Does not own them.
struct tile {
  double* data = nullptr;
  const shape* extents = nullptr;
  std::int64_t count = 0;
};

/// A tile to be written. Where it is a copy of a part of something, block_operands::write_back writes that.
struct target_tile : tile {
  double* whole = nullptr;  ///< a static array; null: the tile is the block itself
  box part;
};

}  // namespace tessera::sial
