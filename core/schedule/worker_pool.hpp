#pragma once
// The threads of the host that run tasks, and how all threads wait.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/fence.hpp"
#include "core/placement/placer.hpp"
#include "core/schedule/binding.hpp"
#include "core/schedule/event_count.hpp"
#include "core/schedule/gathering.hpp"
#include "core/schedule/thread_context.hpp"
#include "core/schedule/waiter_list.hpp"
#include "core/schedule/worker_queues.hpp"
#include "core/transfer/coherence.hpp"

namespace tessera::schedule {

/// Workers find tasks in the queues, spin and sleep. Worker 0 is no thread of its own, but one of those that wait in
/// run_tasks_until; the others of these sleep in the waiting room. Any thread.
///
/// Functions that run tasks take whoever runs them, a `Host` with
///   void run(thread_context&, task::record&);             // runs a task that was found
///   void run_gathered(thread_context&, task::record&);    // the same where the cores that it wants are reserved
///   bool resolve_deadlock(thread_context&);               // no worker is awake: whether a task was released or given
///   up
class worker_pool {
 public:
  using predicate = waiter_list::predicate;

  /// What it works with; all outlive it.
  struct setup {
    worker_queues* queues = nullptr;
    placement::placer* placer = nullptr;                                     ///< hears of places without work
    const std::vector<std::unique_ptr<placement::place>>* places = nullptr;  ///< filled before the first task
    const transfer::coherence* coherence = nullptr;                          ///< knows who waits for memory
    std::chrono::nanoseconds spin{0};                                        ///< before a thread sleeps
    std::uint64_t window_tasks = 1;                                          ///< open tasks at most
  };
  explicit worker_pool(setup with) noexcept : m_setup(with) {}

  /// Once, before all else. `cpus`: see binding.
  void prepare(std::vector<std::vector<std::uint32_t>> cpus, bool bind);
  /// Starts the threads of workers 1 and up, which call body(number) and end with it. Throws std::system_error when
  /// the system refuses one; those before it run then.
  void start(const std::function<void(std::uint32_t)>& body);
  /// No thread in worker_loop goes on; waits for those of the workers.
  void stop() noexcept;
  bool stopped() const noexcept { return m_stop.load(std::memory_order_relaxed); }
  std::size_t threads() const noexcept { return m_threads.size(); }  ///< that were started and not stopped
  const binding& cpus() const noexcept { return *m_binding; }
  /// Instead of start, in a run in virtual time: `host_work` is set when a task is queued.
  void play(bool& host_work) noexcept { m_played_work = &host_work; }
  /// Worker 0 moves off the CPUs of the others, by the thread that is to be it.
  void place_this_thread() const noexcept { m_binding->place_this_thread(); }
  /// Tasks after which a thread looks whether somebody has waited long enough; a power of two.
  std::uint32_t look_every() const noexcept { return m_look_every; }

  /// By a worker: runs tasks until enough(). `look_every`: looks after so many tasks whether it is enough, and 0 only
  /// when there are none to run.
  template <class Host>
  void worker_loop(Host&& host, thread_context& thread, const predicate& enough, std::uint32_t look_every);
  /// By any thread: waits until enough(), and works meanwhile where it may.
  template <class Host>
  void run_tasks_until(Host&& host, thread_context& thread, const predicate& enough, std::uint32_t look_every);
  /// By a thread of the program: runs one task that is ready, if there is one and the thread may.
  template <class Host>
  void run_one_task(Host&& host, thread_context& thread);

  /// A task was queued: somebody awake will find it, or is woken.
  void note_task() noexcept {
    if (m_played_work != nullptr) {
      *m_played_work = true;
      return;
    }
    // Somebody who spins will find it.
    full_fence();
    if (m_spinning.load(std::memory_order_relaxed) == 0) {
      if (m_work.has_sleepers()) m_work.notify_one();
    } else if (m_napping.load(std::memory_order_relaxed)) {
      end_nap();
    }
  }
  /// A thread keeps a task: somebody awake will look at it from time to time, or is woken.
  void note_kept_task() noexcept {
    full_fence();
    if (m_spinning.load(std::memory_order_relaxed) == 0 && m_work.has_sleepers()) m_work.notify_one();
  }
  /// After something changed that threads of the program wait for: calls those for whom it is enough.
  void wake_waiters() {
    full_fence();  // who began to wait before this sees the change, or is seen here
    if (m_waiters.empty() || !m_waiters.look()) return;
    m_work.notify_all();
    if (m_gathering.wants_workers()) m_gathering.notify();
  }
  /// A task that wants several cores has its blocks: it runs when so many workers have come for it.
  void gather(task::record& t) { m_gathering.add(t); }
  /// After something changed that any worker may have to look at.
  void wake_all() noexcept {
    m_work.notify_all();
    if (m_napping.load(std::memory_order_relaxed)) end_nap();
  }
  /// What could have made room in a memory, or brought about what a thread with views asks for, has ended: if somebody
  /// waits so, a worker looks again.
  void look_for_memory() noexcept {
    if (m_asking.load(std::memory_order_seq_cst) != 0 || memory_awaited()) m_work.notify_one();
  }
  /// By a thread that will make no room from now on: perhaps nobody will.
  void notice_no_more_room() noexcept {
    // What this thread has said of itself comes before its look at who waits; who begins to wait looks at all threads.
    full_fence();
    look_for_memory();
  }
  bool memory_awaited() const noexcept;  ///< whether a task waits for room in any memory
  /// A thread that holds views asks for another one, or has it or has given it up: what it waits for may wait for it.
  void begin_asking() noexcept { m_asking.fetch_add(1, std::memory_order_seq_cst); }
  void end_asking() noexcept { m_asking.fetch_sub(1, std::memory_order_seq_cst); }

 private:
  /// So often, some ten microseconds, an idle thread looks at tasks that asked for another core before it takes one.
  static constexpr unsigned looks_for_owner = 64;
  /// How long a worker sleeps between two looks at tasks that threads keep, and how often behind the last of them: so
  /// soon there is the next one.
  static constexpr std::chrono::microseconds nap{50};
  static constexpr unsigned naps_without = 20;

  /// By a worker that has nothing else to do, and spins as far as others can see: looks after tasks that threads keep,
  /// and sleeps between looks. Returns what it has found, or null where there has been no such task for a while,
  /// another worker does it already, or enough().
  task::record* watch_kept(thread_context& thread, const predicate& enough);
  void end_nap() noexcept;  ///< of the worker that does so: there is something else

  /// Between two tasks: one of those that tasks wait for who want several cores.
  template <class Host>
  void attend(Host&& host, thread_context& thread, const predicate& enough);
  void ask_for_workers(bool wanted) noexcept;  ///< to come between two tasks
  /// After how many tasks a worker looks around, less one.
  std::uint32_t look_mask() const noexcept { return m_look_mask.load(std::memory_order_relaxed); }

  /// Of worker 0; what this thread has left goes on without it.
  void leave_place(thread_context& thread, const waiter_list::waiter* leaving) noexcept;

  const setup m_setup;
  bool* m_played_work = nullptr;  // null: the run is real
  std::unique_ptr<binding> m_binding;
  std::vector<std::thread> m_threads;
  std::uint32_t m_workers = 1;
  event_count m_work;     // workers that found nothing, and the thread that helps
  waiter_list m_waiters;  // threads of the program that wait
  std::uint32_t m_look_every = 1;
  std::atomic<std::uint32_t> m_look_mask{0};  // m_look_every - 1, or 0 while a task wants several cores
  gathering m_gathering{[this] { return m_workers - (m_helper.load(std::memory_order_seq_cst) ? 0u : 1u); },
                        [this](bool wanted) { ask_for_workers(wanted); }};
  std::atomic<std::uint32_t> m_spinning{0}, m_busy{0};
  std::atomic<std::uint64_t> m_rests{0};  // how often a thread in worker_loop() found nothing and was about to sleep
  std::atomic<bool> m_stop{false}, m_helper{false};
  std::atomic<std::uint32_t> m_asking{0};
  std::atomic<bool> m_watched{false};  // a worker looks after kept tasks
  std::atomic<bool> m_napping{false};  // it sleeps, or is about to
  std::mutex m_nap_mutex;
  std::condition_variable m_nap_ended;
};

template <class Host>
void worker_pool::worker_loop(Host&& host, thread_context& thread, const predicate& enough, std::uint32_t look_every) {
  std::uint32_t ran = 0;
  const thread_context::task_scope on(thread);
  const auto run_one = [&](task::record& t) {
    host.run(thread, t);
    // Both are powers of two: a division would show in the shortest tasks.
    if ((++ran & look_mask()) == 0) {
      if (!m_waiters.empty()) wake_waiters();
      if (m_gathering.wants_workers()) attend(host, thread, enough);
    }
    return look_every != 0 && (ran & (look_every - 1)) == 0 && enough();
  };
  bool woken = false;  // for one task: tasks that came while another thread was spinning have woken nobody
  while (true) {
    if (task::record* t = m_setup.queues->next_task(thread, reach::own_core)) {
      if (std::exchange(woken, false) && m_setup.queues->any()) m_work.notify_one();
      if (run_one(*t)) return;
      continue;
    }
    if (enough()) return;
    wake_waiters();
    if (m_gathering.wants_workers()) {
      attend(host, thread, enough);
      continue;
    }

    // Spin for a while: work usually comes within microseconds.
    m_spinning.fetch_add(1, std::memory_order_seq_cst);
    task::record* found = nullptr;
    bool leave = false;
    const auto until = std::chrono::steady_clock::now() + m_setup.spin;
    unsigned left_alone = 0;
    for (unsigned spins = 0; found == nullptr && !leave; ++spins) {
      for (int k = 0; k < 16; ++k) cpu_relax();
      left_alone = m_setup.queues->any_at_core() ? left_alone + 1 : 0;
      found = m_setup.queues->next_task(thread, left_alone < looks_for_owner ? reach::own_core : reach::any_core);
      if (found == nullptr) leave = enough() || m_gathering.wants_workers();
      if ((spins & 15) == 15 && std::chrono::steady_clock::now() > until) break;
    }
    if (found == nullptr && !leave && !thread.is_program) found = watch_kept(thread, enough);
    const bool last_spinner = m_spinning.fetch_sub(1, std::memory_order_seq_cst) == 1;
    if (found != nullptr) {
      if (last_spinner) m_work.notify_one();  // there may be more of it
      if (run_one(*found)) return;
      continue;
    }
    if (leave) {
      if (enough()) return;
      continue;  // to one of those that are wanted
    }

    const std::uint32_t key = m_work.prepare();
    // A thread of the program is called while it sleeps, and does not look after kept tasks: it takes them.
    found = m_setup.queues->next_task(thread, thread.is_program ? reach::kept_too : reach::any_core);
    if (found != nullptr || enough()) {
      m_work.cancel();
      if (found == nullptr || run_one(*found)) return;
      continue;
    }
    if (m_gathering.wants_workers() || (!m_watched.load(std::memory_order_relaxed) && m_setup.queues->any_kept())) {
      m_work.cancel();
      continue;
    }
    // Who saw that it was enough has cleared it; now it is not, for example when others submit too.
    if (thread.is_program) thread.waits.store(true);
    const std::uint64_t rests = m_rests.fetch_add(1, std::memory_order_seq_cst) + 1;
    if (m_busy.fetch_sub(1, std::memory_order_seq_cst) == 1) {
      m_busy.fetch_add(1, std::memory_order_seq_cst);
      if (host.resolve_deadlock(thread)) {
        m_work.cancel();
        continue;  // what it released, and whoever waited for it
      }
      m_busy.fetch_sub(1, std::memory_order_seq_cst);
      // Another thread has come and gone meanwhile: it was not the last, and what it has changed may have been seen too
      // early.
      if (m_rests.load(std::memory_order_seq_cst) != rests) {
        m_busy.fetch_add(1, std::memory_order_seq_cst);
        m_work.cancel();
        continue;
      }
    }
    if (m_setup.placer->model() != nullptr) m_setup.placer->note_idle(*(*m_setup.places)[thread.place]);
    m_work.wait(key);
    m_busy.fetch_add(1, std::memory_order_seq_cst);
    woken = true;
  }
}

template <class Host>
void worker_pool::run_tasks_until(Host&& host, thread_context& thread, const predicate& enough,
                                  std::uint32_t look_every) {
  waiter_list::waiter me(enough, thread.waits);
  if (thread.works) {  // in a task, where only the end of a recording waits: in the place that the thread has already
    me.helps = true;   // it sleeps among the workers: who sees that it is enough wakes it there
    m_waiters.enter(me);
    worker_loop(host, thread, enough, look_every);
    m_waiters.leave(me);
    return;
  }
  me.may_help = !thread.is_driver;
  m_waiters.enter(me);
  for (;;) {
    const std::uint32_t calls = me.calls.load(std::memory_order_acquire);
    if (enough()) break;
    thread.waits.store(true, std::memory_order_seq_cst);
    bool free = false;
    if (me.may_help && m_helper.compare_exchange_strong(free, true)) {  // the one place of worker 0
      m_waiters.set_helps(me, true);
      m_busy.fetch_add(1, std::memory_order_seq_cst);
      m_binding->place_this_thread();
      m_gathering.look_again();
      worker_loop(host, thread, enough, look_every);
      m_waiters.set_helps(me, false);
      leave_place(thread, &me);
      continue;
    }
    notice_no_more_room();
    waiter_list::sleep(me, calls);
  }
  m_waiters.leave(me);
  thread.waits.store(false, std::memory_order_relaxed);
  // The place may have been offered to this thread, which had waited long enough: then it is the next one's.
  full_fence();
  if (!m_waiters.empty() && !m_helper.load(std::memory_order_relaxed)) m_waiters.offer_place(nullptr);
}

template <class Host>
void worker_pool::attend(Host&& host, thread_context& thread, const predicate& enough) {
  // What it would have run next is for others, who are to know.
  m_setup.queues->leave_next(thread);
  if (m_setup.queues->any()) m_work.notify_one();
  const gathering::team team = m_gathering.attend(thread.is_program ? 0 : thread.number, enough);
  if (team.t == nullptr) return;
  {
    const binding::scoped_spread spread(*m_binding, team.workers);
    host.run_gathered(thread, *team.t);
  }
  m_gathering.done(team);
}

template <class Host>
void worker_pool::run_one_task(Host&& host, thread_context& thread) {
  bool free = false;
  if (thread.is_driver || !m_helper.compare_exchange_strong(free, true)) return;
  m_busy.fetch_add(1, std::memory_order_seq_cst);
  if (task::record* const t = m_setup.queues->next_task(thread)) host.run(thread, *t);
  leave_place(thread, nullptr);
}

}  // namespace tessera::schedule
