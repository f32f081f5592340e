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

/// Tasks ordered by priority, then by submission. Thread-safe.
class priority_queue {
 public:
  void push(record& t) {
    const std::lock_guard guard(m_lock);
    m_heap.push_back(&t);
    std::ranges::push_heap(m_heap, later);
    m_size.store(m_heap.size(), std::memory_order_release);
  }
  /// The first one. With an `age`: if that was submitted later, the oldest of all that was submitted before; null if
  /// there is none.
  record* pop(std::uint64_t age = ~std::uint64_t{0}) {
    if (empty()) return nullptr;
    const std::lock_guard guard(m_lock);
    if (m_heap.empty()) return nullptr;
    if (m_heap.front()->sequence >= age) {
      const auto oldest = std::ranges::min_element(m_heap, {}, &record::sequence);
      if ((*oldest)->sequence >= age) return nullptr;
      record* const found = *oldest;
      *oldest = m_heap.back();
      m_heap.pop_back();
      std::ranges::make_heap(m_heap, later);
      m_size.store(m_heap.size(), std::memory_order_release);
      return found;
    }
    std::ranges::pop_heap(m_heap, later);
    record* const first = m_heap.back();
    m_heap.pop_back();
    m_size.store(m_heap.size(), std::memory_order_release);
    return first;
  }
  /// The first one that has its blocks already, or null. Looks at all.
  record* pop_acquired() {
    const std::lock_guard guard(m_lock);
    auto first = m_heap.end();
    for (auto at = m_heap.begin(); at != m_heap.end(); ++at)
      if (((*at)->flags & flag_acquired) != 0 && (first == m_heap.end() || later(*first, *at))) first = at;
    if (first == m_heap.end()) return nullptr;
    record* const found = *first;
    *first = m_heap.back();
    m_heap.pop_back();
    std::ranges::make_heap(m_heap, later);
    m_size.store(m_heap.size(), std::memory_order_release);
    return found;
  }
  bool has_acquired() const {
    if (empty()) return false;
    const std::lock_guard guard(m_lock);
    return std::ranges::any_of(m_heap, [](const record* t) { return (t->flags & flag_acquired) != 0; });
  }
  bool empty() const noexcept { return m_size.load(std::memory_order_acquire) == 0; }
  /// Whether pop(age) would find one.
  bool has(std::uint64_t age) const {
    if (empty()) return false;
    const std::lock_guard guard(m_lock);
    return std::ranges::any_of(m_heap, [&](const record* t) { return t->sequence < age; });
  }
  std::size_t size() const noexcept { return m_size.load(std::memory_order_acquire); }
  /// Calls visitor(task) for all of them, in no order; nothing comes or goes meanwhile.
  template <class Visitor>
  void visit(Visitor&& visitor) {
    const std::lock_guard guard(m_lock);
    for (record* t : m_heap) visitor(*t);
  }

 private:
  static bool later(const record* a, const record* b) noexcept {
    return a->priority != b->priority ? a->priority < b->priority : a->sequence > b->sequence;
  }
  mutable spin_lock m_lock;
  std::vector<record*> m_heap;
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
