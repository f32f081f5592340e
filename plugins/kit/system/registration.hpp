#pragma once
// Which ranges of host memory are registered with a device.
#include <cstdint>
#include <map>
#include <mutex>

namespace tessera::kit {

/// A set of disjoint ranges of host memory. Thread-safe.
class registration_table {
 public:
  /// False when the range overlaps one that is registered.
  bool add(const void* pointer, std::uint64_t bytes);
  /// False when no range starts there.
  bool remove(const void* pointer);

 private:
  std::mutex m_mutex;
  std::map<std::uintptr_t, std::uint64_t> m_ranges;  // begin -> bytes
};

}  // namespace tessera::kit
