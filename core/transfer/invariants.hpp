#pragma once
// What must hold of a block whenever its lock is given up; see the invariants in docs/architecture.md.
#include <cassert>
#include <cstdint>

#include "core/block/record.hpp"

namespace tessera::transfer {

/// With the block's lock held. Checked where assertions are: in debug and sanitizer builds.
inline void check_invariants([[maybe_unused]] block::record& b) {
#ifndef NDEBUG
  block::space_set there;
  b.for_each_replica([&](const block::replica& r) {
    assert(!there.has(r.space) && "a memory holds one replica of a block");
    there.add(r.space);
    assert(r.where && "a replica has memory");
    assert((!b.valid_in(r.space) || r.version == b.committed) && "a valid replica holds the committed version");
  });
  assert((b.valid_spaces | there) == there && "the set names replicas that exist");
  assert((b.committed != 0 || b.valid_spaces.empty()) && "what was never written is valid nowhere");
#endif
}

/// Likewise, of a use that is under way.
inline void check_use([[maybe_unused]] block::record& b, [[maybe_unused]] const block::access& a) {
#ifndef NDEBUG
  const block::replica* const here = b.find(a.space);
  assert(here != nullptr && here->pins > 0 && "what a task uses is pinned where it was acquired");
#endif
}

}  // namespace tessera::transfer
