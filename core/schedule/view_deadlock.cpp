#include "core/schedule/view_deadlock.hpp"

#include <thread>
#include <vector>

namespace tessera::schedule {

view_deadlock::view_deadlock(setup with)
    : m_setup(with), m_patience(with.patience, [pool = with.pool] { pool->wake_all(); }) {}

bool view_deadlock::wait(thread_context& thread, const program_owner::predicate& enough, std::uint32_t look_every) {
  thread.wait_is_hopeless.store(false, std::memory_order_relaxed);
  const bool asks = thread.held_views.load(std::memory_order_relaxed) != 0 || !thread.in_program();
  thread.asks.store(asks, std::memory_order_release);
  if (asks) m_setup.pool->begin_asking();
  m_setup.owner->run_tasks_until(
      thread, [&] { return enough() || thread.wait_is_hopeless.load(std::memory_order_acquire); }, look_every);
  if (asks) m_setup.pool->end_asking();
  thread.asks.store(false, std::memory_order_release);
  return !thread.wait_is_hopeless.load(std::memory_order_acquire) || enough();
}

bool view_deadlock::resolve() {
  if (m_setup.simulated) return false;
  const thread_table& threads = *m_setup.threads;
  const auto asking = [&] {
    std::vector<thread_context*> found;
    for (std::uint32_t k = 0, count = threads.size(); k < count; ++k)
      if (thread_context& one = threads[k]; one.asks.load(std::memory_order_acquire)) found.push_back(&one);
    return found;
  };
  // Work that ends just now is seen by none of these counts for a moment. No event tells that nothing will happen any
  // more, so the looks are spread over some time; this thread is the last one awake and delays nobody's work.
  using rest = memory_deadlock::rest;
  const auto rests = [&] {
    const rest now = m_setup.queues->any() ? rest::no : m_setup.memory->at_rest();
    // A thread that holds no views and does not wait, which may sit in a join, could only do something new.
    return now == rest::all || (now == rest::program && m_patience.over([&] { return threads.submitted(); }));
  };
  constexpr int looks = 20;
  for (int k = 0; k < looks; ++k) {
    if (asking().empty() || !rests()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const std::vector<thread_context*> all = asking();  // one of them: its views may be what the others wait for
  if (all.empty() || !rests()) return false;
  all.front()->wait_is_hopeless.store(true, std::memory_order_release);
  m_setup.pool->wake_waiters();
  return true;
}

}  // namespace tessera::schedule
