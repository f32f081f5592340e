#pragma once
// Where blocks of a memory may begin, so that those that leave make room for those that come.
#include <cstdint>
#include <map>

namespace tessera::memory {

/// A memory in pages of the size that most of its bytes are in blocks of. What is not larger than a page lies within
/// one, what is larger begins with one: so whatever leaves a page, a block of that size fits in its place. Without
/// this, blocks of different sizes shift against each other, and a block can only take the place of one of its own
/// size, however much longer that one is needed.
struct page_grid {
  std::uint64_t page = 0;  ///< bytes; 0: blocks may lie anywhere

  /// The first place at `begin` or behind it where so many bytes may lie.
  std::uint64_t first_place(std::uint64_t begin, std::uint64_t bytes) const noexcept {
    const std::uint64_t within = page == 0 ? 0 : begin % page;
    return within == 0 || within + bytes <= page ? begin : begin + page - within;
  }
  /// Whether so many bytes may lie there.
  bool allows(std::uint64_t begin, std::uint64_t bytes) const noexcept { return first_place(begin, bytes) == begin; }
};

/// The grid for a memory in which there are so many blocks of each size. None, where pages would cost more than an
/// eighth of the memory: blocks below the page's size that leave much of it empty, or above it.
page_grid grid_for(const std::map<std::uint64_t, std::uint64_t>& blocks_of_size);

}  // namespace tessera::memory
