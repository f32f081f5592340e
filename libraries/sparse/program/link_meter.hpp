#pragma once
// What moves between memories while something runs.
#include <vector>

#include "tessera/sparse.hpp"
#include "tessera/tessera.hpp"

namespace tessera::sparse {

/// Counts from its making on.
class link_meter {
 public:
  explicit link_meter(const runtime& rt) : m_runtime(rt), m_before(rt.statistics().links) {}
  /// Links over which something has gone.
  std::vector<link_bytes> moved() const {
    std::vector<link_bytes> made;
    for (const link_statistics& now : m_runtime.statistics().links) {
      std::uint64_t bytes = now.bytes;
      for (const link_statistics& then : m_before)
        if (then.from == now.from && then.to == now.to) bytes -= then.bytes;
      if (bytes > 0) made.push_back({now.from, now.to, bytes});
    }
    return made;
  }

 private:
  const runtime& m_runtime;
  std::vector<link_statistics> m_before;
};

}  // namespace tessera::sparse
