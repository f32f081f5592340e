#pragma once
// What a task on the host needs where there is one memory: the fast path beside transfer/coherence.hpp.
#include <cstdint>
#include <span>

#include "core/block/record.hpp"

namespace tessera::schedule {

inline constexpr std::uint16_t host_space = 0;  // the single space of the fast path

/// With one space there are no transfers and no other copies: a block that has memory is usable as it is. Dependencies
/// order all uses, so that no lock is needed.
inline bool resident(std::span<block::access> accesses) noexcept {
  for (block::access& a : accesses) {
    const block::record& b = *a.block;
    if (b.replicas[0].state != block::replica_state::valid || b.poison != nullptr) return false;
    if (needs_contents(a.intent) && b.committed == 0) return false;
    a.space = host_space;
  }
  return true;
}

/// What publish does in general, for blocks that resident() has accepted. Returns how many versions were made.
inline std::uint64_t commit_in_place(std::span<const block::access> accesses) noexcept {
  std::uint64_t versions = 0;
  for (const block::access& a : accesses) {
    if (a.intent == intent::read) continue;
    const bool contents = makes_version(a.intent);
    a.block->committed = contents ? a.version : 0;
    a.block->valid_spaces = contents ? block::space_set::of(0) : block::space_set();
    a.block->replicas[0].version = a.block->committed;
    versions += contents;
    if (a.block->poison != nullptr) a.block->clear_poison();  // written anew
  }
  return versions;
}

}  // namespace tessera::schedule
