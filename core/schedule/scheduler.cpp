#include "core/schedule/scheduler.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "core/base/fence.hpp"
#include "core/operation/tensor.hpp"
#include "core/schedule/device_driver.hpp"

namespace tessera::schedule {
namespace {

std::atomic<std::uint64_t> next_serial{1};  // numbers, not state: two runtimes never share one

/// What a description says about speed, as nanoseconds per floating-point operation of one worker or stream.
double ns_per_flop(const plugin::device& device) {
  const double peak = device.description().peak_f64;
  if (peak <= 0) return 0.25;
  const double units = device.description().device_class == TSR_DEVICE_CPU
                           ? std::max<double>(1, device.description().compute_units)
                           : 1;
  return 1e9 * units / peak;
}

}  // namespace

scheduler::scheduler(scheduler_setup setup)
    : m_setup(std::move(setup)),
      m_serial(next_serial.fetch_add(1)),
      m_policy(parse_placement(m_setup.settings->placement)),
      m_window_tasks(std::max<std::uint64_t>(m_setup.settings->window_tasks, 1)),
      m_window_bytes(m_setup.settings->window_bytes),
      m_spin_ns(m_setup.settings->spin_ns) {
  const location::tree& tree = *m_setup.tree;
  transfer::coherence& coherence = *m_setup.coherence;

  // Executors: one per host space that has CPU workers below it, one per device that computes.
  std::vector<std::uint32_t> cpus_of_workers;
  std::vector<std::uint32_t> executor_of_workers;
  std::vector<location::node_id> node_of_workers;
  const auto executor_at = [&](memory::space_number space, bool host) -> executor& {
    for (const auto& e : m_executors)
      if (e->space == space && e->is_host == host) return *e;
    auto fresh = std::make_unique<executor>();
    fresh->number = static_cast<std::uint32_t>(m_executors.size());
    fresh->space = space;
    fresh->is_host = host;
    fresh->device = &coherence.space_at(space).device();
    fresh->where = coherence.space_at(space).where();
    fresh->name = host ? fmt::format("cpu:{}", tree.at(fresh->where).is.name) : fresh->device->name();
    fresh->ns_per_flop = ns_per_flop(*fresh->device);
    fresh->parallelism = 0;
    m_executors.push_back(std::move(fresh));
    return *m_executors.back();
  };
  const auto space_of_node = [&](location::node_id node) {
    for (std::size_t k = 0; k < coherence.space_count(); ++k)
      if (coherence.space_at(static_cast<memory::space_number>(k)).where() == node)
        return static_cast<memory::space_number>(k);
    return memory::no_space;
  };
  for (const location::node_id leaf : tree.subtree(tree.root())) {
    const location::properties& is = tree.at(leaf).is;
    if (is.what != location::kind::worker || is.cpus.empty() || is.space) continue;
    const location::node_id memory = tree.memory_of(leaf);
    if (memory == location::no_node) continue;
    const memory::space_number space = space_of_node(memory);
    if (space == memory::no_space || !coherence.space_at(space).host_visible()) continue;
    executor& e = executor_at(space, true);
    ++e.parallelism;
    cpus_of_workers.push_back(is.cpus.front());
    executor_of_workers.push_back(e.number);
    node_of_workers.push_back(leaf);
  }
  if (cpus_of_workers.empty())
    throw error(error_kind::configuration, "the location tree has no CPU worker with a memory of the host plugin", {},
                "`tessera topology` shows the tree; declare a location of a type with kind = \"cpu\"");
  m_workers = m_setup.settings->workers != 0 ? m_setup.settings->workers
                                             : static_cast<std::uint32_t>(cpus_of_workers.size());
  for (std::size_t k = 0; k < coherence.space_count(); ++k) {
    const auto number = static_cast<memory::space_number>(k);
    const memory::space& s = coherence.space_at(number);
    if (s.host_visible() || s.device().description().device_class == TSR_DEVICE_STORAGE) continue;
    executor_at(number, false);
  }
  m_single_space = coherence.space_count() == 1;
  m_single_executor = m_executors.size() == 1;

  m_hold = &m_setup.operations->add({.name = "hold", .special = [](void*) {}});
  m_destroy = &m_setup.operations->add({.name = "destroy", .special = [](void*) {}});
  m_reduce = m_setup.operations->find("reduce");
  if (m_reduce == nullptr) m_reduce = &m_setup.operations->add(operation::reduce_add());

  lane& mine = register_lane(nullptr);  // the creating thread is worker 0 whenever it waits
  mine.executor = executor_of_workers.front();
  mine.where = node_of_workers.front();

  for (const auto& e : m_executors) {
    m_drivers.push_back(e->is_host ? nullptr : std::make_unique<device_driver>(*this, *e));
    if (!e->is_host) e->parallelism = m_drivers.back()->compute_streams();
  }
  for (auto& e : m_executors) e->parallelism = std::max<std::uint32_t>(e->parallelism, 1);

  // Worker 0 is whoever waits; the others are threads, dealt over the CPUs, the second CPU first.
  m_busy.store(1);
  for (std::uint32_t k = 1; k < m_workers; ++k) {
    const std::size_t at = k % cpus_of_workers.size();
    auto fresh = std::unique_ptr<lane>();
    {
      const std::lock_guard guard(m_lane_mutex);
      if (m_lane_owner.size() == max_lanes) throw error(error_kind::usage, "more than 255 workers");
      fresh = std::make_unique<lane>(static_cast<std::uint16_t>(m_lane_owner.size()));
      fresh->executor = executor_of_workers[at];
      fresh->where = node_of_workers[at];
      fresh->finished.resize(max_lanes);
      m_lanes[fresh->number].store(fresh.get(), std::memory_order_release);
      m_lane_owner.push_back(std::move(fresh));
      m_lane_count.store(static_cast<std::uint32_t>(m_lane_owner.size()), std::memory_order_release);
    }
    lane& worker = *m_lane_owner.back();
    const bool bind = m_setup.settings->bind && k < cpus_of_workers.size();
    m_busy.fetch_add(1);
    m_threads.emplace_back([this, &worker, cpu = cpus_of_workers[at], bind] { worker_thread(worker, cpu, bind); });
  }
  for (const auto& driver : m_drivers)
    if (driver) driver->start();
}

scheduler::~scheduler() {
  drain();
  m_stop.store(true);
  m_work.notify_all();
  for (std::thread& t : m_threads) t.join();
  for (const auto& driver : m_drivers)
    if (driver) driver->stop();
  m_alive.reset();
}

void scheduler::worker_thread(lane& mine, std::uint32_t cpu, bool bind) {
  t_lane = {m_serial, &mine};
  if (bind) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);  // outside the mask it fails, and the thread floats
  }
  pthread_setname_np(pthread_self(), fmt::format("tsr-worker{}", mine.number).c_str());
  work(mine, [this] { return m_stop.load(std::memory_order_relaxed); });
}

void scheduler::commit(lane& mine, task::record& t, bool bounded) {
  const std::uint64_t count = mine.submitted.load(std::memory_order_relaxed) + 1;
  // An order among all submitters that costs nothing shared: exact for one of them, fair between several.
  t.sequence = count;
  mine.submitted.store(count, std::memory_order_release);
  if (m_window_bytes != 0) {
    const std::uint64_t bytes = window_bytes_of(t);
    mine.submitted_bytes.store(mine.submitted_bytes.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }
  if (task::link(t, *this)) dispatch(mine, t, false);

  const bool look = m_window_bytes != 0 || (count & 255) == 0 || m_window_tasks < 256;
  if (!look || !bounded || mine.inside_task || mine.is_driver) return;
  const auto tasks_open = [&] { return submitted() - std::min(submitted(), retired()); };
  const auto bytes_open = [&] {
    std::uint64_t in = 0, out = 0;
    for (std::uint32_t k = 0; k < m_lane_count.load(std::memory_order_acquire); ++k) {
      const lane& l = *m_lanes[k].load(std::memory_order_acquire);
      out += l.retired_bytes.load(std::memory_order_acquire);
      in += l.submitted_bytes.load(std::memory_order_acquire);
    }
    return in - std::min(in, out);
  };
  if (tasks_open() >= m_window_tasks)
    help(mine, [&] { return tasks_open() <= m_window_tasks / 2 + m_held.load(); });
  if (m_window_bytes != 0 && bytes_open() >= m_window_bytes && m_held.load() == 0)
    help(mine, [&] { return bytes_open() <= m_window_bytes / 2 || tasks_open() <= m_held.load(); });
}

std::uint64_t scheduler::submitted() const noexcept {
  std::uint64_t sum = 0;
  for (std::uint32_t k = 0; k < m_lane_count.load(std::memory_order_acquire); ++k)
    sum += m_lanes[k].load(std::memory_order_acquire)->submitted.load(std::memory_order_acquire);
  return sum;
}

std::uint64_t scheduler::retired() const noexcept {
  std::uint64_t sum = 0;
  for (std::uint32_t k = 0; k < m_lane_count.load(std::memory_order_acquire); ++k)
    sum += m_lanes[k].load(std::memory_order_acquire)->retired.load(std::memory_order_acquire);
  return sum;
}

std::uint64_t scheduler::steals() const noexcept {
  std::uint64_t sum = 0;
  for (std::uint32_t k = 0; k < m_lane_count.load(std::memory_order_acquire); ++k)
    sum += m_lanes[k].load(std::memory_order_acquire)->steals.load(std::memory_order_relaxed);
  return sum;
}

std::uint64_t scheduler::fast_versions() const noexcept {
  std::uint64_t sum = 0;
  for (std::uint32_t k = 0; k < m_lane_count.load(std::memory_order_acquire); ++k)
    sum += m_lanes[k].load(std::memory_order_acquire)->versions.load(std::memory_order_relaxed);
  return sum;
}

bool scheduler::all_retired() const noexcept {
  // Retired first: both sums only grow and retired never passes submitted, so equal sums mean that nothing was open at
  // the moment in between.
  const std::uint64_t out = retired() + m_held.load(std::memory_order_acquire);
  return out >= submitted();
}

std::uint32_t scheduler::choose(lane& mine, task::record& t) {
  if (m_single_executor && t.hint == 0xffff'ffff) {
    return 0;
  }
  const auto accesses = t.all_accesses();
  const element_type type = accesses.empty() ? element_type::none : accesses[0].block->type;
  boost::container::small_vector<candidate, 16> candidates;
  const location::tree& tree = *m_setup.tree;
  const double work = t.what->work != nullptr ? t.what->work(t.argument_bytes(), accesses) : 0;
  for (const auto& e : m_executors) {
    if (!t.what->runs_on(*e->device, type, e->is_host)) continue;
    const memory::space& space = m_setup.coherence->space_at(e->space);
    std::uint64_t bytes = 0;
    for (const block::access& a : accesses) bytes += space.footprint(a.block->bytes);
    if (bytes > space.limit()) continue;
    const auto cost = m_setup.coherence->cost_of(accesses, e->space);
    candidates.push_back({.executor = e->number,
                          .queue_seconds = e->queue_seconds(),
                          .transfer_seconds = cost.seconds,
                          .execute_seconds = work * e->ns_per_flop.load(std::memory_order_relaxed) * 1e-9,
                          .resident_bytes = cost.resident_bytes,
                          .missing_bytes = cost.missing_bytes,
                          .distance = static_cast<std::uint32_t>(tree.distance(mine.where, e->where)),
                          .hinted = t.hint != 0xffff'ffff && (tree.is_ancestor(t.hint, e->where) ||
                                                              (e->is_host && tree.is_ancestor(e->where, t.hint)))});
  }
  if (candidates.empty()) return 0xffff'ffff;
  if (m_policy == placement_policy::pinned && t.hint != 0xffff'ffff &&
      std::ranges::none_of(candidates, &candidate::hinted))
    return 0xffff'ffff;
  const candidate& best = candidates[place(m_policy, {candidates.data(), candidates.size()})];
  executor& chosen = *m_executors[best.executor];
  const auto ns = static_cast<std::int64_t>(best.execute_seconds * 1e9) + 1000;
  t.extension = reinterpret_cast<void*>(static_cast<std::intptr_t>(ns));  // taken off again at retirement
  chosen.queued_ns.fetch_add(ns, std::memory_order_relaxed);
  chosen.tasks.fetch_add(1, std::memory_order_relaxed);
  return best.executor;
}

void scheduler::dispatch(lane& mine, task::record& t, bool hot) {
  if ((t.flags & task::flag_reduction) != 0 && (t.flags & task::flag_prepared) == 0) {
    // All adders have been enqueued: now it is known which private copies there are.
    prepare(t, *m_executors.front());
  }
  if (t.executor == 0xffff) {
    const std::uint32_t at = t.what->special != nullptr ? 0 : choose(mine, t);
    if (at == 0xffff'ffff) {
      std::uint64_t bytes = 0;
      for (const block::access& a : t.all_accesses()) bytes += a.block->bytes;
      t.executor = 0;
      fail_unstarted(mine, t, note_failure(t, {fmt::format("no location can run it: its blocks take {} bytes", bytes),
                                               {}, error_kind::memory}));
      return;
    }
    t.executor = static_cast<std::uint16_t>(at);
  }
  enqueue(mine, t, *m_executors[t.executor], hot);
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
  wake_for(where);
}

void scheduler::wake_for(executor&) {
  // Somebody who spins will find it.
  full_fence();
  if (m_spinning.load(std::memory_order_relaxed) == 0) m_work.notify_one();
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
  if (mine.victims_of != m_lane_count.load(std::memory_order_acquire)) refresh_victims(mine);
  for (const std::uint16_t v : mine.victims) {
    lane& victim = *m_lanes[v].load(std::memory_order_acquire);
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

void scheduler::work(lane& mine, const predicate& enough) {
  while (true) {
    if (task::record* t = find(mine)) {
      run(mine, *t);
      continue;
    }
    if (enough()) return;
    if (m_waiting.load(std::memory_order_relaxed) != 0) m_work.notify_all();

    // Spin for a while: work usually comes within microseconds.
    m_spinning.fetch_add(1, std::memory_order_seq_cst);
    task::record* found = nullptr;
    bool leave = false;
    const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(m_spin_ns);
    for (unsigned spins = 0; found == nullptr && !leave; ++spins) {
      for (int k = 0; k < 16; ++k) cpu_relax();
      found = find(mine);
      if (found == nullptr) leave = enough();
      if ((spins & 15) == 15 && std::chrono::steady_clock::now() > until) break;
    }
    const bool last_spinner = m_spinning.fetch_sub(1, std::memory_order_seq_cst) == 1;
    if (found != nullptr) {
      if (last_spinner) m_work.notify_one();  // there may be more of it
      run(mine, *found);
      continue;
    }
    if (leave) return;

    const std::uint32_t key = m_work.prepare();
    found = find(mine);
    if (found != nullptr || enough()) {
      m_work.cancel();
      if (found == nullptr) return;
      run(mine, *found);
      continue;
    }
    if (m_busy.fetch_sub(1, std::memory_order_seq_cst) == 1) {
      m_busy.fetch_add(1, std::memory_order_seq_cst);
      if (resolve_memory_deadlock(mine)) {
        m_work.cancel();
        continue;  // what it released, and whoever waited for it
      }
      m_busy.fetch_sub(1, std::memory_order_seq_cst);
    }
    m_work.wait(key);
    m_busy.fetch_add(1, std::memory_order_seq_cst);
  }
}

void scheduler::help(lane& mine, const predicate& enough) {
  if (enough()) return;
  m_waiting.fetch_add(1, std::memory_order_seq_cst);
  bool free = false;
  if (!mine.is_driver && m_helper.compare_exchange_strong(free, true)) {  // the one place of worker 0
    work(mine, enough);
    m_helper.store(false);
    m_work.notify_all();  // another waiting thread may take the place
  } else {
    while (!enough()) {
      const std::uint32_t key = m_work.prepare();
      if (enough() || (!mine.is_driver && !m_helper.load())) {
        m_work.cancel();
        free = false;
        if (!enough() && !mine.is_driver && m_helper.compare_exchange_strong(free, true)) {
          work(mine, enough);
          m_helper.store(false);
          m_work.notify_all();
        }
        continue;
      }
      m_work.wait(key);
    }
  }
  m_waiting.fetch_sub(1, std::memory_order_seq_cst);
}

bool scheduler::resolve_memory_deadlock(lane& mine) {
  // Nobody runs, nothing moves, and somebody waits for memory: no event will ever wake him.
  if (m_parked.load() != 0 || m_setup.coherence->transfers_pending()) return false;
  for (const auto& driver : m_drivers)
    if (driver && driver->active()) return false;
  for (std::size_t k = 0; k < m_setup.coherence->space_count(); ++k) {
    memory::space& space = m_setup.coherence->space_at(static_cast<memory::space_number>(k));
    if (!space.has_waiters()) continue;
    if (!m_single_space && m_setup.coherence->evict(space.number(), ~std::uint64_t{0})) {
      space.notify();
      return true;
    }
    memory::memory_waiter* oldest = space.take_oldest_waiter();
    if (oldest == nullptr) continue;
    const memory::space_statistics s = space.statistics();
    give_up_waiter(mine, *oldest,
                   fmt::format("{} is full ({} of {} bytes in use) and nothing in it can be evicted", space.name(),
                               s.used_bytes, s.limit_bytes));
    return true;
  }
  return false;
}

void scheduler::drain() noexcept {
  help(current_lane(), [this] { return all_retired(); });
}

void scheduler::fence() {
  lane& mine = current_lane();
  if (mine.held_views != 0)
    throw error(error_kind::usage, fmt::format("fence while this thread holds {} views", mine.held_views), {},
                "release host views before waiting for tasks that may need their blocks");
  drain();
  std::shared_ptr<const block::failure> failure;
  std::uint64_t dropped = 0;
  {
    const std::lock_guard guard(m_failure_mutex);
    failure.swap(m_first_failure);
    std::swap(dropped, m_dropped);
  }
  if (failure)
    throw error(failure->kind, failure->text, failure->where,
                dropped > 0 ? fmt::format("{} tasks that depended on it were given up", dropped) : std::string());
}

void scheduler::cancel(std::string reason) {
  {
    const std::lock_guard guard(m_failure_mutex);
    m_cancel_reason = std::move(reason);
  }
  m_cancelled.store(true);
  m_work.notify_all();
}

std::vector<operation_statistics> scheduler::operation_table() const {
  std::vector<operation_statistics> rows;
  for (std::uint32_t number = 0; number < m_setup.operations->size(); ++number) {
    const operation::definition& what = m_setup.operations->at(number);
    if (what.special != nullptr) continue;
    for (const auto& e : m_executors) {
      operation_statistics row{what.name, e->name, 0, 0};
      for (std::uint32_t k = 0; k < m_lane_count.load(std::memory_order_acquire); ++k) {
        const lane& l = *m_lanes[k].load(std::memory_order_acquire);
        const operation_counters::counter* counter = l.executor == e->number ? l.counters.find(number) : nullptr;
        if (counter == nullptr) continue;
        row.tasks += counter->tasks.load(std::memory_order_relaxed);
        row.nanoseconds += counter->nanoseconds.load(std::memory_order_relaxed);
      }
      if (row.tasks > 0) rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace tessera::schedule
