// The part of the scheduler that knows threads: lanes, their registration and reuse, the order of stealing.
#include <fmt/format.h>

#include <algorithm>

#include "core/schedule/scheduler.hpp"

namespace tessera::schedule {
namespace {

/// Lanes that the current thread has in live schedulers; when the thread ends they become free for other threads.
struct thread_registrations {
  struct entry {
    std::uint64_t serial;
    lane* mine;
    std::weak_ptr<void> alive;  ///< of the scheduler
  };
  std::vector<entry> entries;
  ~thread_registrations() {
    for (const entry& e : entries)
      if (const auto scheduler_lives = e.alive.lock()) e.mine->in_use.store(false, std::memory_order_release);
  }
};

thread_registrations& registrations() {
  thread_local thread_registrations mine;
  return mine;
}

}  // namespace

thread_local scheduler::lane_cache scheduler::t_lane;

lane& scheduler::register_lane(const executor* driven) {
  auto& known = registrations().entries;
  std::erase_if(known, [](const auto& e) { return e.alive.expired(); });
  for (const auto& e : known)
    if (e.serial == m_serial) {
      t_lane = {m_serial, e.mine};
      return *e.mine;
    }
  const std::lock_guard guard(m_lane_mutex);
  lane* mine = &make_lane(driven);
  known.push_back({m_serial, mine, m_alive});
  t_lane = {m_serial, mine};
  return *mine;
}

lane& scheduler::make_lane(const executor* driven) {
  lane* mine = nullptr;
  for (const auto& old : m_lane_owner) {
    bool free = false;
    if (driven == nullptr && !old->is_driver && old->in_use.compare_exchange_strong(free, true)) {
      mine = old.get();
      break;
    }
  }
  if (mine == nullptr) {
    if (m_lane_owner.size() == max_lanes)
      throw error(error_kind::usage, "more than 256 threads use one runtime at the same time");
    m_lane_owner.push_back(std::make_unique<lane>(static_cast<std::uint16_t>(m_lane_owner.size())));
    mine = m_lane_owner.back().get();
    // All of it before others can see the lane.
    mine->is_driver = driven != nullptr;
    mine->executor = driven != nullptr ? driven->number : 0;
    mine->where = driven != nullptr ? driven->where : m_executors.front()->where;
    mine->finished.resize(max_lanes);
    if (m_setup.recorder != nullptr)
      mine->events = driven != nullptr
                         ? &m_setup.recorder->make_buffer("driver of " + driven->name, trace::thread_role::driver, driven->number)
                         : &m_setup.recorder->make_buffer(fmt::format("{} {}", mine->number == 0 ? "worker" : "thread", mine->number),
                                                          trace::thread_role::program, 0);
    m_lanes[mine->number].store(mine, std::memory_order_release);
    m_lane_count.store(static_cast<std::uint32_t>(m_lane_owner.size()), std::memory_order_release);
  }
  return *mine;
}

void scheduler::refresh_victims(lane& mine) {
  const std::uint32_t count = m_lane_count.load(std::memory_order_acquire);
  mine.victims.clear();
  mine.victims_of = count;
  std::vector<std::pair<std::size_t, std::uint16_t>> order;
  for (std::uint16_t k = 0; k < count; ++k) {
    const lane* other = m_lanes[k].load(std::memory_order_acquire);
    if (k == mine.number || other->is_driver) continue;
    order.emplace_back(m_setup.tree->distance(mine.where, other->where), k);
  }
  std::ranges::stable_sort(order, {}, [](const auto& entry) { return entry.first; });  // nearest first
  for (const auto& entry : order) mine.victims.push_back(entry.second);
}

transfer::stream& scheduler::inline_stream(lane& mine) {
  if (!mine.inline_stream)
    mine.inline_stream = std::make_unique<transfer::stream>(
        0, *m_executors[mine.is_driver ? 0 : mine.executor]->device, TSR_STREAM_INLINE);
  return *mine.inline_stream;
}

}  // namespace tessera::schedule
