#include "core/transfer/use_log.hpp"

#include <new>

namespace tessera::transfer {
namespace {

using block::announced_use;

bool is_of(const announced_use* use, const block::record& block) noexcept {
  return use != nullptr && use->block.load(std::memory_order_acquire) == &block;
}

}  // namespace

use_log::use_log() : m_entries(capacity / chunk) {}

void use_log::add(block::record& block, std::uint64_t sequence, bool writes, bool expected) noexcept {
  const std::uint64_t at = m_head++ % capacity;
  std::unique_ptr<announced_use[]>& within = m_entries[at / chunk];
  if (within == nullptr) {
    within.reset(new (std::nothrow) announced_use[chunk]);
    if (within == nullptr) return;
    for (std::uint64_t k = 0; k < chunk; ++k) within[k].begun = &m_begun;
  }
  announced_use& fresh = within[at % chunk];
  fresh.next.store(nullptr, std::memory_order_relaxed);
  fresh.age_and_intent.store(sequence * 4 + (expected ? 2 : 0) + (writes ? 1 : 0), std::memory_order_relaxed);
  fresh.block.store(&block, std::memory_order_release);
  announced_use* const before = block.flow.last_announced.exchange(&fresh, std::memory_order_acq_rel);
  if (before != &fresh && is_of(before, block)) before->next.store(&fresh, std::memory_order_release);
  if (!is_of(block.next_use.load(std::memory_order_acquire), block))
    block.next_use.store(&fresh, std::memory_order_release);
}

/// The beginning of the chain; where that is forgotten, its end; or null.
announced_use* use_log::first_known(const block::record& block) noexcept {
  announced_use* const first = block.next_use.load(std::memory_order_acquire);
  if (is_of(first, block)) return first;
  announced_use* const last = block.flow.last_announced.load(std::memory_order_acquire);
  return is_of(last, block) ? last : nullptr;
}

use_log::coming_use use_log::next_use(block::record& block) noexcept {
  announced_use* at = first_known(block);
  if (at == nullptr) return {};
  coming_use found;
  for (;;) {
    const std::uint64_t use = at->age_and_intent.load(std::memory_order_relaxed);
    announced_use* const next = at->next.load(std::memory_order_acquire);
    const bool is_last = !is_of(next, block), expected = (use & 2) != 0;
    if (!at->begun->has(use / 4) && (is_last || !expected)) {
      found = {use / 4, expected};
      break;
    }
    if (is_last) break;  // a later one will be linked here
    at = next;
  }
  block.next_use.store(at, std::memory_order_release);
  return found;
}

bool use_log::will_be_written(const block::record& block) noexcept {
  for (const announced_use* at = first_known(block); is_of(at, block);) {
    const std::uint64_t use = at->age_and_intent.load(std::memory_order_relaxed);
    const announced_use* const next = at->next.load(std::memory_order_acquire);
    const bool holds = (use & 2) == 0 || !is_of(next, block);
    if (holds && (use & 1) != 0 && !at->begun->has(use / 4)) return true;
    at = next;
  }
  return false;
}

}  // namespace tessera::transfer
