#include "core/schedule/worker_queues.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tessera::schedule {

void worker_queues::add_core(location::node_id location, std::uint32_t place) {
  if (queue_at(location) != nullptr) return;
  m_cores.push_back(std::make_unique<core_queue>(location, place));
  if (m_by_location.size() <= location) m_by_location.resize(location + std::size_t{1}, nullptr);
  m_by_location[location] = m_cores.back().get();
}

void worker_queues::leave_next(thread_context& mine) noexcept {
  if (task::record* const t = std::exchange(mine.next_task, nullptr);
      t != nullptr && (!mine.spilled.empty() || !mine.ready.push(*t)))
    mine.spilled.push(*t);
}

// Of what next_task looks at before it looks at others' queues; and of the tasks of low priority.
bool worker_queues::nothing_for(const thread_context& mine) const noexcept {
  const placement::place& home = place(mine.place);
  const core_queue* const asked = core_of(mine);
  if (asked != nullptr && !asked->tasks.empty()) return false;
  return home.high_priority.empty() && mine.next_task == nullptr && mine.ready.size() == 0 && mine.spilled.empty() &&
         home.mailbox.empty() && home.low_priority.empty();
}

bool worker_queues::any() const noexcept {
  for (const auto& e : *m_setup.places)
    if (e->is_host && (!e->high_priority.empty() || !e->mailbox.empty() || !e->low_priority.empty())) return true;
  for (const auto& core : m_cores)
    if (!core->tasks.empty()) return true;
  for (std::uint32_t k = 0, count = m_setup.threads->size(); k < count; ++k) {
    const thread_context& one = (*m_setup.threads)[k];
    if (one.ready.size() != 0 || !one.spilled.empty()) return true;
  }
  return false;
}

bool worker_queues::any_at_core() const noexcept {
  return std::ranges::any_of(m_cores, [](const auto& core) { return !core->tasks.empty(); });
}

task::record* worker_queues::next_task(thread_context& mine, reach far) {
  placement::place& home = place(mine.place);
  if ((++mine.ticks & 63) == 0)  // so that a long chain of successors starves no other task
  {
    if (task::record* t = home.mailbox.pop()) return t;
    if (core_queue* const own = core_of(mine); own != nullptr)
      if (task::record* t = own->tasks.pop()) return t;
  }
  if (!home.high_priority.empty())
    if (task::record* t = home.high_priority.pop()) return t;
  if (task::record* t = mine.next_task) {
    mine.next_task = nullptr;
    return t;
  }
  core_queue* const asked = core_of(mine);
  if (asked != nullptr) {
    if (!asked->attended.load(std::memory_order_relaxed)) asked->attended.store(true, std::memory_order_relaxed);
    if (!asked->tasks.empty())
      if (task::record* t = asked->tasks.pop()) return t;
  }
  if (task::record* t = mine.ready.pop()) return t;
  std::array<task::record*, ready_ring::capacity / 2> loot;
  const auto keep_rest = [&](std::uint32_t count) {
    for (std::uint32_t k = 1; k < count; ++k)
      if (!mine.ready.push(*loot[k])) mine.spilled.push(*loot[k]);
    return loot[0];
  };
  if (const std::uint32_t count = mine.spilled.pop(loot.data(), loot.size())) return keep_rest(count);
  if (task::record* t = home.mailbox.pop()) return t;
  if (mine.steal_order_size != m_setup.threads->size()) refresh_victims(mine);
  for (const std::uint16_t v : mine.steal_order) {
    thread_context& victim = (*m_setup.threads)[v];
    std::uint32_t count = victim.ready.steal(loot.data(), 32);
    if (count == 0) count = victim.spilled.pop(loot.data(), loot.size(), true);
    if (count == 0) continue;
    mine.steals.store(mine.steals.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
    return keep_rest(count);
  }
  for (const auto& core : m_cores) {  // its thread is busy, asleep or in the program
    if (far == reach::own_core && core->attended.load(std::memory_order_relaxed)) continue;
    if (task::record* t = core->tasks.pop()) {
      core->attended.store(false, std::memory_order_relaxed);
      mine.steals.store(mine.steals.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return t;
    }
  }
  for (const auto& other : *m_setup.places) {
    if (!other->is_host || other->number == mine.place) continue;
    if (task::record* t = other->high_priority.pop()) return t;
    if (task::record* t = other->mailbox.pop()) return t;
  }
  if (task::record* t = home.low_priority.pop()) return t;
  for (const auto& other : *m_setup.places)
    if (other->is_host && other->number != mine.place)
      if (task::record* t = other->low_priority.pop()) return t;
  return nullptr;
}

void worker_queues::refresh_victims(thread_context& mine) {
  const std::uint32_t count = m_setup.threads->size();
  mine.steal_order.clear();
  mine.steal_order_size = count;
  std::vector<std::pair<std::size_t, std::uint16_t>> order;
  for (std::uint32_t k = 0; k < count; ++k) {
    const thread_context& other = (*m_setup.threads)[k];
    if (k == mine.number || other.is_driver) continue;
    order.emplace_back(m_setup.tree->distance(mine.location, other.location), static_cast<std::uint16_t>(k));
  }
  std::ranges::stable_sort(order, {}, [](const auto& entry) { return entry.first; });  // nearest first
  for (const auto& entry : order) mine.steal_order.push_back(entry.second);
}

}  // namespace tessera::schedule
