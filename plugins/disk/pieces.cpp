#include "plugins/disk/pieces.hpp"

#include <algorithm>

#include "plugins/disk/cells.hpp"

namespace tessera::disk {
namespace {

/// Rows from here on are cut one by one: a copy through a buffer of their ends costs less than one of all of them.
constexpr std::uint64_t long_row = 32 << 10;

/// Joins rows that follow each other without a gap on both sides.
void join_dense(strided_range& r) {
  if (r.rows > 1 && r.disk_stride[0] == r.bytes && r.host_stride[0] == r.bytes) {
    r.bytes *= r.rows;
    r.rows = 1;
  }
  if (r.rows == 1 && r.planes > 1) {  // planes of one row are rows
    r.rows = r.planes;
    r.planes = 1;
    r.disk_stride[0] = r.disk_stride[1];
    r.host_stride[0] = r.host_stride[1];
    join_dense(r);
  }
}

}  // namespace

bool piece::whole() const noexcept {
  return segments.size() == 1 && segments[0].disk == first_cell * cell_bytes && segments[0].bytes == cells * cell_bytes;
}

piece_cutter::piece_cutter(strided_range range, std::uint64_t limit) : m_range(range), m_limit(limit) {
  if (m_range.bytes == 0) m_plane = m_range.planes = 0;
  join_dense(m_range);
  m_long_rows = m_range.bytes >= long_row;
}

std::uint64_t piece_cutter::disk_at() const noexcept {
  return m_range.disk + m_plane * m_range.disk_stride[1] + m_row * m_range.disk_stride[0] + m_done;
}

std::uint64_t piece_cutter::host_at() const noexcept {
  return m_plane * m_range.host_stride[1] + m_row * m_range.host_stride[0] + m_done;
}

void piece_cutter::advance(std::uint64_t bytes) noexcept {
  m_done += bytes;
  if (m_done < m_range.bytes) return;
  m_done = 0;
  if (++m_row < m_range.rows) return;
  m_row = 0;
  ++m_plane;
}

bool piece_cutter::next(piece& out) {
  out.segments.clear();
  if (at_end()) return false;
  const std::uint64_t first = disk_at() / cell_bytes, limit = first * cell_bytes + m_limit;
  std::uint64_t last = first;  // cell
  bool whole_so_far = false;   // one segment of whole cells: nothing that spoils it may follow
  while (!at_end()) {
    const std::uint64_t from = disk_at();
    if (from >= limit || from / cell_bytes > last + 1) break;
    std::uint64_t bytes = std::min(m_range.bytes - m_done, limit - from);
    const std::uint64_t into = from % cell_bytes, tail = (from + bytes) % cell_bytes;
    if (m_long_rows && bytes >= cell_bytes) {
      if (into != 0 && into + bytes >= 2 * cell_bytes)
        bytes = cell_bytes - into;  // the head; whole cells follow
      else if (into == 0 && tail != 0)
        bytes -= tail;  // whole cells; the tail follows
    }
    const bool whole = into == 0 && bytes % cell_bytes == 0;
    if (!out.segments.empty() && m_long_rows && (whole || whole_so_far) && from % cell_bytes == 0) break;
    out.segments.push_back({from, host_at(), bytes});
    last = (from + bytes - 1) / cell_bytes;
    whole_so_far = whole;
    advance(bytes);
  }
  out.first_cell = first;
  out.cells = last - first + 1;
  return true;
}

}  // namespace tessera::disk
