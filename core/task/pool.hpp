#pragma once
// Records of one submitter: taken by its thread, given back by the threads that finished them.
#include <memory>
#include <vector>

#include "core/base/atomic.hpp"
#include "core/base/prefetch.hpp"
#include "core/task/flow.hpp"

namespace tessera::task {

/// Taking allocates only when more tasks are alive than ever before. Records are freed with the pool, which must
/// outlive every reference to them (flow records of the runtime's blocks).
class pool {
 public:
  explicit pool(std::uint16_t owner) : m_owner(owner) {}
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  /// By the owning thread only: a renewed record.
  record& take() {
    if (m_free == nullptr) refill();
    record& t = *m_free;
    m_free = t.next;
    if (m_free != nullptr) prefetch(*m_free);
    renew(t);
    return t;
  }

  /// By the owning thread only: the next one that it takes, as it is in the cache.
  void give_back(record& t) noexcept {
    t.next = m_free;
    m_free = &t;
  }
  /// By any thread: gives back a chain of records linked by `next`, `first` to `last`.
  void give_back(record& first, record& last) noexcept {
    record* head = m_returned.load(std::memory_order_relaxed);
    do last.next = head;
    while (!m_returned.compare_exchange_weak(head, &first, std::memory_order_release, std::memory_order_relaxed));
  }

 private:
  static constexpr std::size_t chunk_records = 256;

  /// The next record comes from the core that ran its task: what filling it touches.
  static void prefetch(const record& t) noexcept {
    prefetch_for_write(&t);
    prefetch_for_write(&t.accesses);
    prefetch_for_write(&t.more);
    prefetch_for_write(&t.edges);
  }

  void refill() {
    m_free = m_returned.exchange(nullptr, std::memory_order_acquire);
    if (m_free != nullptr) return;
    m_chunks.push_back(std::make_unique<record[]>(chunk_records));
    record* const records = m_chunks.back().get();
    for (std::size_t k = 0; k < chunk_records; ++k) {
      records[k].owner = m_owner;
      records[k].next = k + 1 < chunk_records ? &records[k + 1] : nullptr;
    }
    m_free = records;
  }

  std::uint16_t m_owner;
  record* m_free = nullptr;
  std::vector<std::unique_ptr<record[]>> m_chunks;
  alignas(64) atomic<record*> m_returned{nullptr};
};

}  // namespace tessera::task
