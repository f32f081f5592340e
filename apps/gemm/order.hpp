#pragma once
// The order of a product's tasks when the matrices do not fit into the memory where they run.
#include <cstdint>
#include <vector>

namespace tessera::apps {

/// Tiles of C that are finished together, before others are begun.
struct product_region {
  std::int64_t row = 0, rows = 0, column = 0, columns = 0;
  bool backwards = false;  ///< the inner dimension is passed through from its end: what was used last is used first
};

/// Cuts C (`rows` x `columns` tiles, `inner` products for each) into a grid of regions, so that as few tiles as
/// possible move. A region stays in the memory while tiles of A and B stream through it. Regions follow each other like
/// a snake: each shares its rows or its columns with the one before, and what of that strip of A or B still fits is not
/// brought again.
/// @param room  tiles that the memory holds
/// @returns nothing where everything fits, or where the room is too small for a plan: then any order will do
std::vector<product_region> plan_product(std::int64_t rows, std::int64_t columns, std::int64_t inner,
                                         std::int64_t room);

}  // namespace tessera::apps
