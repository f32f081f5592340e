#include "core/schedule/scheduler.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "core/base/fence.hpp"
#include "core/operation/tensor.hpp"
#include "core/schedule/device_driver.hpp"
#include "core/schedule/simulated_run.hpp"
#include "core/schedule/trace_points.hpp"
#include "core/schedule/watchdog.hpp"
#include "core/validate/validator.hpp"

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
    e.cpus.push_back(leaf);
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
  m_validator = m_setup.validator;
  m_single_space = coherence.space_count() == 1 && m_validator == nullptr;  // every use passes through acquire then
  m_single_executor = m_executors.size() == 1;
  m_has_devices = std::ranges::any_of(m_executors, [](const auto& e) { return !e->is_host; });
  m_announces = coherence.wants_uses();

  m_hold = &m_setup.operations->add({.name = "hold", .special = [](void*) {}});
  m_destroy = &m_setup.operations->add({.name = "destroy", .special = [](void*) {}});
  m_reduce = m_setup.operations->find("reduce");
  if (m_reduce == nullptr) m_reduce = &m_setup.operations->add(operation::reduce_add());

  prepare_graphs();
  lane& mine = register_lane(nullptr);  // the creating thread is worker 0 whenever it waits
  mine.executor = executor_of_workers.front();
  mine.where = node_of_workers.front();

  for (const auto& e : m_executors) {
    m_drivers.push_back(e->is_host ? nullptr : std::make_unique<device_driver>(*this, *e));
    if (!e->is_host) e->parallelism = m_drivers.back()->compute_streams();
  }
  for (auto& e : m_executors) e->parallelism = std::max<std::uint32_t>(e->parallelism, 1);
  m_distances.resize(tree.known() * m_executors.size());
  for (location::node_id node = 0; node < tree.known(); ++node)
    for (const auto& e : m_executors)
      if (tree.attached(node) && tree.attached(e->where))
        m_distances[node * m_executors.size() + e->number] = static_cast<std::uint16_t>(tree.distance(node, e->where));
  for (const auto& e : m_executors) e->granule = coherence.space_at(e->space).granule();
  // With one place alone cost has nothing to choose, but what it learns can be asked: by simulations, by later runs with more.
  if (m_policy == placement_policy::cost || (m_setup.policy != nullptr && !m_single_executor)) make_history();
  for (std::size_t k = 0; k < coherence.space_count(); ++k) {
    const memory::space& s = coherence.space_at(static_cast<memory::space_number>(k));
    if (s.device().description().device_class != TSR_DEVICE_STORAGE ||
        std::ranges::any_of(m_stores, [&](const auto& e) { return e->device == &s.device(); }))
      continue;
    auto store = std::make_unique<executor>();
    store->space = s.number();
    store->is_host = false;
    store->device = &s.device();
    store->where = s.where();
    store->name = s.device().name();
    m_store_drivers.push_back(std::make_unique<device_driver>(*this, *store));
    m_stores.push_back(std::move(store));
  }

  for (const std::string& name : m_setup.settings->detached) {
    const auto where = tree.find(name);
    if (!where) throw error(error_kind::configuration, fmt::format("there is no location '{}'", name), "runtime.detached");
    for (executor* e : devices_below(*where)) {
      e->state.store(executor_state::detached);
      coherence.links().close(e->space);
    }
  }

  if (m_setup.simulated != nullptr) m_simulated = std::make_unique<simulated_run>();

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
      if (m_setup.recorder != nullptr)
        fresh->events = &m_setup.recorder->make_buffer(fmt::format("worker {}", k), trace::thread_role::worker, fresh->executor);
      m_lanes[fresh->number].store(fresh.get(), std::memory_order_release);
      m_lane_owner.push_back(std::move(fresh));
      m_lane_count.store(static_cast<std::uint32_t>(m_lane_owner.size()), std::memory_order_release);
    }
    lane& worker = *m_lane_owner.back();
    if (m_simulated != nullptr) continue;
    const bool bind = m_setup.settings->bind && k < cpus_of_workers.size();
    m_busy.fetch_add(1);
    m_threads.emplace_back([this, &worker, cpu = cpus_of_workers[at], bind] { worker_thread(worker, cpu, bind); });
  }
  if (m_simulated != nullptr) {
    begin_simulation();
    return;
  }
  for (const auto& driver : m_drivers)
    if (driver) driver->start();
  for (const auto& driver : m_store_drivers) driver->start();
  m_watchdog = watch_streams();
}

scheduler::~scheduler() {
  drain();
  if (m_simulated != nullptr) end_simulation();
  m_stop.store(true);
  m_work.notify_all();
  for (std::thread& t : m_threads) t.join();
  for (const auto& driver : m_drivers)
    if (driver) driver->stop();
  for (const auto& driver : m_store_drivers) driver->stop();
  m_watchdog.reset();  // the drivers wait until nothing is busy, which it may have to decide
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
  if (mine.recorder != nullptr && t.what->special == nullptr) {
    if (!mine.recorder->add(t)) mine.tasks.give_back(t, t);
    return;
  }
  if (m_validator != nullptr && t.what != m_destroy && !m_validator->submitted(t)) {  // its blocks are gone
    if (t.what->destroy_arguments != nullptr) t.what->destroy_arguments(t.argument_bytes());
    mine.tasks.give_back(t, t);
    return;
  }
  const std::uint64_t count = mine.submitted.load(std::memory_order_relaxed) + 1;
  // An order among all submitters that costs nothing shared: exact for one of them, fair between several.
  t.sequence = count;
  mine.submitted.store(count, std::memory_order_release);
  if (m_window_bytes != 0) {
    const std::uint64_t bytes = window_bytes_of(t);
    mine.submitted_bytes.store(mine.submitted_bytes.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }
  if (m_announces)
    for (const block::access& a : t.all_accesses()) uses_of(mine).note(*a.block, count, a.how != intent::read);
  if (task::link(t, *this, t.what != m_destroy ? mine.events : nullptr)) {
    // Views and the ends of blocks, where nothing stands in their way: this thread has them at once, and wakes nobody.
    const bool is_own = t.what == m_hold || t.what == m_destroy;
    if (is_own && m_simulated == nullptr && mine.in_program() && nothing_waits(mine)) {
      t.executor = 0;
      run(mine, t);
    } else {
      dispatch(mine, t, false);
    }
  }
  if (m_simulated != nullptr) simulate_submission(mine);

  const bool look = m_window_bytes != 0 || (count & 255) == 0 || m_window_tasks < 256;
  if (!look || !bounded || !mine.in_program()) return;
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

void scheduler::note_begun(const task::record& t) noexcept {
  if (!m_announces) return;
  if ((t.flags & task::flag_replayed) != 0) {
    note_begun_of_replay(const_cast<task::record&>(t));
    return;
  }
  // Whoever submitted it has made the log before.
  if (const auto& log = m_lanes[t.owner].load(std::memory_order_relaxed)->uses) log->begin(t.sequence);
}

transfer::use_log& scheduler::uses_of(lane& mine) {
  if (!mine.uses) mine.uses = std::make_unique<transfer::use_log>();
  return *mine.uses;
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

void scheduler::drain() noexcept {
  help(current_lane(), [this] { return all_retired(); });
}

void scheduler::fence(std::source_location site) {
  lane& mine = current_lane();
  if (mine.recorder != nullptr)
    throw error(error_kind::usage, "fence inside a recording", {}, "recorded tasks do not run before they are replayed");
  if (mine.held_views != 0)
    throw error(error_kind::usage, fmt::format("fence while this thread holds {} views", mine.held_views), {},
                "release host views before waiting for tasks that may need their blocks");
  settle(site);
}

void scheduler::settle(std::source_location site) {
  lane& mine = current_lane();
  const std::uint64_t began = mine.events != nullptr ? mine.events->now() : 0;
  help(mine, [this] { return all_retired(); });
  if (mine.events != nullptr) trace_fence(*mine.events, began);
  std::shared_ptr<const block::failure> failure;
  std::uint64_t dropped = 0;
  {
    const std::lock_guard guard(m_failure_mutex);
    failure.swap(m_first_failure);
    std::swap(dropped, m_dropped);
  }
  if (m_validator != nullptr) m_validator->at_fence(site, failure ? failure->text : std::string());
  const std::string given_up = dropped == 0 ? std::string()
                                            : fmt::format("; {} task{}{} {} given up", dropped, dropped == 1 ? "" : "s",
                                                          cancelled() ? "" : " that depended on it", dropped == 1 ? "was" : "were");
  throw_losses(failure.get(), given_up);
  if (failure) throw error(failure->kind, failure->text + given_up, failure->where);
}

void scheduler::cancel(std::string reason, error_kind kind) {
  {
    const std::lock_guard guard(m_failure_mutex);
    m_cancel_reason = std::move(reason);
    m_cancel_kind = kind;
  }
  m_cancelled.store(true);
  m_work.notify_all();
}

std::vector<trace::recording::stream> scheduler::compute_streams() const {
  std::vector<trace::recording::stream> all;
  for (const auto& driver : m_drivers) {
    if (!driver) continue;
    for (std::size_t k = 0; k < driver->streams().size(); ++k)
      all.push_back({driver->streams()[k]->number(), driver->where().number, fmt::format("{} compute {}", driver->where().name, k)});
  }
  return all;
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
