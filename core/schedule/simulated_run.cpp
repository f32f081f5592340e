// The part of the scheduler that runs in virtual time: instead of threads that work and sleep, a loop that lets
// everybody do what can be done now, and then goes to the next event.
#include "core/schedule/simulated_run.hpp"

#include <algorithm>

#include "core/schedule/device/driver.hpp"

namespace tessera::schedule {

void scheduler::begin_simulation() {
  simulated_run& run = *m_simulated;
  m_pool.play(run.host_work);
  run.workers.resize(m_workers);  // and never again: events name them
  for (std::uint32_t k = 0; k < m_workers; ++k) {
    run.workers[k].owner = this;
    run.workers[k].mine = &m_threads[k];
  }
  run.idle_workers = m_workers - 1;
  const auto play = [&](device_driver& driver) { run.drivers.push_back({&driver, &driver.play(), 0}); };
  for (const auto& driver : m_drivers)
    if (driver) play(*driver);
  for (const auto& driver : m_store_drivers) play(*driver);
}

void scheduler::end_simulation() noexcept {
  // Tasks are done; what is still being written back ends too, so that nothing is called after the streams are gone.
  virtual_clock& clock = m_setup.simulated->clock;
  do {
    for (simulated_run::driver& d : m_simulated->drivers) {
      m_registry.play(*d.mine);
      d.driver->poll_all();
    }
  } while (clock.advance());
  m_registry.play(*m_simulated->workers.front().mine);
}

void scheduler::try_later(task::record& t) {
  virtual_clock& clock = m_setup.simulated->clock;
  const auto again = [](void* self, std::uint64_t task) {
    auto& s = *static_cast<scheduler*>(self);
    s.m_places[0]->mailbox.push(*reinterpret_cast<task::record*>(task));
    s.m_pool.note_task();
  };
  clock.at(clock.next() == virtual_clock::never ? clock.now() : clock.next(), again, this,
           reinterpret_cast<std::uintptr_t>(&t));
}

void scheduler::execute_virtually(thread_context& mine, task::record& t) {
  virtual_clock& clock = m_setup.simulated->clock;
  const std::shared_ptr<const block::failure> why = call(mine, t, true);
  // What was copied in the worker's own calls to bring the data here counts too.
  const std::uint64_t ns = clock.take_charge() + m_setup.simulated->host_task_ns;
  simulated_run::worker& me = m_simulated->workers[mine.number];
  me.running = &t;
  me.began = clock.now();
  me.ns = std::max<std::uint64_t>(ns, 1);
  me.why = why;
  if (me.idle && mine.number != 0) --m_simulated->idle_workers;
  me.idle = false;
  const auto ended = [](void* self, std::uint64_t) {
    auto& worker = *static_cast<simulated_run::worker*>(self);
    scheduler& s = *worker.owner;
    simulated_run& run = *s.m_simulated;
    s.m_registry.play(*worker.mine);
    task::record& done = *std::exchange(worker.running, nullptr);
    const std::shared_ptr<const block::failure> failed = std::exchange(worker.why, nullptr);
    s.executed(*worker.mine, done, worker.began, worker.ns, failed);
    worker.idle = true;
    run.host_work = true;                  // at least it may look
    if (worker.mine->number == 0) return;  // it looks when it waits
    ++run.idle_workers;
    run.first_idle = std::min<std::uint32_t>(run.first_idle, worker.mine->number);
    while (worker.running == nullptr) {  // before others: the successor that runs next is its own
      task::record* const next = s.m_queues.next_task(*worker.mine);
      if (next == nullptr) break;
      s.run(*worker.mine, *next);
    }
  };
  clock.at(clock.now() + me.ns, ended, &me);
}

bool scheduler::step_places(bool waiting) {
  simulated_run& run = *m_simulated;
  virtual_clock& clock = m_setup.simulated->clock;
  bool any = false;
  for (simulated_run::driver& d : run.drivers) {
    if (d.free_at > clock.now() || !d.driver->take_wake()) continue;
    m_registry.play(*d.mine);
    any = true;
    d.driver->poll_all();
    const std::uint64_t cost = m_setup.simulated->device_task_ns;
    while (const std::size_t started = d.driver->start_next())
      if (cost != 0) {
        d.free_at = clock.now() + cost * started;
        clock.at(
            d.free_at, [](void* driver, std::uint64_t) { static_cast<device_driver*>(driver)->wake(); }, d.driver);
        break;
      }
    (void)clock.take_charge();  // copies between host memories that it made; nobody waits for its thread
    if (m_placer.model() != nullptr && !d.driver->active()) m_placer.note_idle(d.driver->where());
  }
  if (!run.host_work) return any;
  const auto serve = [&](simulated_run::worker& w) {  // false: it finds nothing, so nobody does
    m_registry.play(*w.mine);
    while (w.running == nullptr) {
      task::record* const t = m_queues.next_task(*w.mine);
      if (t == nullptr) return false;
      any = true;
      this->run(*w.mine, *t);
    }
    return true;
  };
  run.host_work = false;
  if (waiting && run.workers[0].running == nullptr && !serve(run.workers[0])) return any;
  for (std::uint32_t& k = run.first_idle; k < m_workers && run.idle_workers > 0; ++k)
    if (run.workers[k].idle && !serve(run.workers[k])) {
      if (m_placer.model() != nullptr) m_placer.note_idle(*m_places[run.workers[k].mine->place]);
      break;
    }
  return any;
}

void scheduler::simulate(thread_context& mine, const predicate& enough) {
  simulated_run& run = *m_simulated;
  virtual_clock& clock = m_setup.simulated->clock;
  if (run.stuck) return;
  if (&mine != run.workers.front().mine || run.stepping)
    throw error(error_kind::usage, "a simulated run is for one thread, which neither submits nor waits inside a task");
  run.stepping = true;
  run.host_work = true;
  // Asking means adding up all threads: on large machines not at every event.
  const std::uint32_t look_every = m_window.tasks() < 1024 ? 1 : std::max<std::uint32_t>(m_threads.size() / 4, 1);
  std::uint32_t events = 0;
  for (;;) {
    while (step_places(true)) {
    }
    if (run.workers.front().running == nullptr &&
        (++events % look_every == 0 || clock.next() == virtual_clock::never) && enough())
      break;
    if (clock.advance()) continue;
    m_registry.play(mine);
    if (resolve_memory_deadlock(mine)) continue;
    run.stepping = false;
    run.stuck = true;
    throw error(error_kind::internal, "the simulated run stands still: tasks are open and nothing is due", {},
                "please report this");
  }
  run.stepping = false;
  m_registry.play(mine);
}

void scheduler::simulate_submission(thread_context& mine) {
  simulated_run& run = *m_simulated;
  const std::uint64_t cost = m_setup.simulated->submit_ns;
  if (cost == 0 || run.stepping || &mine != run.workers.front().mine) return;
  virtual_clock& clock = m_setup.simulated->clock;
  const std::uint64_t until = clock.now() + cost;
  run.stepping = true;
  do {
    while (step_places(false)) {
    }
  } while (clock.advance(until));
  clock.pass_to(until);
  run.stepping = false;
  m_registry.play(mine);
}

}  // namespace tessera::schedule
