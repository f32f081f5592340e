#pragma once
// Host memory through which two devices of one plugin talk when they have no link of their own.
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/memory/space.hpp"
#include "core/transfer/stream.hpp"

namespace tessera::transfer {

/// The points of a staged copy. Each piece of it leaves the source on one stream, and arrives on another one.
struct staged_points {
  block::ticket arrived, left;        ///< the whole copy; when its source is no longer read
  std::vector<block::ticket> pieces;  ///< in the order in which they are reached; any of them may fail
  std::vector<block::ticket> behind;  ///< the ends of earlier copies, whose slots it uses
};

/// A fixed piece of host memory, allocated once and never lent out, cut into slots. A copy goes through it in pieces:
/// while one slot is filled by the source device, another is drained by the destination device. All waiting happens on
/// the devices; the host only enqueues. Thread-safe: one staged copy enqueues at a time.
class staging_ring {
 public:
  /// @param host   space the ring is taken from; throws tessera::error (memory) when it has no room
  staging_ring(memory::space& host, std::uint64_t bytes, std::uint32_t slots = 4);
  ~staging_ring();
  staging_ring(const staging_ring&) = delete;
  staging_ring& operator=(const staging_ring&) = delete;

  /// Enqueues a copy of `bytes` from `source` to `destination`: every piece leaves on `out` and arrives on `in`. Both
  /// streams must be able to wait for each other; neither lock is held by the caller. `source_ready`: the point that
  /// makes the source, or none; the arrival fails with it, and with every piece. `points` has what was enqueued also
  /// when a later piece is refused, which throws tessera::error (device).
  void copy(const memory::space& from, tsr_address source, stream& out, const memory::space& to,
            tsr_address destination, stream& in, std::uint64_t bytes,
            std::span<const std::pair<const stream*, block::ticket>> waits, block::ticket source_ready,
            staged_points& points);

 private:
  struct slot {
    block::ticket emptied;  ///< when its last contents have been drained
    const stream* drained_by = nullptr;
  };
  memory::space& m_host;
  block::chunk m_memory;
  std::uint64_t m_bytes, m_slot_bytes;
  std::vector<slot> m_slots;
  std::size_t m_next = 0;
  std::mutex m_mutex;
};

}  // namespace tessera::transfer
