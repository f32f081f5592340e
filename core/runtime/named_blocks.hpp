#pragma once
// What a call may name: blocks of its own runtime, and in a task each block that is written once.
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <string_view>

#include "core/block/record.hpp"

namespace tessera {

/// Throws usage: the array of a block that `call` names has ended.
[[noreturn]] void refuse_ended_block(std::string_view call, std::source_location site);

/// @param call  what names the block: "task 'scale'" @param runtime  table::number of the call's runtime
[[noreturn]] void refuse_foreign_block(const block::record& block, std::uint32_t runtime, std::string_view call,
                                       std::source_location site);

/// Throws usage for a block of another runtime.
inline void require_block_of(const block::record& block, std::uint32_t runtime, std::string_view call,
                             std::source_location site) {
  if (block.owner != runtime) [[unlikely]]
    refuse_foreign_block(block, runtime, call, site);
}

/// Whether a task may name these blocks. False: perhaps not, and check_named_blocks finds out. Where a task has many
/// blocks, some of them share a bit though they are different.
inline bool surely_named_well(std::span<const block::access> accesses, std::uint32_t runtime) noexcept {
  std::uint32_t foreign = 0;
  bool twice = false;
  if (accesses.size() <= 4) {
    for (std::size_t k = 0; k < accesses.size(); ++k) {
      if (accesses[k].block == nullptr) return false;
      foreign |= accesses[k].block->owner ^ runtime;
      for (std::size_t before = 0; before < k; ++before) twice |= accesses[before].block == accesses[k].block;
    }
  } else {
    std::uint64_t seen = 0, again = 0;
    for (const block::access& a : accesses) {
      if (a.block == nullptr) return false;
      foreign |= a.block->owner ^ runtime;
      const std::uint64_t bit = std::uint64_t{1} << (a.block->slot & 63);
      again |= seen & bit;
      seen |= bit;
    }
    twice = again != 0;
  }
  return foreign == 0 && !twice;
}

/// Throws usage for a block of another runtime, and for one that is written and stands twice: its uses would share
/// memory. Reads may stand beside reads, and accumulates, which have memory of their own, beside anything.
/// @param task  its name, for messages
void check_named_blocks(std::string_view task, std::span<const block::access> accesses, std::uint32_t runtime,
                        std::source_location site);

}  // namespace tessera
