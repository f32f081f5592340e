// The part of the scheduler that knows threads: lanes, their registration and reuse.
#include <fmt/format.h>

#include <algorithm>

#include "core/schedule/scheduler.hpp"

namespace tessera::schedule {

/// Lanes that the current thread has in live schedulers; when the thread ends they become free for other threads.
struct scheduler::thread_registrations {
  struct entry {
    std::uint64_t serial;
    scheduler* of;
    lane* mine;
    std::shared_ptr<lifetime> alive;  ///< of the scheduler
  };
  std::vector<entry> entries;

  /// Null once the thread has ended so far that its thread_local objects are gone; runtimes with static storage end
  /// after that of the main thread.
  static thread_registrations* of_this_thread() {
    static thread_local thread_registrations* known = nullptr;  // both trivial: usable until the thread is no more
    static thread_local bool gone = false;
    if (known == nullptr && !gone) {
      struct owner {
        thread_registrations registrations;
        ~owner() {
          known = nullptr;
          gone = true;
          t_lane = {};
        }
      };
      static thread_local owner mine;
      known = &mine.registrations;
    }
    return known;
  }
  ~thread_registrations() {
    for (const entry& e : entries)
      if (const lifetime::visit here = e.alive->enter()) {
        e.mine->in_use.store(false, std::memory_order_release);
        e.of->m_pool.notice_no_more_room();
      }
  }
  /// Entries of schedulers that are no more.
  void tidy() {
    std::erase_if(entries, [](const entry& e) { return !e.alive->enter(); });
  }
};

constinit thread_local scheduler::lane_cache scheduler::t_lane;

lane& scheduler::register_lane(const placement::place* driven) {
  thread_registrations* const known = thread_registrations::of_this_thread();
  const std::thread::id self = std::this_thread::get_id();
  if (known != nullptr) {
    for (const auto& e : known->entries)
      if (e.serial == m_serial) {
        t_lane = {m_serial, e.mine};
        return *e.mine;
      }
    known->tidy();
  }
  const std::lock_guard guard(m_lanes.mutex);
  lane* mine = nullptr;
  if (known == nullptr)  // what it had before is told by the lanes alone
    for (std::uint32_t k = 0; k < m_lanes.size() && mine == nullptr; ++k)
      if (m_lanes[k].user == self) mine = &m_lanes[k];
  if (mine == nullptr) mine = &make_lane(driven);
  mine->user = known == nullptr ? self : std::thread::id{};
  if (known != nullptr) known->entries.push_back({m_serial, this, mine, m_alive.shared()});
  t_lane = {m_serial, mine};
  attach_this_thread();
  return *mine;
}

void scheduler::attach_this_thread() const {
  for (const auto& s : m_setup.coherence->streams().all()) s->device().attach_this_thread();
}

void scheduler::remember_lane(lane& mine) {
  t_lane = {m_serial, &mine};
  attach_this_thread();
  if (auto* const known = thread_registrations::of_this_thread())
    known->entries.push_back({m_serial, this, &mine, m_alive.shared()});
}

lane& scheduler::make_lane(const placement::place* driven) {
  for (std::uint32_t k = 0; driven == nullptr && k < m_lanes.size(); ++k) {
    lane& old = m_lanes[k];
    bool free = false;
    if (old.is_program && old.in_use.compare_exchange_strong(free, true)) return old;
  }
  std::unique_ptr<lane> fresh = m_lanes.make();
  if (!fresh)
    throw error(error_kind::usage,
                fmt::format("more than {} threads use one runtime at the same time", lane_table::most));
  fresh->is_driver = driven != nullptr;
  fresh->is_program = driven == nullptr;
  fresh->place = driven != nullptr ? driven->number : 0;
  fresh->where = driven != nullptr ? driven->where : m_places.front()->where;
  if (m_setup.recorder != nullptr)
    fresh->events =
        driven != nullptr
            ? &m_setup.recorder->make_buffer("driver of " + driven->name, trace::thread_role::driver, driven->number)
            : &m_setup.recorder->make_buffer(
                  fmt::format("{} {}", fresh->number == 0 ? "worker" : "thread", fresh->number),
                  trace::thread_role::program, 0);
  return m_lanes.publish(std::move(fresh));
}

lane& scheduler::make_worker_lane(std::uint32_t worker, std::uint32_t place, location::node_id where) {
  const std::lock_guard guard(m_lanes.mutex);
  std::unique_ptr<lane> fresh = m_lanes.make();
  if (!fresh)
    throw error(error_kind::configuration, fmt::format("a runtime has at most {} workers", lane_table::most),
                "runtime.workers");
  fresh->place = place;
  fresh->where = where;
  if (m_setup.recorder != nullptr)
    fresh->events = &m_setup.recorder->make_buffer(fmt::format("worker {}", worker), trace::thread_role::worker, place);
  return m_lanes.publish(std::move(fresh));
}

transfer::stream& scheduler::inline_stream(lane& mine) {
  if (!mine.inline_stream)
    mine.inline_stream =
        std::make_unique<transfer::stream>(0, *m_places[mine.is_driver ? 0 : mine.place]->device, TSR_STREAM_INLINE);
  return *mine.inline_stream;
}

}  // namespace tessera::schedule
