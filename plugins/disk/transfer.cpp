#include "plugins/disk/transfer.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "core/bytes/copy.hpp"
#include "plugins/disk/crc32c.hpp"

namespace tessera::disk {

transfer::transfer(io_context& io, extent& on_disk, direction way, void* host, const strided_range& range)
    : m_io(io),
      m_disk(on_disk),
      m_way(way),
      m_host(static_cast<unsigned char*>(host)),
      m_large(range.bytes * range.rows * range.planes > io.setting.piece),
      m_cutter(range, io.setting.piece) {}

bool transfer::next(piece& out) {
  if (failed()) return false;
  const std::lock_guard lock(m_mutex);
  return m_cutter.next(out);
}

void transfer::fail(outcome why) {
  const std::lock_guard lock(m_mutex);
  if (m_result.good()) m_result = std::move(why);
  m_failed.store(true, std::memory_order_relaxed);
}

bool transfer::goes_straight(const piece& what) const noexcept {
  if (!what.whole()) return false;
  return !m_io.setting.direct || reinterpret_cast<std::uintptr_t>(m_host + what.segments[0].host) % cell_bytes == 0;
}

request transfer::request_for(bool write, std::uint64_t first_cell, std::uint64_t cells, unsigned char* data) const {
  return {m_disk.in.get(), write, m_disk.base + first_cell * cell_bytes, data, cells * cell_bytes, 0};
}

bool transfer::none_written(std::uint64_t first, std::uint64_t cells) const noexcept {
  if (!m_disk.sums.kept()) return false;
  for (std::uint64_t i = 0; i < cells; ++i)
    if (m_disk.sums.sum(first + i) != 0) return false;
  return true;
}

bool transfer::begin(const piece& what, std::vector<std::uint32_t>& sums, request& out) {
  unsigned char* data = m_host + what.segments[0].host;
  out = request_for(m_way == direction::to_disk, what.first_cell, what.cells, data);
  if (m_way == direction::from_disk) {
    if (!none_written(what.first_cell, what.cells)) return true;
    std::memset(data, 0, out.bytes);
    return false;
  }
  if (m_disk.sums.kept()) {
    sums.resize(what.cells);
    crc32c_cells(data, cell_bytes, what.cells, sums.data());
  }
  return true;
}

void transfer::end(const piece& what, std::vector<std::uint32_t>& sums, const request& done, int error) {
  if (error != 0) return fail(failure_of(done, error));
  if (m_way == direction::from_disk) {
    auto checked = check_cells(what.first_cell, what.cells, done.data, sums);
    if (!checked.good()) fail(std::move(checked));
    return;
  }
  if (m_disk.sums.kept())
    for (std::uint64_t i = 0; i < what.cells; ++i) m_disk.sums.set(what.first_cell + i, sums[i]);
}

outcome transfer::check_cells(std::uint64_t first, std::uint64_t cells, unsigned char* data,
                              std::vector<std::uint32_t>& sums) {
  if (!m_disk.sums.kept()) return {};
  sums.resize(cells);
  crc32c_cells(data, cell_bytes, cells, sums.data());
  m_io.count.cells_checked.fetch_add(cells, std::memory_order_relaxed);
  outcome result;
  for (std::uint64_t i = 0; i < cells; ++i) {
    const auto expected = m_disk.sums.sum(first + i), found = cell_table::stored(sums[i]);
    if (expected == 0) {
      std::memset(data + i * cell_bytes, 0, cell_bytes);
    } else if (found != expected) {
      m_io.count.cells_lost.fetch_add(1, std::memory_order_relaxed);
      if (!result.good()) continue;
      char text[160];
      std::snprintf(text, sizeof text, ": the %llu bytes at offset %llu have the checksum %08x, expected %08x: ",
                    static_cast<unsigned long long>(cell_bytes),
                    static_cast<unsigned long long>(m_disk.base + (first + i) * cell_bytes), found, expected);
      result = {TSR_DATA_LOSS, m_disk.in->path() + text + "what is on the disk is not what was written"};
    }
  }
  return result;
}

outcome transfer::read_cells(std::uint64_t first, std::uint64_t cells, unsigned char* data,
                             std::vector<std::uint32_t>& sums) {
  if (none_written(first, cells)) {
    std::memset(data, 0, cells * cell_bytes);
    return {};
  }
  request read = request_for(false, first, cells, data);
  if (const int error = perform(m_io, read)) return failure_of(read, error);
  return check_cells(first, cells, data, sums);
}

std::uint64_t transfer::cover(const piece& what, scratch& own) const {
  own.covered.assign(what.cells, 0);
  for (const segment& s : what.segments)
    for (std::uint64_t at = s.disk, left = s.bytes; left > 0;) {
      const std::uint64_t here = std::min(left, cell_bytes - at % cell_bytes);
      own.covered[at / cell_bytes - what.first_cell] += static_cast<std::uint32_t>(here);
      at += here;
      left -= here;
    }
  std::uint64_t locks = 0;
  for (std::uint64_t i = 0; i < what.cells; ++i)
    if (own.covered[i] != cell_bytes) locks |= cell_locks::bit_of(m_disk.number, what.first_cell + i);
  return locks;
}

void transfer::merge_to_disk(const piece& what, scratch& own) {
  const cell_locks::holder hold(m_io.locks, cover(what, own));
  unsigned char* cells = own.memory.at_least(what.cells * cell_bytes);
  for (std::uint64_t i = 0; i < what.cells;) {
    std::uint64_t end = i;  // a run of cells that keep some of what they have
    while (end < what.cells && own.covered[end] != cell_bytes) ++end;
    if (end > i) {
      auto read = read_cells(what.first_cell + i, end - i, cells + i * cell_bytes, own.sums);
      if (!read.good()) return fail(std::move(read));
    }
    i = end + 1;
  }
  for (const segment& s : what.segments)
    copy_bytes(cells + (s.disk - what.first_cell * cell_bytes), m_host + s.host, s.bytes);
  if (m_disk.sums.kept()) {
    own.sums.resize(what.cells);
    crc32c_cells(cells, cell_bytes, what.cells, own.sums.data());
  }
  request write = request_for(true, what.first_cell, what.cells, cells);
  if (const int error = perform(m_io, write)) return fail(failure_of(write, error));
  if (m_disk.sums.kept())
    for (std::uint64_t i = 0; i < what.cells; ++i) m_disk.sums.set(what.first_cell + i, own.sums[i]);
}

void transfer::merge_from_disk(const piece& what, scratch& own) {
  unsigned char* cells = own.memory.at_least(what.cells * cell_bytes);
  {
    const cell_locks::holder hold(m_io.locks, cover(what, own));
    auto read = read_cells(what.first_cell, what.cells, cells, own.sums);
    if (!read.good()) return fail(std::move(read));
  }
  for (const segment& s : what.segments)
    copy_bytes(m_host + s.host, cells + (s.disk - what.first_cell * cell_bytes), s.bytes);
}

void transfer::work(const piece& what, scratch& own) {
  if (!goes_straight(what)) return m_way == direction::to_disk ? merge_to_disk(what, own) : merge_from_disk(what, own);
  request straight;
  if (begin(what, own.sums, straight)) end(what, own.sums, straight, perform(m_io, straight));
}

void transfer::work_all(piece& space, scratch& own) {
  while (next(space)) work(space, own);
}

}  // namespace tessera::disk
