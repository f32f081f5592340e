#pragma once
// Contiguous local arrays: regions of segments, each in one piece of memory.
#include <cstdint>
#include <vector>

#include "languages/sial/interpreter/elementwise.hpp"
#include "languages/sial/interpreter/registers.hpp"

namespace tessera::sial {

/// The regions that one worker has allocated; those of one array do not overlap. The sizes outlive it. One thread.
class contiguous_arrays {
 public:
  /// One that was allocated.
  struct memory {
    segment_numbers low{}, high{};  ///< inclusive
    shape extents;                  ///< elements per dimension
    std::vector<double> data;       ///< first dimension fastest
  };
  /// A region inside of one that was allocated.
  struct part {
    memory* whole = nullptr;
    box where;               ///< in `whole`
    shape extents;           ///< elements per dimension
    std::int64_t count = 0;  ///< elements
  };

  explicit contiguous_arrays(const geometry& sizes) : m_sizes(sizes), m_regions(sizes.arrays()) {}

  /// All elements 0. Throws run_error when it overlaps another one.
  void allocate(const region& r, const registers& values);
  /// Throws run_error when it was not allocated as such.
  void release(const region& r, const registers& values);
  /// Throws run_error when no allocated region has all of it.
  part find(const region& r, const registers& values);
  /// The only region of an array. Throws run_error when there are more, or none.
  memory& only(std::uint32_t array);

 private:
  memory described(const region& r, const registers& values) const;  ///< without its data

  const geometry& m_sizes;
  std::vector<std::vector<memory>> m_regions;  // by array
};

}  // namespace tessera::sial
