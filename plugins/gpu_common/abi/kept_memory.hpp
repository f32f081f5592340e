#pragma once
// Device memory that is not given back at once.
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

namespace tessera::gpu {

/// Device memory that was freed and is kept for the next allocation of the same size: to give it back, a vendor's
/// runtime waits until all work of the device has ended. Thread-safe.
class kept_memory {
 public:
  /// Up to so many bytes are kept; 0, as at first: nothing.
  void set_limit(std::uint64_t bytes) noexcept;
  /// Memory of this size, no longer kept, or null.
  void* take(std::uint64_t bytes) noexcept;
  /// Keeps it, unless it is more than may be kept. Returns what is not kept any more, for the caller to give back: the
  /// oldest, or this one.
  std::vector<void*> keep(void* memory, std::uint64_t bytes) noexcept;
  std::uint64_t bytes() const noexcept;  ///< that are kept
  /// The oldest, of at least so many bytes together if there are as many, for the caller to give back.
  std::vector<void*> take_oldest(std::uint64_t bytes);

 private:
  struct piece {
    void* memory;
    std::uint64_t bytes;
  };
  mutable std::mutex m_mutex;
  std::uint64_t m_limit = 0, m_bytes = 0;
  std::deque<piece> m_pieces;  // the oldest first
};

}  // namespace tessera::gpu
