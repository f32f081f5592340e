#include "core/schedule/simulated_run.hpp"

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"

namespace tessera::schedule {

simulated_run::simulated_run(setup with, std::uint32_t workers)
    : m_setup(std::move(with)), m_workers(workers), m_idle_workers(workers - 1) {
  m_setup.pool->play(m_host_work);
  for (std::uint32_t k = 0; k < workers; ++k) {
    m_workers[k].run = this;
    m_workers[k].thread = &(*m_setup.threads)[k];
  }
  m_setup.drivers->for_each([&](device_driver& one) { m_drivers.push_back({&one, &one.play(), 0}); });
}

void simulated_run::end() noexcept {
  do {
    for (const played_driver& d : m_drivers) {
      m_setup.registry->play(*d.thread);
      d.driver->poll_all();
    }
  } while (clock().advance());
  m_setup.registry->play(*m_workers.front().thread);
}

void simulated_run::try_later(task::record& t) {
  const auto queue_again = [](void* self, std::uint64_t task) {
    const setup& with = static_cast<simulated_run*>(self)->m_setup;
    with.places->front()->mailbox.push(*reinterpret_cast<task::record*>(task));
    with.pool->note_task();
  };
  clock().at(clock().next() == virtual_clock::never ? clock().now() : clock().next(), queue_again, this,
             reinterpret_cast<std::uintptr_t>(&t));
}

void simulated_run::occupy(thread_context& thread, task::record& t, std::shared_ptr<const block::failure> why) {
  // What was copied in the worker's own calls to bring the data here counts too.
  const std::uint64_t ns = clock().take_charge() + m_setup.model->host_task_ns;
  played_worker& me = m_workers[thread.number];
  me.running = &t;
  me.began = clock().now();
  me.ns = std::max<std::uint64_t>(ns, 1);
  me.why = std::move(why);
  if (me.idle && thread.number != 0) --m_idle_workers;
  me.idle = false;
  const auto ended = [](void* worker, std::uint64_t) {
    played_worker& w = *static_cast<played_worker*>(worker);
    w.run->end_task(w);
  };
  clock().at(clock().now() + me.ns, ended, &me);
}

void simulated_run::end_task(played_worker& w) {
  m_setup.registry->play(*w.thread);
  task::record& done = *std::exchange(w.running, nullptr);
  const std::shared_ptr<const block::failure> failed = std::exchange(w.why, nullptr);
  m_setup.ended(*w.thread, done, w.began, w.ns, failed);
  w.idle = true;
  m_host_work = true;                 // at least it may look
  if (w.thread->number == 0) return;  // it looks when it waits
  ++m_idle_workers;
  m_first_idle = std::min<std::uint32_t>(m_first_idle, w.thread->number);
  while (w.running == nullptr) {  // before others: the successor that runs next is its own
    task::record* const next = m_setup.queues->next_task(*w.thread);
    if (next == nullptr) break;
    m_setup.run(*w.thread, *next);
  }
}

bool simulated_run::step_drivers() {
  bool any = false;
  for (played_driver& d : m_drivers) {
    if (d.free_at > clock().now() || !d.driver->take_wake()) continue;
    m_setup.registry->play(*d.thread);
    any = true;
    d.driver->poll_all();
    const std::uint64_t cost = m_setup.model->device_task_ns;
    while (const std::size_t started = d.driver->start_next())
      if (cost != 0) {
        d.free_at = clock().now() + cost * started;
        clock().at(
            d.free_at, [](void* driver, std::uint64_t) { static_cast<device_driver*>(driver)->wake(); }, d.driver);
        break;
      }
    (void)clock().take_charge();  // copies between host memories that it made; nobody waits for its thread
    if (m_setup.placer->model() != nullptr && !d.driver->active()) m_setup.placer->note_idle(d.driver->where());
  }
  return any;
}

bool simulated_run::serve(played_worker& w, bool& any) {
  m_setup.registry->play(*w.thread);
  while (w.running == nullptr) {
    task::record* const t = m_setup.queues->next_task(*w.thread);
    if (t == nullptr) return false;
    any = true;
    m_setup.run(*w.thread, *t);
  }
  return true;
}

bool simulated_run::step_places(bool waiting) {
  bool any = step_drivers();
  if (!std::exchange(m_host_work, false)) return any;
  if (waiting && m_workers[0].running == nullptr && !serve(m_workers[0], any)) return any;
  for (std::uint32_t& k = m_first_idle; k < m_workers.size() && m_idle_workers > 0; ++k)
    if (m_workers[k].idle && !serve(m_workers[k], any)) {
      if (m_setup.placer->model() != nullptr) m_setup.placer->note_idle(*(*m_setup.places)[m_workers[k].thread->place]);
      break;
    }
  return any;
}

void simulated_run::run_tasks_until(thread_context& thread, const predicate& enough) {
  if (m_stuck) return;
  if (&thread != m_workers.front().thread || m_stepping)
    throw error(error_kind::usage, "a simulated run is for one thread, which neither submits nor waits inside a task");
  m_stepping = true;
  m_host_work = true;
  // Asking means adding up all threads: on large machines not at every event.
  const std::uint32_t look_every =
      m_setup.window->tasks() < 1024 ? 1 : std::max<std::uint32_t>(m_setup.threads->size() / 4, 1);
  std::uint32_t events = 0;
  for (;;) {
    while (step_places(true)) {
    }
    if (m_workers.front().running == nullptr &&
        (++events % look_every == 0 || clock().next() == virtual_clock::never) && enough())
      break;
    if (clock().advance()) continue;
    m_setup.registry->play(thread);
    if (m_setup.resolve_memory_deadlock(thread)) continue;
    m_stepping = false;
    m_stuck = true;
    throw error(error_kind::internal, "the simulated run stands still: tasks are open and nothing is due", {},
                "please report this");
  }
  m_stepping = false;
  m_setup.registry->play(thread);
}

void simulated_run::note_submission(thread_context& thread) {
  const std::uint64_t cost = m_setup.model->submit_ns;
  if (cost == 0 || m_stepping || &thread != m_workers.front().thread) return;
  const std::uint64_t until = clock().now() + cost;
  m_stepping = true;
  do {
    while (step_places(false)) {
    }
  } while (clock().advance(until));
  clock().pass_to(until);
  m_stepping = false;
  m_setup.registry->play(thread);
}

}  // namespace tessera::schedule
