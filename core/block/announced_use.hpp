#pragma once
// A use of a block that is to come.
#include <atomic>
#include <cstdint>

#include "core/block/record.hpp"

namespace tessera::transfer {
class use_log;
}

namespace tessera::block {

/// A task of age `sequence` will use `block`, or is expected to: no task has been submitted yet. The uses of a block
/// form a chain in the order in which they were announced, from `record::next_use`, which the evicting thread moves on,
/// to `flow_record::last_announced`. Entries live in logs and are used again: one that says another block now has been
/// forgotten.
struct announced_use {
  std::atomic<const record*> block{nullptr};
  std::atomic<std::uint64_t> age_and_intent{0};  ///< sequence * 4, and 2 when it is expected, and 1 when it will write
  std::atomic<announced_use*> next{nullptr};
  const transfer::use_log* log = nullptr;  ///< knows which tasks have begun
};

}  // namespace tessera::block
