#pragma once
// How a copy is cut into requests of whole cells. Pure: no file, no thread.
#include <cstdint>
#include <vector>

#include "plugins/kit/abi/copy_plan.hpp"

namespace tessera::disk {

/// Rows between the host and an allocation on the disk.
struct strided_range {
  std::uint64_t bytes = 0, rows = 1, planes = 1;
  std::uint64_t disk = 0;  ///< offset of the first byte in the allocation
  std::uint64_t disk_stride[2] = {0, 0}, host_stride[2] = {0, 0};
};

/// A stretch of bytes: `disk` from the start of the allocation, `host` from the host pointer.
struct segment {
  std::uint64_t disk = 0, host = 0, bytes = 0;
};

/// Neighbouring cells of the allocation, each of which some segment touches. Cells are touched by one piece of a copy
/// only.
struct piece {
  std::uint64_t first_cell = 0, cells = 0;
  std::vector<segment> segments;  ///< ascending on the disk, no overlap

  /// One segment that covers all cells exactly: the bytes go between the host's memory and the disk as they are.
  bool whole() const noexcept;
};

/// Hands out the pieces of a copy, in the order of the disk. Long rows are cut so that all but their ends are whole;
/// short rows that lie near each other share a piece.
class piece_cutter {
 public:
  /// `limit`: bytes of a piece at most, a multiple of the cell.
  piece_cutter(strided_range range, std::uint64_t limit);

  /// False when there are no more. Reuses the memory of `out`.
  bool next(piece& out);

 private:
  bool at_end() const noexcept { return m_plane == m_range.planes; }
  std::uint64_t disk_at() const noexcept;
  std::uint64_t host_at() const noexcept;
  void advance(std::uint64_t bytes) noexcept;

  strided_range m_range;
  const std::uint64_t m_limit;
  bool m_long_rows;
  std::uint64_t m_plane = 0, m_row = 0, m_done = 0;  // done: bytes of the row
};

}  // namespace tessera::disk
