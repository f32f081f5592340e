#pragma once
// A graph as blocks: where each piece lies, and what is written there.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hierarchy/deepcopy/graph.hpp"
#include "tessera/deep_copy.hpp"

namespace tessera::hierarchy {

/// What the first block begins with. Kernels read `base` (docs/deep_copy.md).
struct arena_header {
  std::uint64_t base;    ///< the address that the pointers were made for; 0: they are offsets from the arena's begin
  std::uint64_t bytes;   ///< of the block
  std::uint64_t root;    ///< offset of the root
  std::uint64_t number;  ///< of the copy, in this process
  std::uint64_t unused[4];
};
static_assert(sizeof(arena_header) == 64);

/// Where the pieces of a graph lie in one block, or in a block each. Pure.
class arena_layout {
 public:
  arena_layout(const object_graph& graph, copy_form form);

  std::size_t blocks() const noexcept { return m_bytes.size(); }
  std::uint64_t bytes_of(std::size_t block) const noexcept { return m_bytes[block]; }
  detail::copy_place place_of(const graph_place& at) const noexcept {
    const detail::copy_place& piece = m_pieces[at.piece];
    return {piece.block, piece.offset + at.offset};
  }
  std::uint64_t pointers() const noexcept { return m_pointers; }  ///< that are not null

  /// Writes all blocks, `to[k]` the k-th one, for memory that begins at `bases[k]`.
  void write(const object_graph& graph, std::span<std::byte* const> to, std::span<const std::uint64_t> bases,
             std::uint64_t number) const;
  /// Writes what the k-th block holds into the originals: numbers, and elements without pointers.
  void bring_back(const object_graph& graph, std::size_t block, const std::byte* from) const;

 private:
  std::vector<detail::copy_place> m_pieces;
  std::vector<std::uint64_t> m_bytes;
  std::vector<std::vector<std::size_t>> m_members;  // pieces of each block
  std::vector<std::vector<std::size_t>> m_scalars;  // likewise
  std::uint64_t m_pointers = 0;
};

/// Makes the pointers of an arena for another address. They may have been changed by tasks: what leads into the arena
/// goes on doing so. `pointers`: their offsets.
void rebase(std::byte* arena, std::uint64_t to, std::span<const std::uint64_t> pointers);

/// The arenas of this process, by their numbers, as long as their copies exist: where their pointers are. Any thread.
class arena_numbers {
 public:
  static std::uint64_t add(std::vector<std::uint64_t> pointers);
  static void remove(std::uint64_t number) noexcept;
  /// Null: the copy has ended.
  static std::shared_ptr<const std::vector<std::uint64_t>> find(std::uint64_t number);
};

}  // namespace tessera::hierarchy
