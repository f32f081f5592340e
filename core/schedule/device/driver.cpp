#include "core/schedule/device/driver.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>

#include "core/schedule/device/in_flight.hpp"
#include "core/schedule/trace_points.hpp"

namespace tessera::schedule {
namespace {

/// The pauses between two looks at streams whose plugin does not call: short after something has happened, longer while
/// nothing does, so that neither work waits long nor a processor is kept busy. New tasks wait as long.
class turns {
 public:
  turns() { prctl(PR_SET_TIMERSLACK, 1000); }
  void begin() noexcept { m_next = shortest; }
  void wait() {
    std::this_thread::sleep_for(m_next);
    m_next = std::min(m_next * 3 / 2, longest);
  }

 private:
  static constexpr std::chrono::nanoseconds shortest{10'000}, longest{200'000};
  std::chrono::nanoseconds m_next = shortest;
};

std::vector<transfer::stream*> make_compute_streams(transfer::coherence& coherence, const plugin::device& device) {
  std::vector<transfer::stream*> streams;
  if (device.description().device_class == TSR_DEVICE_STORAGE) return streams;
  const std::uint32_t wanted = transfer::share_of(device).computing;
  for (std::uint32_t k = 0; k < wanted; ++k) streams.push_back(&coherence.streams().create(device, TSR_STREAM_COMPUTE));
  if (wanted == 0) streams.push_back(coherence.copies_of(device.index()).in);
  return streams;
}

/// Results do not depend on what happens to be ready where they are to be the same in every run; validation looks at
/// every task by itself.
batch_bounds bounds_of(const driver_setup& setup, const placement::place& where, std::size_t streams) {
  const bool batches = !setup.settings->deterministic && setup.validator == nullptr && streams != 0;
  return {.tasks = batches ? static_cast<std::size_t>(setup.settings->batch) : 1,
          .operations_per_second = where.device->description().peak_f64,
          .memory = setup.coherence->space_at(where.space).limit(),
          .streams = std::max<std::size_t>(streams, 1)};
}

/// How long a driver looks for the end of work before it sleeps: not at all where no processor can be spared, or time
/// does not pass.
std::chrono::nanoseconds look_time(const driver_setup& setup, const plugin::device& device) {
  constexpr unsigned enough = 8;
  const bool looks = setup.simulated == nullptr && !device.has(TSR_DEVICE_VIRTUAL_CLOCK) &&
                     std::thread::hardware_concurrency() >= enough;
  return std::chrono::nanoseconds(looks ? setup.settings->spin_ns : 0);
}

constexpr std::size_t tasks_per_stream = 4, overtakes_per_task = 16;

}  // namespace

device_driver::device_driver(const driver_setup& setup, placement::place& where)
    : m_setup(setup),
      m_owner(*setup.owner),
      m_where(where),
      // In turn where the device's clock is virtual: when the driver hears of ends depends on the real one.
      m_compute(make_compute_streams(*setup.coherence, *where.device),
                where.device->has(TSR_DEVICE_VIRTUAL_CLOCK) && setup.simulated == nullptr),
      m_admission(tasks_per_stream * m_compute.count()),
      m_times(m_compute.count()),
      m_look_time(look_time(setup, *where.device)),
      m_departure({.owner = setup.owner,
                   .coherence = setup.coherence,
                   .where = &where,
                   .look_again = [this] { state_changed(); }}),
      m_memory_waiters(m_admission.depth(), overtakes_per_task * m_admission.depth()),
      m_workspaces(*where.device, setup.coherence->space_at(where.space)),
      m_picker(*where.device, where.ready_queue(), bounds_of(setup, where, m_compute.count())) {
  const auto wake_me = [](void* self) { static_cast<device_driver*>(self)->wake(); };
  for (transfer::stream* s : m_compute.all()) s->set_wake(wake_me, this);
  auto& copies = m_setup.coherence->copies_of(where.device->index());
  copies.in->set_wake(wake_me, this);
  copies.out->set_wake(wake_me, this);
  where.device->watch_loss([](void* self) { static_cast<device_driver*>(self)->state_changed(); }, this);
}

device_driver::~device_driver() {
  stop();
  m_where.device->unwatch_loss(this);
  auto& copies = m_setup.coherence->copies_of(m_where.device->index());
  copies.in->finish_wakes();
  copies.out->finish_wakes();
  for (transfer::stream* s : m_compute.all()) s->finish_wakes();
}

void device_driver::start() {
  m_thread = std::thread([this] { loop(); });
}

void device_driver::stop() {
  if (!m_thread.joinable()) return;
  m_stop.store(true);
  m_events.notify_all();
  m_thread.join();
}

bool device_driver::poll_all() {
  const bool any = m_setup.coherence->poll(m_where.device->index());
  note_inputs();
  return m_compute.poll() || any;
}

void device_driver::note_inputs() {
  const transfer::stream_table& streams = m_setup.coherence->streams();
  m_under_way.for_each([&](in_flight_batch& f) {
    if (f.inputs_seen) return;
    if (!std::ranges::all_of(f.inputs, [&](block::ticket w) { return streams.reached(w); })) return;
    f.started = m_setup.now();
    f.inputs_seen = true;
  });
}

bool device_driver::anything_busy() const {
  auto& copies = m_setup.coherence->copies_of(m_where.device->index());
  return copies.in->busy() || copies.out->busy() || m_compute.busy();
}

bool device_driver::must_ask() const {
  auto& copies = m_setup.coherence->copies_of(m_where.device->index());
  return copies.in->must_be_asked() || copies.out->must_be_asked() || m_compute.must_be_asked();
}

std::size_t device_driver::start_next() {
  if (m_admission.full()) return 0;
  // Tasks that wait for their copies hold memory: they go first.
  task::record* t = m_admission.any_resumed() ? m_where.ready_queue().pop_acquired() : nullptr;
  if (t == nullptr && m_admission.takes_fresh()) t = next_task();
  if (t == nullptr) return 0;
  if (m_setup.placer->model() != nullptr && m_owner.place_again(*m_context, *t)) return 1;
  const std::size_t joined = start_task(*t);
  m_picker.put_back(0);
  return 1 + joined;
}

bool device_driver::startable() const {
  if (m_admission.full()) return false;
  return m_admission.any_resumed() || (m_admission.takes_fresh() && m_where.ready_queue().has(age_limit()));
}

void device_driver::note_started(const task::record& t) noexcept {
  if ((t.flags & task::flag_acquired) != 0) m_admission.end_await();
}

task::record* device_driver::next_task() {
  task::record* const t = m_where.ready_queue().pop(age_limit());
  if (t != nullptr) m_memory_waiters.note_tried(t->sequence);
  return t;
}

void device_driver::end_wait(const task::record& t) {
  m_memory_waiters.remove(t.sequence);
  wake();  // what it held back may be tried now, even when nobody queues the task again
}

thread_context& device_driver::play() {
  m_context = &m_owner.begin_driver(m_where, true);
  return *m_context;
}

void device_driver::loop() {
  pthread_setname_np(pthread_self(), fmt::format("tsr-{}", m_where.name).substr(0, 15).c_str());
  m_context = &m_owner.begin_driver(m_where, false);
  const plugin::device& device = *m_where.device;
  turns asking;

  while (!m_stop.load(std::memory_order_relaxed)) {
    m_handling.store(true);
    bool any = poll_all();
    const bool takes_tasks = m_where.state.load() == placement::place_state::attached && !device.lost();
    if (device.lost())
      any = handle_device_loss() || any;
    else if (!takes_tasks)
      any = step_aside() || any;
    while (takes_tasks && !device.lost() && start_next()) any = true;
    m_handling.store(false);
    if (any) {
      asking.begin();
      continue;
    }
    m_owner.nothing_to_do();
    if (look_on()) continue;

    const std::uint32_t key = m_events.prepare();
    if (m_stop.load() || startable() || m_state_changed.exchange(false) || poll_all()) {
      m_events.cancel();
    } else if (must_ask()) {
      m_events.cancel();
      asking.wait();
    } else {
      if (m_admission.enqueued() == 0 && takes_tasks && m_setup.placer->model() != nullptr)
        m_setup.placer->note_idle(m_where);
      m_events.wait(key);
    }
  }
  while (anything_busy()) {
    poll_all();
    std::this_thread::yield();
  }
}

/// Looks for the end of work that is under way before it sleeps: being woken takes longer than most tasks of a device.
/// Returns whether there is something to do.
bool device_driver::look_on() {
  if (m_look_time.count() == 0 || !anything_busy() || must_ask()) return false;
  const auto until = std::chrono::steady_clock::now() + m_look_time;
  do {
    if (m_stop.load(std::memory_order_relaxed) || startable() || m_state_changed.exchange(false) || poll_all())
      return true;
    std::this_thread::yield();
  } while (std::chrono::steady_clock::now() < until);
  return false;
}

/// Returns how many others were enqueued with it.
std::size_t device_driver::start_task(task::record& t) {
  note_started(t);
  const std::unique_ptr<task_workspace> kept = m_workspaces.kept(t);
  if (m_setup.failures->cancelled()) {
    m_owner.drop(*m_context, t);
    return 0;
  }
  constexpr int uses_copies = task::flag_accumulates | task::flag_reduction;
  if ((t.flags & uses_copies) != 0 && (t.flags & task::flag_prepared) == 0) m_owner.give_copies(t, m_where);
  if ((t.flags & task::flag_acquired) != 0) {  // resumed: only host-side waits were missing
    if (!still_good(*m_setup.coherence, m_owner, *m_context, t)) return 0;
    if ((t.flags & task::flag_acquired) != 0) {
      task_workspace taken;
      task_workspace& scratch = kept != nullptr ? *kept : taken;
      if (kept != nullptr || m_workspaces.take(t, scratch)) {
        join_resumed(t, scratch);
        const std::size_t joined = m_joined.size();
        enqueue_batch(t, m_compute.next(), {}, {}, std::move(scratch));
        return joined;
      }
      m_setup.coherence->finish(t.all_accesses());  // who waits for memory holds none
      t.flags &= static_cast<std::uint8_t>(~task::flag_acquired);
    }
  }
  task_workspace scratch;
  pick_others(t);
  if (!m_picker.others().empty()) take_common_workspace(t, scratch);
  transfer::acquisition& a = m_context->acquisition;
  a.scratch_bytes = m_picker.others().empty() ? m_workspaces.bytes_of(t) : 0;
  do m_setup.coherence->acquire(t.all_accesses(), m_where.space, a, t.sequence);
  while (a.outcome == transfer::outcome::retry && a.waits.empty());
  scratch.adopt(a, m_setup.coherence->space_at(m_where.space));
  switch (a.outcome) {
    case transfer::outcome::ready:
      return start_acquired(t, a, std::move(scratch));
    case transfer::outcome::retry:
      m_owner.wait_for_points(t, a.waits);
      return 0;
    case transfer::outcome::lost:
      m_where.ready_queue().push(t);
      return 0;  // the next round finds the device lost
    case transfer::outcome::failed:
      m_owner.fail(*m_context, t, a.cause->where.empty() ? m_setup.failures->note(t, *a.cause) : a.cause);
      return 0;
    case transfer::outcome::no_memory:
      return start_without_memory(t, a, std::move(scratch));
  }
  return 0;
}

/// Work on contents that never came cannot be taken back, but a copy can be tried again: it is waited for by the host.
bool device_driver::waits_for_copies(const transfer::acquisition& got) const {
  return got.copying && !got.waits.empty() &&
         (m_setup.settings->checked_copies || m_setup.coherence->failed_copies().any());
}

/// Its blocks are here, or on their way here.
std::size_t device_driver::start_acquired(task::record& t, transfer::acquisition& a, task_workspace&& scratch) {
  transfer::coherence& coherence = *m_setup.coherence;
  const std::size_t stream = m_compute.next();
  transfer::stream& on = m_compute[stream];
  t.flags |= task::flag_acquired;
  m_owner.begun(t);
  m_memory_waiters.note_served(t.sequence);
  coherence.relieve(m_where.space, t.sequence);
  transfer::stream_table& streams = coherence.streams();
  const bool host_must_wait = waits_for_copies(a) || std::ranges::any_of(a.waits, [&](block::ticket w) {
                                return !on.can_wait_for(streams.at(w.stream));
                              });
  if (host_must_wait) {
    m_workspaces.keep(t, std::move(scratch));
    m_admission.begin_await(m_picker.most_like(t), m_compute.count());
    m_owner.wait_for_points(t, a.waits);
    return 0;
  }
  try {
    const std::lock_guard guard(on.enqueue_lock());
    for (const block::ticket w : a.waits) on.wait(streams.at(w.stream), w);
  } catch (const error& e) {
    if (m_where.device->lost()) {
      m_admission.put_back(1);
      m_where.ready_queue().push(t);  // as it is, to be placed elsewhere
      return 0;
    }
    coherence.finish(t.all_accesses());
    m_owner.fail(*m_context, t, m_setup.failures->note(t, {e.message(), "", e.kind()}));
    return 0;
  }
  if (m_context->events != nullptr) trace_waits(*m_context->events, t, a.waits);
  if (!m_picker.others().empty()) acquire_others(a.waits, on);
  const std::size_t joined = m_joined.size();
  enqueue_batch(t, stream, a.waits, a.sources, std::move(scratch));
  return joined;
}

/// Memory for its blocks is missing, here or on the way.
std::size_t device_driver::start_without_memory(task::record& t, transfer::acquisition& a, task_workspace&& scratch) {
  if (!m_picker.others().empty()) {  // their workspace may be what is missing
    m_picker.put_back(0);
    m_picker.skip_once();
    scratch.give_back();
    return start_task(t);
  }
  transfer::coherence& coherence = *m_setup.coherence;
  const std::uint64_t seen = a.memory_events;
  const memory::space_number lacking = a.lacking;
  if (a.scratch_bytes > 0 && lacking == m_where.space && !m_workspaces.fits(t, a.scratch_bytes)) {
    m_owner.fail(*m_context, t, m_setup.failures->note(t, m_workspaces.why_never(t, a.scratch_bytes)));
    return 0;
  }
  coherence.make_room(lacking, a.missing, t.sequence);
  if (coherence.space_at(lacking).waiters().events() != seen) {
    m_where.ready_queue().push(t);  // freed at once: try again in order of age
    return 0;
  }
  m_owner.wait_for_memory(t, m_where, a);
  return 0;
}

bool device_driver::step_aside() {
  bool any = false;
  while (task::record* t = m_where.ready_queue().pop()) {
    any = true;
    if ((t->flags & task::flag_acquired) != 0) {  // its blocks are here
      if (m_admission.full()) {
        m_where.ready_queue().push(*t);
        break;
      }
      start_task(*t);
      m_picker.put_back(0);
      continue;
    }
    if (m_owner.place_elsewhere(*m_context, *t, m_where)) continue;
    const std::string name = describe(*t);
    m_where.ready_queue().push(*t);
    m_departure.refuse(
        {error_kind::usage,
         fmt::format("{} cannot be detached: {} waits there, and nothing else can run it", m_where.name, name),
         {},
         "wait for it with a fence first"});
    return true;
  }
  if (m_where.state.load() == placement::place_state::draining && m_admission.enqueued() == 0)
    any = m_departure.empty_memory() || any;
  return any;
}

}  // namespace tessera::schedule
