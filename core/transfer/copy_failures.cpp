#include "core/transfer/copy_failures.hpp"

#include <algorithm>

namespace tessera::transfer {

void copy_failures::note(failed_copy what) {
  const std::lock_guard guard(m_mutex);
  m_failed.fetch_add(1, std::memory_order_relaxed);
  auto& entries = m_entries[what.block];
  m_known.store(m_entries.size(), std::memory_order_release);
  std::erase_if(entries, [&](const entry& e) { return e.last.version != what.version; });
  for (entry& e : entries)
    if (e.last.from == what.from && e.last.to == what.to) {
      e.last = std::move(what);
      ++e.count;
      return;
    }
  entries.push_back({std::move(what), 1});
}

const copy_failures::entry* copy_failures::find(const block::record& block, memory::space_number from,
                                                memory::space_number to, block::version_number version) const {
  const auto known = m_entries.find(&block);
  if (known == m_entries.end()) return nullptr;
  for (const entry& e : known->second)
    if (e.last.from == from && e.last.to == to && e.last.version == version) return &e;
  return nullptr;
}

bool copy_failures::exhausted(const block::record& block, memory::space_number from, memory::space_number to,
                              block::version_number version) const {
  if (m_known.load(std::memory_order_acquire) == 0) return false;
  const std::lock_guard guard(m_mutex);
  const entry* const e = find(block, from, to, version);
  return e != nullptr &&
         e->count > (e->last.status == TSR_DATA_LOSS ? std::min(m_retries, std::uint32_t{1}) : m_retries);
}

std::uint32_t copy_failures::failures(const block::record& block, memory::space_number from, memory::space_number to,
                                      block::version_number version) const {
  if (m_known.load(std::memory_order_acquire) == 0) return 0;
  const std::lock_guard guard(m_mutex);
  const entry* const e = find(block, from, to, version);
  return e != nullptr ? e->count : 0;
}

void copy_failures::arrived(const block::record& block, memory::space_number to) {
  if (m_known.load(std::memory_order_acquire) == 0) return;
  const std::lock_guard guard(m_mutex);
  const auto known = m_entries.find(&block);
  if (known == m_entries.end()) return;
  std::erase_if(known->second, [&](const entry& e) { return e.last.to == to; });
  if (known->second.empty()) m_entries.erase(known);
  m_known.store(m_entries.size(), std::memory_order_release);
}

void copy_failures::forget(const block::record& block) {
  if (m_known.load(std::memory_order_acquire) == 0) return;
  const std::lock_guard guard(m_mutex);
  m_entries.erase(&block);
  m_known.store(m_entries.size(), std::memory_order_release);
}

std::string copy_failures::about(const block::record& block, memory::space_number to) const {
  const std::lock_guard guard(m_mutex);
  std::string text;
  const auto known = m_entries.find(&block);
  if (known == m_entries.end()) return text;
  for (const entry& e : known->second) {
    if (e.last.to != to) continue;
    text += (text.empty() ? "" : "; ") + e.last.text;
    if (e.count > 1) text += " (" + std::to_string(e.count) + " times)";
  }
  return text;
}

std::string copy_failures::last_from(memory::space_number from) const {
  const std::lock_guard guard(m_mutex);
  for (const auto& [block, entries] : m_entries)
    for (const entry& e : entries)
      if (e.last.from == from) return e.last.text;
  return {};
}

copy_failure_statistics copy_failures::statistics() const noexcept {
  return {.failed_copies = m_failed.load(std::memory_order_relaxed),
          .retried_copies = m_retried.load(std::memory_order_relaxed)};
}

}  // namespace tessera::transfer
