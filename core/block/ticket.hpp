#pragma once
// A point on a stream's timeline, in the core's own numbering of streams.
#include <cstdint>

namespace tessera::block {

/// Reached when stream number `stream` has completed `value`. The default ticket is always reached. Plain data.
struct ticket {
  std::uint32_t stream = 0;  ///< 1-based; 0: no stream
  std::uint64_t value = 0;
  explicit operator bool() const noexcept { return stream != 0; }
  friend bool operator==(const ticket&, const ticket&) = default;
};

}  // namespace tessera::block
