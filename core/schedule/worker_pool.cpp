#include "core/schedule/worker_pool.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace tessera::schedule {

void worker_pool::prepare(std::vector<std::vector<std::uint32_t>> cpus, bool bind) {
  m_workers = static_cast<std::uint32_t>(cpus.size());
  // Looks are rare beside the tasks of a window, and each worker counts its own.
  m_look_every = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(std::bit_floor(m_setup.window_tasks / (16 * m_workers)), 1, 64));
  m_look_mask.store(m_look_every - 1, std::memory_order_relaxed);
  m_binding = std::make_unique<binding>(std::move(cpus), bind);
}

void worker_pool::start(const std::function<void(std::uint32_t)>& body) {
  for (std::uint32_t k = 1; k < m_workers; ++k) {
    m_busy.fetch_add(1);  // before it has begun
    m_threads.emplace_back(body, k);
    m_binding->bind(m_threads.back(), k);
  }
  m_binding->place_this_thread();
}

void worker_pool::stop() noexcept {
  m_stop.store(true);
  wake_all();
  for (std::thread& t : m_threads) t.join();
  m_threads.clear();
}

void worker_pool::leave_place(thread_context& thread, const waiter_list::waiter* leaving) noexcept {
  // What it would have run next is for others to take; and a wake-up that it had, or that nobody sent because it was
  // awake, is passed on.
  m_setup.queues->leave_next(thread);
  const bool last = m_busy.fetch_sub(1, std::memory_order_seq_cst) == 1;
  m_helper.store(false, std::memory_order_seq_cst);
  m_gathering.look_again();
  wake_waiters();  // what it has done may be enough for others too
  m_waiters.offer_place(leaving);
  if (m_work.someone_sleeps() && m_spinning.load(std::memory_order_relaxed) == 0 &&
      (m_setup.queues->any() || (last && memory_awaited())))
    m_work.notify_one();
}

task::record* worker_pool::watch_kept(thread_context& thread, const predicate& enough) {
  if (!m_setup.queues->any_kept() || m_watched.exchange(true, std::memory_order_acquire)) return nullptr;
  task::record* found = nullptr;
  for (unsigned without = 0; found == nullptr && without < naps_without && !enough() && !m_gathering.wants_workers();) {
    m_napping.store(true, std::memory_order_relaxed);
    full_fence();  // who queues a task from now on ends the nap; what was queued before is found here
    worker_queues::note_nap(thread);
    found = m_setup.queues->next_task(thread);
    if (found == nullptr) {
      std::unique_lock lock(m_nap_mutex);
      if (m_napping.load(std::memory_order_relaxed)) m_nap_ended.wait_for(lock, nap);
      without = m_setup.queues->any_kept() ? 0 : without + 1;
    }
    m_napping.store(false, std::memory_order_relaxed);
  }
  m_watched.store(false, std::memory_order_release);
  full_fence();  // who goes to sleep from now on sees it, or is seen to sleep by this thread
  return found;
}

void worker_pool::ask_for_workers(bool wanted) noexcept {
  m_look_mask.store(wanted ? 0 : m_look_every - 1, std::memory_order_relaxed);
  if (wanted) wake_all();
}

void worker_pool::end_nap() noexcept {
  {
    const std::lock_guard guard(m_nap_mutex);
    m_napping.store(false, std::memory_order_relaxed);
  }
  m_nap_ended.notify_one();
}

bool worker_pool::memory_awaited() const noexcept {
  for (std::size_t k = 0; k < m_setup.coherence->space_count(); ++k)
    if (m_setup.coherence->space_at(static_cast<memory::space_number>(k)).waiters().any()) return true;
  return false;
}

}  // namespace tessera::schedule
