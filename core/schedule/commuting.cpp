#include "core/schedule/commuting.hpp"

#include <algorithm>
#include <ranges>

namespace tessera::schedule {
namespace {

/// For heaps: whether `b` comes before `a`.
bool is_behind(const task::record* a, const task::record* b) noexcept {
  return a->priority != b->priority ? a->priority < b->priority : a->sequence > b->sequence;
}

auto commutes(task::record& t) {
  return t.all_accesses() | std::views::filter([](const block::access& a) { return a.intent == intent::commute; });
}

}  // namespace

bool commuting_blocks::enter(task::record& t) {
  const std::lock_guard guard(m_mutex);
  for (const block::access& a : commutes(t)) {
    auto& waiting = m_places[a.block].waiting;
    waiting.push_back(&t);
    std::ranges::push_heap(waiting, is_behind);
  }
  if (!may_take(t)) return false;
  take(t);
  return true;
}

bool commuting_blocks::may_take(task::record& t) const {
  return std::ranges::all_of(commutes(t), [&](const block::access& a) {
    const place& at = m_places.at(a.block);
    return !at.is_taken && at.waiting.front() == &t;
  });
}

void commuting_blocks::take(task::record& t) {
  for (block::access& a : commutes(t)) {
    place& at = m_places.at(a.block);
    std::ranges::pop_heap(at.waiting, is_behind);
    at.waiting.pop_back();
    at.is_taken = true;
  }
  for (block::access& a : t.all_accesses()) {
    if (a.intent != intent::commute) continue;
    a.intent = intent::update;
    a.flags |= task::access_commutes;
    const std::lock_guard guard(a.block->lock);
    a.version = block::version_after(a.block->committed);  // whoever had it before has published
  }
  t.rare = static_cast<std::uint8_t>((t.rare & ~task::rare_commutes) | task::rare_holds_blocks);
}

std::vector<task::record*> commuting_blocks::take_back(task::record& t) {
  std::vector<task::record*> next;
  const std::lock_guard guard(m_mutex);
  for (const block::access& a : t.all_accesses()) {
    if ((a.flags & task::access_commutes) == 0) continue;
    m_places.at(a.block).is_taken = false;
  }
  for (const block::access& a : t.all_accesses()) {
    if ((a.flags & task::access_commutes) == 0) continue;
    const auto at = m_places.find(a.block);
    if (at->second.is_taken) continue;  // by one that waited for two of these
    if (at->second.waiting.empty()) {
      m_places.erase(at);
      continue;
    }
    task::record& first = *at->second.waiting.front();
    if (!may_take(first)) continue;
    take(first);
    next.push_back(&first);
  }
  return next;
}

}  // namespace tessera::schedule
