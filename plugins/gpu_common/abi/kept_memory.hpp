#pragma once
// Device memory that is not given back at once.
#include <cstdint>
#include <map>
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
  void* take(std::uint64_t bytes);
  /// Whether it is kept now. If not, the caller gives it back.
  bool keep(void* memory, std::uint64_t bytes);
  std::uint64_t bytes();  ///< that are kept
  /// All that is kept, for the caller to give back.
  std::vector<void*> take_all();

 private:
  std::mutex m_mutex;
  std::uint64_t m_limit = 0, m_bytes = 0;
  std::multimap<std::uint64_t, void*> m_memory;  // by size
};

}  // namespace tessera::gpu
