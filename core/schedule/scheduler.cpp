#include "core/schedule/scheduler.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <system_error>

#include "core/schedule/simulated_run.hpp"
#include "core/validate/validator.hpp"

namespace tessera::schedule {
namespace {

/// What a description says about speed, as nanoseconds per floating-point operation of one worker or stream.
double ns_per_flop(const plugin::device& device) {
  const double peak = device.description().peak_f64;
  if (peak <= 0) return 0.25;
  const double units =
      device.description().device_class == TSR_DEVICE_CPU ? std::max<double>(1, device.description().compute_units) : 1;
  return 1e9 * units / peak;
}

std::vector<space_facts> facts_of(const transfer::coherence& coherence) {
  std::vector<space_facts> facts;
  std::vector<const plugin::device*> devices;  // by space
  for (std::size_t k = 0; k < coherence.space_count(); ++k) {
    const memory::space& s = coherence.space_at(static_cast<memory::space_number>(k));
    devices.push_back(&s.device());
    facts.push_back({.location = s.location(),
                     .host_visible = s.host_visible(),
                     .storage = s.device().description().device_class == TSR_DEVICE_STORAGE,
                     .device = static_cast<std::size_t>(std::ranges::find(devices, &s.device()) - devices.begin())});
  }
  return facts;
}

std::unique_ptr<placement::place> make_place(const planned_place& planned, const location::tree& tree,
                                             const memory::space& space) {
  auto fresh = std::make_unique<placement::place>();
  fresh->space = planned.space;
  fresh->is_host = planned.is_host;
  fresh->device = &space.device();
  fresh->location = space.location();
  fresh->name =
      planned.is_host ? fmt::format("cpu:{}", tree.at(fresh->location).properties.name) : fresh->device->name();
  fresh->ns_per_flop = ns_per_flop(*fresh->device);
  fresh->cpus = planned.cores;
  fresh->parallelism = planned.workers;  // a device's is known to its driver
  fresh->granule = space.granule();
  return fresh;
}

}  // namespace

/// By part: the pieces of the scheduler that it asks.
struct scheduler::part_setups {
  static worker_pool::setup pool(scheduler& s) {
    return {.queues = &s.m_queues,
            .placer = &s.m_placer,
            .places = &s.m_places,
            .coherence = s.m_setup.coherence,
            .spin = std::chrono::nanoseconds(s.m_setup.settings->spin_ns),
            .window_tasks = s.m_submissions.window().tasks()};
  }
  static memory_deadlock::setup deadlock(scheduler& s) {
    return {.coherence = s.m_setup.coherence,
            .threads = &s.m_threads,
            .drivers = &s.m_drivers,
            .set_aside = &s.m_parking,
            .counts_on_program = s.m_setup.simulated == nullptr,
            .patience = std::chrono::nanoseconds(s.m_setup.settings->patience_ns),
            .join_copies = [&s](memory::space_number space) { return s.join_private_copies(space); },
            .wake = [&s] { s.m_pool.wake_all(); }};
  }
  static host_runner::setup host(scheduler& s) {
    return {.owner = &s,
            .coherence = s.m_setup.coherence,
            .placer = &s.m_placer,
            .places = &s.m_places,
            .failures = &s.m_failures,
            .validator = s.m_setup.validator,
            .cost = s.m_setup.simulated == nullptr ? &s.m_cost : nullptr};
  }
  static runtime_tasks::setup own_tasks(scheduler& s) {
    return {.owner = &s,
            .host = &s.m_host,
            .coherence = s.m_setup.coherence,
            .places = &s.m_places,
            .blocks = s.m_setup.blocks,
            .failures = &s.m_failures,
            .views = &s.m_views,
            .write_back = &s.m_write_back,
            .validator = s.m_setup.validator,
            .operations = &s.m_own};
  }
  static driver_setup driver(scheduler& s) {
    return {.owner = &s,
            .coherence = s.m_setup.coherence,
            .placer = &s.m_placer,
            .settings = s.m_setup.settings,
            .failures = &s.m_failures,
            .validator = s.m_setup.validator,
            .simulated = s.m_setup.simulated};
  }
  static device_states::setup devices(scheduler& s) {
    return {.tree = s.m_setup.tree,
            .coherence = s.m_setup.coherence,
            .placer = &s.m_placer,
            .places = &s.m_places,
            .drivers = &s.m_drivers,
            .registry = &s.m_registry,
            .simulated = s.m_setup.simulated != nullptr,
            .run_tasks_until = [&s](const predicate& enough) { s.run_tasks_until(s.current_thread(), enough, 0); }};
  }
  static view_deadlock::setup views_in_vain(scheduler& s) {
    return {.owner = &s,
            .threads = &s.m_threads,
            .pool = &s.m_pool,
            .queues = &s.m_queues,
            .memory = &s.m_deadlock,
            .simulated = s.m_setup.simulated != nullptr,
            .patience = std::chrono::nanoseconds(s.m_setup.settings->view_patience_ns)};
  }
  static waits::setup waiting(scheduler& s) {
    return {.owner = &s,
            .threads = &s.m_threads,
            .submitted = &s.m_submissions,
            .pool = &s.m_pool,
            .views = &s.m_views,
            .write_back = &s.m_write_back,
            .operations = &s.m_own,
            .leftovers = &s.m_leftovers,
            .failures = &s.m_failures,
            .coherence = s.m_setup.coherence,
            .validator = s.m_setup.validator,
            .simulated = s.m_setup.simulated != nullptr};
  }
  static view_requests::setup view_requesting(scheduler& s) {
    return {.owner = &s,
            .operations = &s.m_own,
            .views = &s.m_views,
            .host = &s.m_host,
            .pool = &s.m_pool,
            .queues = &s.m_queues,
            .deadlock = &s.m_view_deadlock,
            .waiting = &s.m_waits,
            .coherence = s.m_setup.coherence,
            .failures = &s.m_failures,
            .validator = s.m_setup.validator,
            .simulated = s.m_setup.simulated != nullptr};
  }
  static replay_player::setup playing(scheduler& s) {
    return {.owner = &s,
            .engine = &s.m_replays,
            .blocks = &s.m_recorded_blocks,
            .submitted = &s.m_submissions,
            .threads = &s.m_threads,
            .leftovers = &s.m_leftovers,
            .deadlock = &s.m_view_deadlock,
            .pool = &s.m_pool,
            .validator = s.m_setup.validator,
            .reductions = &s,
            .start = [&s](thread_context& thread, task::record& t) { s.dispatch(thread, t, when_ready::queue); }};
  }
  static in_place_calls::setup calls(scheduler& s) {
    return {
        .registry = &s.m_registry, .host = &s.m_host, .placer = &s.m_placer, .places = &s.m_places, .mode = &s.m_mode};
  }
  static hang_guard::setup hangs(scheduler& s) {
    return {.limit = std::chrono::nanoseconds(s.m_setup.settings->watchdog_ns),
            .coherence = s.m_setup.coherence,
            .drivers = &s.m_drivers,
            .failures = &s.m_failures,
            .cancel = [&s](const std::string& why) { s.cancel(why, error_kind::device); },
            .wake =
                [&s] {
                  s.m_pool.wake_all();
                  s.m_pool.wake_waiters();
                }};
  }
};

scheduler::scheduler(scheduler_setup setup)
    : m_setup(setup),
      m_placer({m_setup.tree, m_setup.coherence, m_setup.policy}, m_setup.settings->placement),
      m_own(*m_setup.operations),
      m_reductions({.coherence = m_setup.coherence,
                    .blocks = m_setup.blocks,
                    .placer = &m_placer,
                    .places = &m_places,
                    .deterministic = m_setup.settings->deterministic}),
      m_write_back(*m_setup.coherence),
      m_submissions(m_threads, std::max<std::uint64_t>(m_setup.settings->window_tasks, 1),
                    m_setup.settings->window_bytes),
      m_replays({.threads = &m_threads,
                 .placer = &m_placer,
                 .coherence = m_setup.coherence,
                 .places = &m_places,
                 .counts_bytes = m_submissions.window().counts_bytes()}),
      m_queues({.threads = &m_threads,
                .places = &m_places,
                .tree = m_setup.tree,
                .cost = m_setup.simulated == nullptr ? &m_cost : nullptr}),
      m_pool(part_setups::pool(*this)),
      m_registry({.threads = &m_threads,
                  .places = &m_places,
                  .coherence = m_setup.coherence,
                  .tracer = m_setup.tracer,
                  .thread_ends = [this](thread_context& thread) { m_view_requests.end_of_thread(thread); },
                  .thread_ended = [this] { m_pool.notice_no_more_room(); }}),
      m_parking({.coherence = m_setup.coherence,
                 .resume = [this](task::record& t) { resume(t); },
                 .copies_came = [this] { m_pool.look_for_memory(); }}),  // a copy was a reason to hope for room
      m_deadlock(part_setups::deadlock(*this)),
      m_view_deadlock(part_setups::views_in_vain(*this)),
      m_host(part_setups::host(*this)),
      m_runtime_tasks(part_setups::own_tasks(*this)),
      m_device_states(part_setups::devices(*this)),
      m_waits(part_setups::waiting(*this)),
      m_view_requests(part_setups::view_requesting(*this)),
      m_recordings(*this),
      m_player(part_setups::playing(*this)),
      m_retiler(*this, m_own),
      m_in_place(part_setups::calls(*this)),
      m_hangs(part_setups::hangs(*this)) {
  place_plan plan = make_places();
  // Validation looks at every task by itself.
  m_replays.begin(*m_setup.operations, m_setup.settings->graphs && m_setup.validator == nullptr);
  thread_context& thread = m_registry.register_thread(nullptr);  // the creating thread is worker 0 whenever it waits
  thread.place = plan.workers.front().place;
  thread.location = plan.workers.front().location;
  make_drivers(plan);
  make_workers(plan);
  if (m_mode.simulated)
    begin_simulation();
  else
    start_threads();
}

place_plan scheduler::make_places() {
  place_plan plan = plan_places(*m_setup.tree, facts_of(*m_setup.coherence), m_setup.settings->workers);
  for (const planned_place& planned : plan.places) {
    m_places.push_back(make_place(planned, *m_setup.tree, m_setup.coherence->space_at(planned.space)));
    m_places.back()->number = static_cast<std::uint32_t>(m_places.size() - 1);
  }
  return plan;
}

void scheduler::make_drivers(const place_plan& plan) {
  transfer::coherence& coherence = *m_setup.coherence;
  for (const auto& e : m_places) {
    m_drivers.add(part_setups::driver(*this), *e);
    if (!e->is_host) e->parallelism = m_drivers.of(*e).compute_streams();
  }
  for (auto& e : m_places) e->parallelism = std::max<std::uint32_t>(e->parallelism, 1);
  m_placer.begin(m_places);
  m_mode = mode_of_run(plan, {.spaces = coherence.space_count(),
                              .validated = m_setup.validator != nullptr,
                              .simulated = m_setup.simulated != nullptr,
                              .wants_uses = coherence.wants_uses(),
                              .learns_times = m_placer.model() != nullptr});
  m_host.begin(m_mode);
  m_player.begin(m_mode.announces_uses);
  for (const memory::space_number number : plan.stores)
    m_drivers.add_store(part_setups::driver(*this), coherence.space_at(number));
  for (const std::string& name : m_setup.settings->detached) {
    const auto where = m_setup.tree->find(name);
    if (!where)
      throw error(error_kind::configuration, fmt::format("there is no location '{}'", name), "runtime.detached");
    m_device_states.begin_detached(*where);
  }
}

void scheduler::make_workers(place_plan& plan) {
  // Worker 0 is the thread that waits; the others are threads, dealt over the CPUs, the second CPU first.
  std::vector<std::vector<std::uint32_t>> cpus;
  cpus.reserve(plan.workers.size());
  for (planned_worker& worker : plan.workers) {
    m_queues.add_core(worker.location, worker.place);
    const auto number = static_cast<std::uint32_t>(cpus.size());
    if (number > 0) m_registry.make_worker(number, worker.place, worker.location);
    cpus.push_back(std::move(worker.cpus));
  }
  m_pool.prepare(std::move(cpus), m_setup.settings->bind && !m_mode.simulated);
}

void scheduler::begin_simulation() {
  m_simulated = std::make_unique<simulated_run>(
      simulated_run::setup{
          .model = m_setup.simulated,
          .threads = &m_threads,
          .registry = &m_registry,
          .placer = &m_placer,
          .places = &m_places,
          .drivers = &m_drivers,
          .window = &m_submissions.window(),
          .queues = &m_queues,
          .pool = &m_pool,
          .run = [this](thread_context& thread, task::record& t) { run(thread, t); },
          .ended =
              [this](thread_context& thread, task::record& t, std::uint64_t began, std::uint64_t ns,
                     const std::shared_ptr<const block::failure>& why) {
                m_host.finish(thread, t, began, ns, why);
                complete(thread, t);
              },
          .resolve_memory_deadlock = [this](thread_context& thread) { return resolve_memory_deadlock(thread); }},
      m_mode.workers);
}

void scheduler::start_threads() {
  try {
    m_pool.start([this](std::uint32_t k) { worker_thread(m_threads[k]); });
    m_drivers.start();
    m_hangs.begin();
  } catch (const std::system_error& e) {
    const std::size_t started = m_pool.threads();
    stop_threads();
    rlimit processes{};
    getrlimit(RLIMIT_NPROC, &processes);
    const std::string limit = processes.rlim_cur == RLIM_INFINITY ? "none" : std::to_string(processes.rlim_cur);
    throw error(error_kind::configuration,
                fmt::format("the system refuses another thread after {} of {} workers were started: {}", started + 1,
                            m_mode.workers, e.code().message()),
                "runtime.workers",
                fmt::format("use fewer workers, or raise the limit of processes (ulimit -u: {}; pids.max of the "
                            "control group), or the address space "
                            "(ulimit -v; each thread takes a stack of ulimit -s)",
                            limit));
  }
}

void scheduler::stop_threads() noexcept {
  m_pool.stop();
  m_drivers.stop();
  m_hangs.end();  // the drivers wait until nothing is busy, which it may have to decide
}

void scheduler::close() noexcept {
  const auto drain = [this] { m_waits.wait(wait_request::quietly(wait_request::end::tasks_and_views)); };
  m_view_requests.end_own();
  drain();
  m_leftovers.let_go();
  m_registry.close();
  drain();  // arrays that ended meanwhile
  for (std::uint32_t k = 0; k < m_threads.size(); ++k)
    while (m_threads[k].releases.load(std::memory_order_acquire))
      std::this_thread::yield();  // the last steps of giving a view back
}

scheduler::~scheduler() {
  close();
  if (m_simulated != nullptr) m_simulated->end();
  stop_threads();
}

void scheduler::worker_thread(thread_context& thread) {
  m_registry.take(thread);
  pthread_setname_np(pthread_self(), fmt::format("tsr-worker{}", thread.number).c_str());
  m_pool.worker_loop(
      host_tasks{*this}, thread, [this] { return m_pool.stopped(); }, 0);
}

void scheduler::commit(thread_context& thread, task::record& t, bool bounded) {
  if (thread.recorder != nullptr && t.operation->special == nullptr) {
    if (!thread.recorder->add(t)) take_back(thread, t);
    return;
  }
  if (m_setup.validator != nullptr && !m_own.is_housekeeping(t) &&
      !m_setup.validator->submitted(t)) {  // its blocks are gone
    if (t.operation->destroy_arguments != nullptr) t.operation->destroy_arguments(t.argument_bytes());
    take_back(thread, t);
    return;
  }
  if ((t.rare & task::rare_group) != 0) [[unlikely]] {
    t.more->group->enter();
    if (m_setup.validator != nullptr) m_setup.validator->entered(*t.more->group);
  }
  const std::uint64_t count = thread.submitted.load(std::memory_order_relaxed) + 1;
  t.sequence = m_submissions.add(thread);
  if (m_submissions.window().counts_bytes()) submission_window::note_submitted_bytes(thread, window_bytes_of(t));
  if (m_mode.announces_uses)
    for (const block::access& a : t.all_accesses())
      thread.announced_uses().note(*a.block, t.sequence, a.intent != intent::read);
  if (task::link(t, *this, m_own.is_housekeeping(t) ? nullptr : thread.events)) {
    // Views and the ends of blocks, where nothing stands in their way: this thread has them at once, and wakes nobody.
    if (m_own.is_view(t) && !m_mode.simulated) {
      host_access::of(t).step.store(host_access::access_step::due, std::memory_order_relaxed);
    } else if (m_own.is_destroy(t) && !m_mode.simulated && thread.in_program()) {
      t.place = 0;
      run(thread, t);
      m_pool.wake_waiters();  // one of them may have counted it
    } else {
      dispatch(thread, t, when_ready::queue);
    }
  }
  if (m_simulated != nullptr) m_simulated->note_submission(thread);

  if (!m_submissions.window().due(count) || !bounded || !thread.in_program() || thread.unbounded != 0) return;
  if (thread.number == 0 && (count & 255) == 0) m_pool.place_this_thread();
  m_waits.keep_to_window(thread);
}

task::record& scheduler::make_reduction(block::record& block, block::accumulation& group) {
  thread_context* thread = nullptr;
  task::record& t =
      begin(group.how == block::addition ? m_own.reduce : m_own.combine, std::source_location::current(), thread);
  reductions::make(t, block, group);
  t.sequence = m_submissions.add(*thread);
  return t;
}

void scheduler::reduction_linked(task::record& reduction, bool ready) {
  if (ready) dispatch(current_thread(), reduction, when_ready::queue);
}

void scheduler::begun(const task::record& t) {
  if (!m_mode.announces_uses) return;
  if ((t.flags & task::flag_replayed) != 0) {
    m_replays.note_begun(const_cast<task::record&>(t));
    return;
  }
  // Whoever submitted it has made the log before.
  if (const auto& log = m_threads[t.owner].uses) log->begin(t.sequence);
}

void scheduler::run_tasks_until(thread_context& thread, const predicate& enough, std::uint32_t look_every) {
  if (enough()) return;
  if (m_simulated != nullptr)
    m_simulated->run_tasks_until(thread, enough);
  else
    m_pool.run_tasks_until(host_tasks{*this}, thread, enough, look_every);
}

void scheduler::cancel(std::string reason, error_kind kind) {
  m_failures.cancel(std::move(reason), kind);
  m_pool.wake_all();
}

}  // namespace tessera::schedule
