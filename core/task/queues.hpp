#pragma once
// Queues of ready tasks that several threads share.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/base/spin_lock.hpp"
#include "core/task/record.hpp"

namespace tessera::task {

/// Tasks ordered by priority, then by submission. Those that have their blocks already can be had before the others.
/// Thread-safe.
class priority_queue {
 public:
  void push(record& t) {
    const std::lock_guard guard(m_lock);
    heap& into = (t.flags & flag_acquired) != 0 ? m_acquired : m_others;
    into.push_back(&t);
    std::ranges::push_heap(into, later);
    note_size();
  }
  /// The first one. With an `age`: if that was submitted later, the oldest of all that was submitted before; null if
  /// there is none.
  record* pop(std::uint64_t age = ~std::uint64_t{0}) {
    if (empty()) return nullptr;
    const std::lock_guard guard(m_lock);
    heap& first = m_others.empty() || (!m_acquired.empty() && later(m_others.front(), m_acquired.front())) ? m_acquired
                                                                                                           : m_others;
    if (first.empty()) return nullptr;
    if (first.front()->sequence < age) return take_front(first);
    return take_oldest(age);
  }
  /// The first one that has its blocks already, or null.
  record* pop_acquired() {
    const std::lock_guard guard(m_lock);
    return m_acquired.empty() ? nullptr : take_front(m_acquired);
  }
  bool has_acquired() const {
    if (empty()) return false;
    const std::lock_guard guard(m_lock);
    return !m_acquired.empty();
  }
  bool empty() const noexcept { return m_size.load(std::memory_order_acquire) == 0; }
  /// Whether pop(age) would find one.
  bool has(std::uint64_t age) const {
    if (empty()) return false;
    const std::lock_guard guard(m_lock);
    const auto older = [&](const record* t) { return t->sequence < age; };
    return std::ranges::any_of(m_others, older) || std::ranges::any_of(m_acquired, older);
  }
  std::size_t size() const noexcept { return m_size.load(std::memory_order_acquire); }
  /// Calls visitor(task) for all of them, in no order; nothing comes or goes meanwhile.
  template <class Visitor>
  void visit(Visitor&& visitor) {
    const std::lock_guard guard(m_lock);
    for (record* t : m_acquired) visitor(*t);
    for (record* t : m_others) visitor(*t);
  }

 private:
  using heap = std::vector<record*>;
  static bool later(const record* a, const record* b) noexcept {
    return a->priority != b->priority ? a->priority < b->priority : a->sequence > b->sequence;
  }
  void note_size() noexcept { m_size.store(m_others.size() + m_acquired.size(), std::memory_order_release); }
  record* take_front(heap& from) noexcept {
    std::ranges::pop_heap(from, later);
    record* const first = from.back();
    from.pop_back();
    note_size();
    return first;
  }
  record* take_oldest(std::uint64_t age) noexcept {
    record* oldest = nullptr;
    heap* from = nullptr;
    for (heap* one : {&m_others, &m_acquired})
      for (record* t : *one)
        if (t->sequence < age && (oldest == nullptr || t->sequence < oldest->sequence)) oldest = t, from = one;
    if (oldest == nullptr) return nullptr;
    *std::ranges::find(*from, oldest) = from->back();
    from->pop_back();
    std::ranges::make_heap(*from, later);
    note_size();
    return oldest;
  }
  mutable spin_lock m_lock;
  heap m_acquired, m_others;
  std::atomic<std::size_t> m_size{0};
};

/// Tasks that found a ring full: first in, first out, moved in batches. Thread-safe.
class spill_queue {
 public:
  void push(record& t) noexcept {
    t.next = nullptr;
    const std::lock_guard guard(m_lock);
    if (m_last == nullptr)
      m_first = &t;
    else
      m_last->next = &t;
    m_last = &t;
    m_size.store(m_size.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  /// Up to `most` of the oldest; at least half stays when `share` is set. Returns how many.
  std::uint32_t pop(record** out, std::uint32_t most, bool share = false) noexcept {
    if (empty()) return 0;
    const std::lock_guard guard(m_lock);
    const std::size_t there = m_size.load(std::memory_order_relaxed);
    const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(most, share ? (there + 1) / 2 : there));
    for (std::uint32_t k = 0; k < count; ++k) {
      out[k] = m_first;
      m_first = m_first->next;
    }
    if (m_first == nullptr) m_last = nullptr;
    m_size.store(there - count, std::memory_order_release);
    return count;
  }
  record* pop() noexcept {
    record* one = nullptr;
    return pop(&one, 1) == 1 ? one : nullptr;
  }
  bool empty() const noexcept { return m_size.load(std::memory_order_acquire) == 0; }

 private:
  spin_lock m_lock;
  record *m_first = nullptr, *m_last = nullptr;
  std::atomic<std::size_t> m_size{0};
};

}  // namespace tessera::task
