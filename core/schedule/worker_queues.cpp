#include "core/schedule/worker_queues.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/prefetch.hpp"

namespace tessera::schedule {

namespace {

/// What running it looks at comes while another task runs; much of it from another core.
void prefetch(const task::record* t) noexcept {
  if (t == nullptr) return;
  prefetch_for_write(t);
  __builtin_prefetch(&t->accesses);
  __builtin_prefetch(&t->arguments);
  __builtin_prefetch(&t->edges);
}

}  // namespace

void worker_queues::add_core(location::node_id location, std::uint32_t place) {
  if (queue_at(location) != nullptr) return;
  m_cores.push_back(std::make_unique<core_queue>(location, place));
  if (m_by_location.size() <= location) m_by_location.resize(location + std::size_t{1}, nullptr);
  m_by_location[location] = m_cores.back().get();
  m_keeps = m_setup.cost != nullptr && m_cores.size() > 1;
}

void worker_queues::leave_next(thread_context& thread) noexcept {
  task::record* const t = std::exchange(thread.next_task, nullptr);
  if (t == nullptr || keep(thread, *t, place(thread.place))) return;
  if (!thread.kept.empty()) share_kept(thread);
  push_own(thread, *t);
}

bool worker_queues::give_back(thread_context& thread, task::record& t) noexcept {
  lone_chain& chain = thread.chain;
  chain.tasks = 0;
  thread_context& from = (*m_setup.threads)[t.owner];
  if (!m_keeps || &from == &thread || !from.is_program || from.place != thread.place || !may_be_kept(t)) return false;
  const std::uint64_t submitted = from.submitted.load(std::memory_order_relaxed);
  const bool goes_on = submitted != std::exchange(chain.submitted, submitted);
  if (!goes_on && !from.waits.load(std::memory_order_relaxed)) return false;
  // Where it comes here again and again, the other thread has not run it: each time later.
  chain.length = goes_on ? lone_chain::first_length : std::min(2 * chain.length, lone_chain::longest);
  return from.kept.put(t);
}

bool worker_queues::any_kept() const noexcept {
  for (std::uint32_t k = 0, count = m_setup.threads->size(); k < count; ++k)
    if (!(*m_setup.threads)[k].kept.empty()) return true;
  return false;
}

// Of other threads, one after the other: from one that has stopped submitting.
task::record* worker_queues::take_kept(thread_context& thread, reach far) noexcept {
  kept_watch& watched = thread.watched;
  if (far != reach::kept_too && watched.rest > 0) {
    --watched.rest;
    return nullptr;
  }
  const std::size_t count = thread.steal_order.size();
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t at = (watched.at + k) % count;
    thread_context& victim = (*m_setup.threads)[thread.steal_order[at]];
    if (victim.kept.empty()) continue;
    if (far == reach::kept_too) {
      if (task::record* const t = victim.kept.take()) return t;
      continue;
    }
    const std::uint64_t submitted = victim.submitted.load(std::memory_order_relaxed);
    if (watched.thread == victim.number && watched.submitted == submitted) {
      watched.at = static_cast<std::uint32_t>(at);
      if (++watched.same < looks_for_pause) return nullptr;
      watched = {.at = watched.at};
      return victim.kept.take();
    }
    const bool goes_on = watched.thread == victim.number;
    watched.thread = victim.number;
    watched.same = 0;
    watched.submitted = submitted;
    watched.at = static_cast<std::uint32_t>(at);
    if (goes_on) {
      watched.next = static_cast<std::uint16_t>(std::min(2 * watched.next + 1, 31));
      watched.rest = watched.next;
      ++watched.at;  // next time another one, if another one keeps a task
    } else {
      watched.next = 0;
    }
    return nullptr;
  }
  return nullptr;
}

// Of what next_task looks at before it looks at others' queues; and of the tasks of low priority.
bool worker_queues::nothing_for(const thread_context& thread) const noexcept {
  const placement::place& home = place(thread.place);
  const core_queue* const asked = core_of(thread);
  if (asked != nullptr && !asked->tasks.empty()) return false;
  return home.high_priority.empty() && thread.next_task == nullptr && thread.kept.empty() && thread.ready.size() == 0 &&
         thread.spilled.empty() && home.mailbox.empty() && home.low_priority.empty();
}

bool worker_queues::any() const noexcept {
  for (const auto& e : *m_setup.places)
    if (e->is_host && (!e->high_priority.empty() || !e->mailbox.empty() || !e->low_priority.empty())) return true;
  for (const auto& core : m_cores)
    if (!core->tasks.empty()) return true;
  for (std::uint32_t k = 0, count = m_setup.threads->size(); k < count; ++k) {
    const thread_context& one = (*m_setup.threads)[k];
    if (one.ready.size() != 0 || !one.spilled.empty() || !one.kept.empty()) return true;
  }
  return false;
}

bool worker_queues::any_at_core() const noexcept {
  return std::ranges::any_of(m_cores, [](const auto& core) { return !core->tasks.empty(); });
}

task::record* worker_queues::next_task(thread_context& thread, reach far) {
  placement::place& home = place(thread.place);
  if ((++thread.ticks & 63) == 0)  // so that a long chain of successors starves no other task
  {
    if (task::record* t = home.mailbox.pop()) return t;
    if (core_queue* const own = core_of(thread); own != nullptr)
      if (task::record* t = own->tasks.pop()) return t;
  }
  if (!home.high_priority.empty())
    if (task::record* t = home.high_priority.pop()) return t;
  if (task::record* t = thread.next_task) {
    thread.next_task = nullptr;
    thread.chain.tasks = thread.ready.size() == 0 ? thread.chain.tasks + 1 : 0;
    return t;
  }
  thread.chain.tasks = 0;
  core_queue* const asked = core_of(thread);
  if (asked != nullptr) {
    if (!asked->attended.load(std::memory_order_relaxed)) asked->attended.store(true, std::memory_order_relaxed);
    if (!asked->tasks.empty())
      if (task::record* t = asked->tasks.pop()) return t;
  }
  if (task::record* t = thread.kept.take()) return t;
  if (task::record* t = thread.ready.pop()) {
    prefetch(thread.ready.peek());
    return t;
  }
  std::array<task::record*, ready_ring::capacity / 2> loot;
  const auto keep_rest = [&](std::uint32_t count) {
    for (std::uint32_t k = 1; k < count; ++k)
      if (!thread.ready.push(*loot[k])) thread.spilled.push(*loot[k]);
    return loot[0];
  };
  if (const std::uint32_t count = thread.spilled.pop(loot.data(), loot.size())) return keep_rest(count);
  if (task::record* t = home.mailbox.pop()) return t;
  if (thread.steal_order_size != m_setup.threads->size()) refresh_victims(thread);
  for (const std::uint16_t v : thread.steal_order) {
    thread_context& victim = (*m_setup.threads)[v];
    std::uint32_t count = victim.ready.steal(loot.data(), 32);
    if (count == 0) count = victim.spilled.pop(loot.data(), loot.size(), true);
    if (count == 0) continue;
    thread.steals.store(thread.steals.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
    if (m_setup.cost != nullptr && (thread.ticks & 7) == 0) m_setup.cost->time_line(loot[0]->sequence);
    return keep_rest(count);
  }
  for (const auto& core : m_cores) {  // its thread is busy, asleep or in the program
    if (far == reach::own_core && core->attended.load(std::memory_order_relaxed)) continue;
    if (task::record* t = core->tasks.pop()) {
      core->attended.store(false, std::memory_order_relaxed);
      thread.steals.store(thread.steals.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return t;
    }
  }
  for (const auto& other : *m_setup.places) {
    if (!other->is_host || other->number == thread.place) continue;
    if (task::record* t = other->high_priority.pop()) return t;
    if (task::record* t = other->mailbox.pop()) return t;
  }
  if (task::record* t = take_kept(thread, far)) {
    thread.steals.store(thread.steals.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return t;
  }
  if (task::record* t = home.low_priority.pop()) return t;
  for (const auto& other : *m_setup.places)
    if (other->is_host && other->number != thread.place)
      if (task::record* t = other->low_priority.pop()) return t;
  return nullptr;
}

void worker_queues::refresh_victims(thread_context& thread) {
  const std::uint32_t count = m_setup.threads->size();
  thread.steal_order.clear();
  thread.steal_order_size = count;
  std::vector<std::pair<std::size_t, std::uint16_t>> order;
  for (std::uint32_t k = 0; k < count; ++k) {
    const thread_context& other = (*m_setup.threads)[k];
    if (k == thread.number || other.is_driver) continue;
    order.emplace_back(m_setup.tree->distance(thread.location, other.location), static_cast<std::uint16_t>(k));
  }
  std::ranges::stable_sort(order, {}, [](const auto& entry) { return entry.first; });  // nearest first
  for (const auto& entry : order) thread.steal_order.push_back(entry.second);
}

}  // namespace tessera::schedule
