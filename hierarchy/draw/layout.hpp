#pragma once
// Nested boxes for a tree: where each one is, without any drawing.
#include <string>
#include <vector>

#include "hierarchy/draw/draw.hpp"

namespace tessera::hierarchy {

/// One box, in pixels from the upper left corner of the picture.
struct box {
  location::node_id id = location::no_node;
  int x = 0, y = 0, width = 0, height = 0;
  std::vector<std::string> lines;  ///< the name, then facts and note; texts start at the upper left corner
};

/// Sizes of the letters used, in pixels.
struct metrics {
  int margin = 10;  ///< between boxes, and between a box and its contents
  int name_size = 14, fact_size = 11;
  int line = 16;  ///< from one line of text to the next
};

/// Boxes of a subtree, parents before children. A child lies inside its parent, siblings do not touch, and every text
/// fits its box. Children keep their order, in rows as nearly of the shape of a page as they go.
std::vector<box> layout(const location::tree& tree, const drawing& what, const metrics& sizes = {});

/// Width in pixels that a text takes, estimated on the safe side.
int text_width(const std::string& text, int size);

}  // namespace tessera::hierarchy
