#pragma once
// The compute streams of a device, and what is on them.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/transfer/stream.hpp"

namespace tessera::schedule {

/// Deals tasks to streams, and counts those that are enqueued. Dealing is for one thread, the rest for any.
class compute_streams {
 public:
  /// @param in_turn  strictly, whatever is on them
  compute_streams(std::vector<transfer::stream*> streams, bool in_turn)
      : m_all(std::move(streams)),
        m_in_turn(in_turn),
        m_tasks(std::make_unique<std::atomic<std::size_t>[]>(m_all.size())) {}

  const std::vector<transfer::stream*>& all() const noexcept { return m_all; }
  std::size_t count() const noexcept { return m_all.size(); }
  transfer::stream& operator[](std::size_t k) const noexcept { return *m_all[k]; }
  /// Whether a stream of the run is one of them.
  bool has(std::uint32_t number) const noexcept {
    return std::ranges::any_of(m_all, [&](const transfer::stream* s) { return s->number() == number; });
  }
  bool busy() const noexcept { return std::ranges::any_of(m_all, &transfer::stream::busy); }
  bool must_be_asked() const noexcept { return std::ranges::any_of(m_all, &transfer::stream::must_be_asked); }
  /// Whether anything was reached.
  bool poll() const {
    bool any = false;
    for (transfer::stream* const s : m_all) any = s->poll() || any;
    return any;
  }

  /// The one with the fewest tasks, in turn among equals: tasks differ in length.
  std::size_t next() noexcept {
    const std::size_t first = m_next++ % m_all.size();
    std::size_t best = first;
    for (std::size_t k = 1; !m_in_turn && k < m_all.size(); ++k)
      if (const std::size_t other = (first + k) % m_all.size(); tasks_on(other) < tasks_on(best)) best = other;
    return best;
  }
  void begin(std::size_t stream, std::size_t tasks) noexcept {
    m_tasks[stream].fetch_add(tasks, std::memory_order_relaxed);
  }
  void end(std::size_t stream, std::size_t tasks) noexcept {
    m_tasks[stream].fetch_sub(tasks, std::memory_order_relaxed);
  }
  std::size_t tasks_on(std::size_t stream) const noexcept { return m_tasks[stream].load(std::memory_order_relaxed); }

 private:
  const std::vector<transfer::stream*> m_all;
  const bool m_in_turn;
  std::size_t m_next = 0;
  std::unique_ptr<std::atomic<std::size_t>[]> m_tasks;  // enqueued, by stream
};

}  // namespace tessera::schedule
