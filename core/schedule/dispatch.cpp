// The part of the scheduler that takes a ready task to a queue, and from there to a thread.
#include <fmt/format.h>

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "core/base/fence.hpp"
#include "core/operation/tensor.hpp"
#include "core/schedule/device_driver.hpp"
#include "core/schedule/scheduler.hpp"
#include "core/schedule/simulated_run.hpp"
#include "core/task/replay.hpp"

namespace tessera::schedule {

bool scheduler::offers(const executor& e, task::record& t) const {
  if (t.what == m_graph) return offers_segment(e, t);
  const auto accesses = t.all_accesses();
  const element_type type = accesses.empty() ? element_type::none : accesses[0].block->type;
  if (!t.what->runs_on(*e.device, type, e.is_host)) return false;
  return (t.flags & task::flag_accumulates) == 0 || operation::can_zero(*e.device, type);  // its private copy
}

bool scheduler::obeys_hint(const executor& e, const task::record& t) const {
  const location::tree& tree = *m_setup.tree;
  if (t.hint == location::no_node) return false;
  // A core below a memory is served by the workers of that memory; a device that hangs below it is not.
  return tree.is_ancestor(t.hint, e.where) ||
         std::ranges::any_of(e.cpus, [&](location::node_id cpu) { return tree.is_ancestor(t.hint, cpu); });
}

std::uint64_t scheduler::footprint_in(const executor& e, task::record& t) const {
  const memory::space& space = m_setup.coherence->space_at(e.space);
  std::uint64_t bytes = 0;
  for (const block::access& a : t.all_accesses()) {
    if (a.block->bytes > space.largest()) return ~std::uint64_t{0};
    bytes += space.footprint(a.block->bytes);
  }
  return bytes;
}

bool scheduler::fits(const executor& e, task::record& t, std::uint64_t bytes) const {
  const memory::space& space = m_setup.coherence->space_at(e.space);
  const std::uint64_t limit = space.limit();
  const std::uint64_t most = bytes + t.all_accesses().size() * e.granule;  // each block is rounded up by less than a granule
  return most <= std::min(limit, space.largest()) || footprint_in(e, t) <= limit;
}

std::uint32_t scheduler::distance(location::node_id from, const executor& to) const noexcept {
  const std::size_t at = std::size_t{from} * m_executors.size() + to.number;
  return at < m_distances.size() ? m_distances[at] : 0;
}

std::uint32_t scheduler::choose(lane& mine, task::record& t) {
  if (m_single_executor && t.hint == location::no_node) return 0;
  const auto accesses = t.all_accesses();
  boost::container::small_vector<candidate, 16> candidates;
  const double work = m_history == nullptr && t.what->work != nullptr ? t.what->work(t.argument_bytes(), accesses) : 0;
  history::profile* profile = nullptr;
  const task_size size = m_history != nullptr ? look_up(t, profile) : task_size{};
  std::uint64_t bytes = 0;
  for (const block::access& a : accesses) bytes += a.block->bytes;
  bool any_hinted = false;
  boost::container::small_vector<memory::space_number, 16> spaces;
  std::uint32_t known_kind = ~std::uint32_t{0};  // places of one kind follow each other and take equally long
  double known_seconds = 0;
  const auto learnt_seconds = [&](std::uint32_t kind) {
    if (kind != known_kind) known_seconds = m_history->seconds(profile, known_kind = kind, size.amount);
    return known_seconds;
  };
  const auto gather = [&](executor_state wanted) {
    for (const auto& e : m_executors) {
      if (e->state.load(std::memory_order_relaxed) != wanted || !offers(*e, t) || !fits(*e, t, bytes)) continue;
      spaces.push_back(e->space);
      candidates.push_back({.executor = e->number,
                            .location = e->where,
                            .queue_seconds = m_history != nullptr ? e->wait_seconds() : e->queue_seconds(),
                            .execute_seconds = m_history != nullptr
                                                   ? learnt_seconds(e->kind)
                                                   : work * e->ns_per_flop.load(std::memory_order_relaxed) * 1e-9,
                            .distance = distance(mine.where, *e),
                            .hinted = obeys_hint(*e, t)});
      any_hinted = any_hinted || candidates.back().hinted;
    }
  };
  gather(executor_state::attached);
  // What only a device on its way out can run goes there nevertheless, and keeps it from leaving.
  if (candidates.empty() || (!any_hinted && m_policy == placement_policy::pinned && t.hint != location::no_node))
    gather(executor_state::draining);
  boost::container::small_vector<transfer::transfer_estimate, 16> costs(spaces.size());
  m_setup.coherence->costs_of(accesses, {spaces.data(), spaces.size()}, {costs.data(), costs.size()});
  for (std::size_t k = 0; k < costs.size(); ++k) {
    candidates[k].transfer_seconds = costs[k].seconds;
    candidates[k].resident_bytes = costs[k].resident_bytes;
    candidates[k].missing_bytes = costs[k].missing_bytes;
  }
  if (candidates.empty()) return nowhere;
  if (any_hinted)
    candidates.erase(std::remove_if(candidates.begin(), candidates.end(), [](const candidate& c) { return !c.hinted; }),
                     candidates.end());
  else if (m_policy == placement_policy::pinned && t.hint != location::no_node) return nowhere;
  const std::span<const candidate> plan(candidates.data(), candidates.size());
  const std::size_t best = m_setup.policy != nullptr ? place(*m_setup.policy, t.what->name, plan) : place(m_policy, plan);
  const std::size_t chosen = m_policy == placement_policy::cost && profile != nullptr ? decide(*profile, size, plan, best) : best;
  note_given(t, *m_executors[plan[chosen].executor], plan[chosen].execute_seconds, chosen != best);
  return plan[chosen].executor;
}

block::failure scheduler::why_nowhere(task::record& t) const {
  if (std::ranges::none_of(m_executors, [&](const auto& e) { return offers(*e, t); }))
    return {fmt::format("no location can run it: no device here offers '{}' for the type of its blocks", t.what->name), {},
            error_kind::usage};
  const auto would = [&](const executor& e) {
    return offers(e, t) && footprint_in(e, t) <= m_setup.coherence->space_at(e.space).limit();
  };
  const auto gone = [](const executor& e) { return e.state.load() == executor_state::lost ? "lost" : "detached"; };
  const bool by_hint = m_policy == placement_policy::pinned && t.hint != location::no_node;
  std::string away;  // devices that could, were they there
  for (const auto& e : m_executors)
    if (!e->attached() && would(*e) && (!by_hint || obeys_hint(*e, t)))
      away += fmt::format("{}{} is {}", away.empty() ? "" : ", ", e->name, gone(*e));
  if (!away.empty())
    return {by_hint ? fmt::format("it must run at '{}', and {}", m_setup.tree->at(t.hint).is.name, away)
                    : fmt::format("no location can run it: {}", away),
            {}, error_kind::device};
  if (std::ranges::any_of(m_executors, [&](const auto& e) { return would(*e); }))
    return {fmt::format("it must run at '{}', where nothing can run it (runtime.placement = \"pinned\" makes hints orders)",
                        m_setup.tree->at(t.hint).is.name),
            {}, error_kind::usage};
  std::uint64_t bytes = 0;
  for (const block::access& a : t.all_accesses()) bytes += a.block->bytes;
  return {fmt::format("no location that offers it can hold its blocks: they take {} bytes", bytes), {}, error_kind::memory};
}

void scheduler::hand_over(task::record& view) noexcept {
  static_cast<host_hold*>(view.extension)->at.store(host_hold::step::due, std::memory_order_release);
  call_guests();
}

void scheduler::dispatch(lane& mine, task::record& t, bool hot) {
  if (t.what == m_hold && m_simulated == nullptr) {
    t.executor = 0;
    hand_over(t);
    return;
  }
  if ((t.flags & task::flag_reduction) != 0 && (t.flags & task::flag_prepared) == 0) {
    if (lacks_addend(mine, t)) return;
    // All adders have been enqueued: now it is known which private copies there are.
    prepare(t, *m_executors.front());
  }
  if ((t.flags & task::flag_replayed) != 0) {
    if (m_graphs && joins_segment(mine, t, hot)) return;
    if (t.executor != 0xffff && !m_executors[t.executor]->attached()) t.executor = 0xffff;  // its device has left since
    prepare_replayed(t);
  }
  if (t.executor != 0xffff || find_place(mine, t)) enqueue(mine, t, *m_executors[t.executor], hot);
}

bool scheduler::find_place(lane& mine, task::record& t) {
  std::uint32_t at = 0;
  try {
    if (t.what->special == nullptr) at = choose(mine, t);
  } catch (const error& e) {  // a policy plugin
    t.executor = 0;
    fail_unstarted(mine, t, note_failure(t, {e.message(), e.where(), e.kind()}));
    return false;
  }
  if (at == nowhere) {
    t.executor = 0;
    fail_unstarted(mine, t, note_failure(t, why_nowhere(t)));
    return false;
  }
  t.executor = static_cast<std::uint16_t>(at);
  if ((t.flags & task::flag_replayed) != 0 && t.what != m_graph)  // the next replays go there without asking
    std::atomic_ref(t.replayed().of->of.tasks[t.replayed().index].executor).store(t.executor, std::memory_order_relaxed);
  return true;
}

void scheduler::enqueue(lane& mine, task::record& t, executor& where, bool hot) {
  if (!where.is_host) {
    where.urgent.push(t);
    m_drivers[where.number]->wake();
    return;
  }
  if (t.priority > 0) {
    where.urgent.push(t);
  } else if (t.priority < 0) {
    where.background.push(t);
  } else if (mine.is_driver || mine.executor != where.number) {
    where.inbox.push(t);
  } else if (hot && mine.next_task == nullptr) {
    mine.next_task = &t;
    return;  // this thread runs it next: nobody needs to be woken
  } else if (!mine.spilled.empty() || !mine.ready.push(t)) {
    mine.spilled.push(t);  // behind what is there already
  }
  wake_one();
}

void scheduler::wake_one() {
  if (m_simulated != nullptr) {
    m_simulated->host_work = true;
    return;
  }
  // Somebody who spins will find it.
  full_fence();
  if (m_spinning.load(std::memory_order_relaxed) == 0) m_work.notify_one();
}

bool scheduler::nothing_waits(const lane& mine) const noexcept {  // of what find() looks at before it looks at others' lanes; and of the background
  const executor& home = *m_executors[mine.executor];
  return home.urgent.empty() && mine.next_task == nullptr && mine.ready.size() == 0 && mine.spilled.empty() && home.inbox.empty() && home.background.empty();
}

task::record* scheduler::find(lane& mine) {
  executor& home = *m_executors[mine.executor];
  if ((++mine.ticks & 63) == 0)  // so that a long chain of hot successors starves nobody
    if (task::record* t = home.inbox.pop()) return t;
  if (!home.urgent.empty())
    if (task::record* t = home.urgent.pop()) return t;
  if (task::record* t = mine.next_task) {
    mine.next_task = nullptr;
    return t;
  }
  if (task::record* t = mine.ready.pop()) return t;
  std::array<task::record*, ready_ring::capacity / 2> loot;
  const auto keep_rest = [&](std::uint32_t count) {
    for (std::uint32_t k = 1; k < count; ++k)
      if (!mine.ready.push(*loot[k])) mine.spilled.push(*loot[k]);
    return loot[0];
  };
  if (const std::uint32_t count = mine.spilled.pop(loot.data(), loot.size())) return keep_rest(count);
  if (task::record* t = home.inbox.pop()) return t;
  if (mine.victims_of != m_lanes.size()) refresh_victims(mine);
  for (const std::uint16_t v : mine.victims) {
    lane& victim = m_lanes[v];
    std::uint32_t count = victim.ready.steal(loot.data(), 32);
    if (count == 0) count = victim.spilled.pop(loot.data(), loot.size(), true);
    if (count == 0) continue;
    mine.steals.store(mine.steals.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
    return keep_rest(count);
  }
  for (const auto& other : m_executors) {
    if (!other->is_host || other->number == mine.executor) continue;
    if (task::record* t = other->urgent.pop()) return t;
    if (task::record* t = other->inbox.pop()) return t;
  }
  if (task::record* t = home.background.pop()) return t;
  for (const auto& other : m_executors)
    if (other->is_host && other->number != mine.executor)
      if (task::record* t = other->background.pop()) return t;
  return nullptr;
}

}  // namespace tessera::schedule
