#pragma once
// One copy between host memory and an allocation, as work for one or more threads.
#include <atomic>
#include <cstdint>
#include <mutex>

#include "plugins/disk/io_context.hpp"
#include "plugins/disk/pieces.hpp"

namespace tessera::disk {

/// Its pieces are handed out one by one. A *whole* piece moves between the host's memory and the disk as it is, so that
/// an engine can have many under way: begin, the request, end. Every other piece goes through `merge`, which blocks.
/// The first failure is kept and ends the rest. Different pieces may be worked on by different threads.
class transfer {
 public:
  enum class direction : std::uint8_t {
    to_disk,
    from_disk
  };

  /// `host`: where the first byte is, or goes. All must stay alive until the last piece is done.
  transfer(io_context& io, extent& on_disk, direction way, void* host, const strided_range& range);

  /// The next piece; false when there is none, or after a failure. Thread-safe.
  bool next(piece& out);

  /// More than one piece, so that several threads are of use.
  bool is_large() const noexcept { return m_large; }

  /// Whether the piece may be moved without a copy.
  bool goes_straight(const piece& what) const noexcept;
  /// Prepares a piece that goes straight; `sums` takes its checksums until `end`. False when there is nothing to move.
  bool begin(const piece& what, std::vector<std::uint32_t>& sums, request& out);
  /// After its request: error as perform answers.
  void end(const piece& what, std::vector<std::uint32_t>& sums, const request& done, int error);

  /// Does any piece, blocking.
  void work(const piece& what, scratch& own);
  /// Does pieces until there are none.
  void work_all(piece& space, scratch& own);

  void fail(outcome why);
  bool failed() const noexcept { return m_failed.load(std::memory_order_relaxed); }
  /// When all pieces are done.
  const outcome& result() const noexcept { return m_result; }

 private:
  void merge_to_disk(const piece& what, scratch& own);
  void merge_from_disk(const piece& what, scratch& own);
  /// Sets the bytes of each cell that the piece touches, and returns the locks of those that it touches in part.
  std::uint64_t cover(const piece& what, scratch& own) const;
  request request_for(bool write, std::uint64_t first_cell, std::uint64_t cells, unsigned char* data) const;
  /// Reads cells into `data`: zeros where nothing was written; the rest is checked.
  outcome read_cells(std::uint64_t first, std::uint64_t cells, unsigned char* data, std::vector<std::uint32_t>& sums);
  outcome check_cells(std::uint64_t first, std::uint64_t cells, unsigned char* data, std::vector<std::uint32_t>& sums);
  bool none_written(std::uint64_t first, std::uint64_t cells) const noexcept;

  io_context& m_io;
  extent& m_disk;
  const direction m_way;
  unsigned char* const m_host;
  const bool m_large;
  std::mutex m_mutex;  // m_cutter, m_result
  piece_cutter m_cutter;
  outcome m_result;
  std::atomic<bool> m_failed{false};
};

}  // namespace tessera::disk
