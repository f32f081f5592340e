#pragma once
// What a structure consists of: its pieces of memory, and the pointers between them. Pure.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hierarchy/deepcopy/selection.hpp"
#include "tessera/deep_copy.hpp"

namespace tessera::hierarchy {

/// Where something lies in a graph.
struct graph_place {
  std::size_t piece;
  std::uint64_t offset;  ///< bytes in it
};

/// Memory that is copied as a whole: an object, an array of objects, or elements without pointers.
struct graph_piece {
  std::byte* at;
  std::uint64_t bytes;
  std::uint64_t alignment;  ///< of the elements, and of what pointers find among them
  bool objects;             ///< described ones
  bool constant;            ///< nothing is brought back to it
};

/// A pointer in an object, and what it leads to; nothing: it is null in the copy.
struct graph_pointer {
  graph_place where;
  std::optional<graph_place> target;
};

/// A described number in an object.
struct graph_scalar {
  graph_place where;
  std::uint64_t bytes;
};

/// A structure, or the parts of it that paths name.
class object_graph {
 public:
  /// Follows the descriptions from the root on; each piece of memory is there once, however many pointers lead to it or
  /// into it. Throws tessera::error (usage): paths that are wrong, descriptions that are, pieces that overlap in part.
  object_graph(void* root, const detail::described_type& type, const paths& parts);

  const std::vector<graph_piece>& pieces() const noexcept { return m_pieces; }        ///< by their addresses
  const std::vector<graph_pointer>& pointers() const noexcept { return m_pointers; }  ///< null ones too
  const std::vector<graph_scalar>& scalars() const noexcept { return m_scalars; }
  graph_place root() const noexcept { return m_root; }
  std::uint64_t nominal_bytes() const noexcept { return m_nominal_bytes; }  ///< of members and plain elements
  std::uint64_t objects() const noexcept { return m_objects; }              ///< described ones
  /// Where an address of the program lies; nothing: in no piece.
  std::optional<graph_place> find(const void* address) const;

 private:
  friend class graph_walk;
  std::vector<graph_piece> m_pieces;
  std::vector<graph_pointer> m_pointers;
  std::vector<graph_scalar> m_scalars;
  graph_place m_root{};
  std::uint64_t m_nominal_bytes = 0, m_objects = 0;
};

}  // namespace tessera::hierarchy
