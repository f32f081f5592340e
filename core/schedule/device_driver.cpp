#include "core/schedule/device_driver.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "core/operation/tensor.hpp"
#include "core/schedule/trace_points.hpp"
#include "core/schedule/workspace.hpp"
#include "core/validate/validator.hpp"

namespace tessera::schedule {

struct device_driver::flight {
  explicit flight(workspace&& room) : scratch(std::move(room)) {}
  transfer::completion done;
  device_driver* driver = nullptr;
  task::record* t = nullptr;
  std::shared_ptr<const block::failure> why;  ///< it failed while it was being enqueued
  double work = 0;                            ///< floating-point operations
  std::chrono::steady_clock::time_point started;
  std::uint64_t began = 0, enqueued = 0;      ///< while recording
  std::size_t stream = 0;                            ///< of m_compute
  boost::container::small_vector<block::ticket, 4> inputs;  ///< not reached when it was enqueued
  boost::container::small_vector<block::ticket, 4> sources;  ///< the points that make what it reads, each exactly
  bool inputs_seen = true;                           ///< `started` is when the last of them was reached
  history::profile* profile = nullptr;               ///< with `size`: where its time belongs; asked while it has its arguments
  task_size size;
  workspace scratch;
};

device_driver::device_driver(scheduler& owner, executor& where) : m_owner(owner), m_where(where) {
  const bool computes = where.device->description().device_class != TSR_DEVICE_STORAGE;
  const std::uint32_t limit = where.device->description().max_streams;
  const std::uint32_t wanted = limit == 0 ? 2 : std::min<std::uint32_t>(2, std::max<std::uint32_t>(1, limit > 2 ? limit - 2 : 1));
  for (std::uint32_t k = 0; computes && k < wanted; ++k)
    m_compute.push_back(&owner.m_setup.coherence->streams().create(*where.device, TSR_STREAM_COMPUTE));
  m_depth = 4 * m_compute.size();
  m_last_landing.resize(m_compute.size());
  m_on_stream = std::make_unique<std::atomic<std::size_t>[]>(m_compute.size());
  const auto wake_me = [](void* self) { static_cast<device_driver*>(self)->wake(); };
  for (transfer::stream* s : m_compute) s->set_wake(wake_me, this);
  auto& copies = owner.m_setup.coherence->copies_of(where.device->index());
  copies.in->set_wake(wake_me, this);
  copies.out->set_wake(wake_me, this);
  where.device->watch_loss([](void* self) { static_cast<device_driver*>(self)->nudge(); }, this);
}

device_driver::~device_driver() {
  stop();
  m_where.device->unwatch_loss(this);
  auto& copies = m_owner.m_setup.coherence->copies_of(m_where.device->index());
  copies.in->finish_wakes();
  copies.out->finish_wakes();
  for (transfer::stream* s : m_compute) s->finish_wakes();
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
  bool any = m_owner.m_setup.coherence->poll(m_where.device->index());
  note_inputs();
  for (transfer::stream* s : m_compute) any = s->poll() || any;
  return any;
}

void device_driver::note_inputs() {
  const std::lock_guard guard(m_watched_lock);
  const transfer::stream_table& streams = m_owner.m_setup.coherence->streams();
  std::erase_if(m_watched, [&](flight* f) {
    if (!std::ranges::all_of(f->inputs, [&](block::ticket w) { return streams.reached(w); })) return false;
    f->started = m_owner.now();
    f->inputs_seen = true;
    return true;
  });
}

bool device_driver::anything_busy() const {
  auto& copies = m_owner.m_setup.coherence->copies_of(m_where.device->index());
  return copies.in->busy() || copies.out->busy() ||
         std::ranges::any_of(m_compute, [](const transfer::stream* s) { return s->busy(); });
}

bool device_driver::start_next() {
  if (m_in_flight.load(std::memory_order_relaxed) >= m_depth) return false;
  task::record* t = next_task();
  if (t == nullptr) return false;
  if (m_owner.m_history == nullptr || !m_owner.place_again(*m_lane, *t)) start_task(*t);
  return true;
}

std::uint64_t device_driver::youngest_startable() const {
  const std::lock_guard guard(m_hungry_lock);
  if (m_hungry.empty()) return ~std::uint64_t{0};
  const bool full = m_in_flight.load(std::memory_order_relaxed) + m_hungry.size() >= m_depth;
  return full || m_passed >= most_passed * m_depth ? m_hungry.back() : ~std::uint64_t{0};
}

task::record* device_driver::next_task() {
  task::record* const t = m_where.urgent.pop(youngest_startable());
  if (t == nullptr) return nullptr;
  const std::lock_guard guard(m_hungry_lock);
  if (!m_hungry.empty() && t->sequence > m_hungry.back()) ++m_passed;
  return t;
}

void device_driver::begin_wait(const task::record& t) {
  const std::lock_guard guard(m_hungry_lock);
  m_hungry.insert(std::ranges::lower_bound(m_hungry, t.sequence, std::greater<>()), t.sequence);
}

void device_driver::note_acquired(const task::record& t) {
  const std::lock_guard guard(m_hungry_lock);
  if (m_hungry.empty() || t.sequence <= m_hungry.back()) m_passed = 0;  // the oldest of those that waited has what it needs
}

void device_driver::end_wait(const task::record& t) {
  {
    const std::lock_guard guard(m_hungry_lock);
    m_hungry.erase(std::ranges::find(m_hungry, t.sequence));
  }
  wake();  // what it held back may be tried now, even when nobody queues the task again
}

lane& device_driver::play() {
  const std::lock_guard guard(m_owner.m_lane_mutex);
  m_lane = &m_owner.make_lane(&m_where);
  return *m_lane;
}

void device_driver::loop() {
  pthread_setname_np(pthread_self(), fmt::format("tsr-{}", m_where.name).substr(0, 15).c_str());
  m_lane = &m_owner.register_lane(&m_where);
  const plugin::device& device = *m_where.device;
  if (device.table().thread_attach != nullptr) device.table().thread_attach(device.handle());
  const bool calls_back = device.has(TSR_DEVICE_CALLBACK) && device.table().stream_callback != nullptr;

  while (!m_stop.load(std::memory_order_relaxed)) {
    m_handling.store(true);
    bool any = poll_all();
    const bool takes_tasks = m_where.state.load() == executor_state::attached && !device.lost();
    if (device.lost()) any = go_on_without() || any;
    else if (!takes_tasks) any = step_aside() || any;
    while (takes_tasks && !device.lost() && start_next()) any = true;
    m_handling.store(false);
    if (any) continue;
    if (m_owner.m_waiting.load() != 0) m_owner.m_work.notify_all();

    const std::uint32_t key = m_events.prepare();
    const bool room = m_in_flight.load() < m_depth;
    if (m_stop.load() || (room && m_where.urgent.has(youngest_startable())) || m_nudged.exchange(false) || poll_all()) {
      m_events.cancel();
    } else if (anything_busy() && !calls_back) {
      m_events.cancel();
      // The plugin cannot call: wait for it in short turns, so that new tasks are seen too.
      for (transfer::stream* s : m_compute)
        if (s->busy()) s->wait_until_idle(50000);
      auto& copies = m_owner.m_setup.coherence->copies_of(device.index());
      for (transfer::stream* s : {copies.in, copies.out})
        if (s->busy()) s->wait_until_idle(50000);
    } else {
      if (m_in_flight.load() == 0 && takes_tasks && m_owner.m_history != nullptr) m_owner.note_idle(m_where);
      m_events.wait(key);
    }
  }
  while (anything_busy()) {
    poll_all();
    std::this_thread::yield();
  }
  if (device.table().thread_detach != nullptr) device.table().thread_detach(device.handle());
}

/// The one with the fewest tasks, in turn among equals: tasks differ in length. Where the device's clock is virtual, strictly in turn, since
/// when the driver hears of ends depends on the real one.
std::size_t device_driver::next_stream() {
  const std::size_t count = m_compute.size();
  std::size_t best = m_next_stream++ % count;
  if (m_where.device->has(TSR_DEVICE_VIRTUAL_CLOCK) && m_owner.m_setup.simulated == nullptr) return best;
  for (std::size_t k = 1; k < count; ++k)
    if (const std::size_t other = (best + k) % count; m_on_stream[other].load(std::memory_order_relaxed) < m_on_stream[best].load(std::memory_order_relaxed))
      best = other;
  return best;
}

void device_driver::start_task(task::record& t) {
  scheduler& s = m_owner;
  if (s.cancelled()) {
    s.run(*m_lane, t);  // drops it
    return;
  }
  if ((t.flags & task::flag_accumulates) != 0 && (t.flags & task::flag_prepared) == 0) s.prepare(t, m_where);
  if ((t.flags & task::flag_acquired) != 0) {  // resumed: only host-side waits were missing
    if (!s.still_good(*m_lane, t)) return;
    if ((t.flags & task::flag_acquired) != 0) {
      workspace scratch;
      if (take_workspace(t, scratch)) {
        enqueue_task(t, next_stream(), {}, {}, std::move(scratch));
        return;
      }
      s.m_setup.coherence->finish(t.all_accesses());  // who waits for memory holds none
      t.flags &= static_cast<std::uint8_t>(~task::flag_acquired);
    }
  }
  workspace scratch;
  if (!take_workspace(t, scratch)) {
    wait_for_workspace(t, scratch.wanted, scratch.seen);
    return;
  }
  transfer::acquisition& a = m_lane->acquisition;
  const std::size_t stream = next_stream();
  transfer::stream& on = *m_compute[stream];
  for (;;) {
    s.m_setup.coherence->acquire(t.all_accesses(), m_where.space, a, t.sequence);
    if (a.what == transfer::outcome::retry && a.waits.empty()) continue;
    break;
  }
  switch (a.what) {
    case transfer::outcome::ready: {
      t.flags |= task::flag_acquired;
      s.note_begun(t);
      note_acquired(t);
      s.m_setup.coherence->relieve(m_where.space, t.sequence);
      transfer::stream_table& streams = s.m_setup.coherence->streams();
      // Work on contents that never came cannot be taken back, but a copy can be tried again: where copies fail, they are
      // waited for here.
      const bool careful = a.copying && !a.waits.empty() && (s.m_setup.settings->checked_copies || s.m_setup.coherence->troubles().any());
      const bool host_must_wait = careful || std::ranges::any_of(
          a.waits, [&](block::ticket w) { return !on.can_wait_for(streams.at(w.stream)); });
      if (host_must_wait) {
        s.park(t, a.waits);
        return;
      }
      try {
        const std::lock_guard guard(on.enqueue_lock());
        for (const block::ticket w : a.waits) on.wait(streams.at(w.stream), w);
      } catch (const error& e) {
        if (m_where.device->lost()) {
          m_where.urgent.push(t);  // as it is, to be placed elsewhere
          return;
        }
        s.m_setup.coherence->finish(t.all_accesses());
        s.fail_unstarted(*m_lane, t, s.note_failure(t, {e.message(), "", e.kind()}));
        return;
      }
      if (m_lane->events != nullptr) trace_waits(*m_lane->events, t, a.waits);
      enqueue_task(t, stream, a.waits, a.sources, std::move(scratch));
      return;
    }
    case transfer::outcome::retry: s.park(t, a.waits); return;
    case transfer::outcome::lost: m_where.urgent.push(t); return;  // the next round finds the device lost
    case transfer::outcome::failed:
      s.fail_unstarted(*m_lane, t, a.cause->where.empty() ? s.note_failure(t, *a.cause) : a.cause);
      return;
    case transfer::outcome::no_memory: {
      const std::uint64_t seen = a.memory_events;
      const memory::space_number lacking = a.lacking;
      const std::uint64_t own = lacking == m_where.space ? scratch.bytes : 0;  // needed again with what is missing
      scratch.give_back();
      if (own > 0 && !fits(t, own)) {
        wait_for_workspace(t, own, 0);  // fails it
        return;
      }
      s.m_setup.coherence->make_room(lacking, a.missing_bytes + own, t.sequence);
      if (s.m_setup.coherence->space_at(lacking).events() != seen) {
        m_where.urgent.push(t);  // freed at once: try again in order of age
        return;
      }
      s.park_for_memory(t, m_where, a);
      return;
    }
  }
}

void device_driver::enqueue_task(task::record& t, std::size_t stream, std::span<const block::ticket> inputs,
                                 std::span<const block::ticket> sources, workspace&& scratch) {
  scheduler& s = m_owner;
  transfer::stream& on = *m_compute[stream];
  auto fresh = std::make_unique<flight>(std::move(scratch));
  fresh->driver = this;
  fresh->t = &t;
  fresh->stream = stream;
  if (s.m_history != nullptr) fresh->size = s.look_up(t, fresh->profile);
  for (const block::ticket w : inputs)
    if (!s.m_setup.coherence->streams().reached(w)) fresh->inputs.push_back(w);
  fresh->sources.assign(sources.begin(), sources.end());
  fresh->started = s.now();
  if (m_lane->events != nullptr) fresh->began = m_lane->events->now();
  const auto accesses = t.all_accesses();
  block::ticket done;
  std::unique_ptr<validate::lent> lent;
  {
    const std::lock_guard guard(on.enqueue_lock());
    try {
      s.gather_operands(*m_lane, t);
      operation::context c;
      c.operands = m_lane->operands;
      c.arguments = t.argument_bytes();
      c.argument_bytes = t.argument_size;
      c.data = t.what->data.get();
      c.forms = t.what->forms.get();
      c.device = m_where.device;
      c.stream = on.handle();
      c.workspace = fresh->scratch.given();
      c.memory_epoch = s.m_setup.coherence->space_at(m_where.space).epoch();
      c.task_name = t.what->name;
      for (std::size_t k = 0; k < accesses.size(); ++k)
        if ((accesses[k].flags & task::access_fresh) != 0) operation::enqueue_zero(*c.device, c.stream, c.operands[k]);
      if (s.m_validator != nullptr) s.m_validator->begin_on_device(lent, t, c.operands, on, s.m_setup.coherence->space_at(m_where.space));
      t.what->enqueue(c);
      if (lent) s.m_validator->enqueued_on_device(*lent, on, s.m_setup.coherence->space_at(m_where.space));
    } catch (const error& e) {
      if (!m_where.device->lost())
        fresh->why = s.note_failure(t, {fmt::format("{} on {} failed: {}", t.what->name, m_where.name, e.message()), "",
                                        e.kind()});
    } catch (const std::exception& e) {
      fresh->why = s.note_failure(t, {fmt::format("{} on {} failed: {}", t.what->name, m_where.name, e.what()), "",
                                      error_kind::task});
    }
    try {
      done = on.signal();
    } catch (const error& e) {
      if (!fresh->why && !m_where.device->lost())
        fresh->why = s.note_failure(t, {fmt::format("{} on {}: {}", t.what->name, m_where.name, e.message()), "", e.kind()});
    }
  }
  if (lent) s.m_validator->end_on_device(std::move(lent), on, done, fresh->why != nullptr || !done);
  if (!done && m_where.device->lost()) {  // what it has begun there matters to nobody
    m_where.urgent.push(t);
    return;
  }
  if (t.what->work != nullptr) fresh->work = t.what->work(t.argument_bytes(), accesses);  // its arguments may be gone later
  if (m_lane->events != nullptr) fresh->enqueued = m_lane->events->now();
  const std::uint32_t number = t.what->number;
  operation_counters::add(m_lane->counters.of(number).tasks, 1);

  s.m_setup.coherence->publish(accesses, done);
  if (fresh->why) s.m_setup.coherence->poison(accesses, fresh->why);  // successors are released below and must see it
  if ((t.flags & task::flag_accumulates) != 0) s.give_copies_back(t);
  m_in_flight.fetch_add(1);
  m_on_stream[stream].fetch_add(1, std::memory_order_relaxed);
  if (s.m_history != nullptr && !fresh->inputs.empty()) {
    fresh->inputs_seen = false;
    const std::lock_guard guard(m_watched_lock);
    m_watched.push_back(fresh.get());
  }
  flight* const f = fresh.release();
  f->done.at = done;
  f->done.fire = [](transfer::completion* self, tsr_status status) {
    auto* landing = reinterpret_cast<flight*>(self);  // `done` is its first member
    landing->driver->landed(*landing, status);
  };
  f->done.describe = [](const transfer::completion* self) {
    const auto* flying = reinterpret_cast<const flight*>(self);
    return transfer::pending_work{flying->driver->m_owner.describe(*flying->t), {flying->inputs.begin(), flying->inputs.end()}};
  };
  // Successors start now: on this device they wait for the ticket, elsewhere for the copy that follows it. The task
  // itself stays pinned and unretired until its ticket is reached.
  s.release(*m_lane, t, false);
  if (done) on.on_completion(f->done);
  else landed(*f, TSR_OK);
}

/// It was enqueued on data whose maker failed later: why, or null.
std::shared_ptr<const block::failure> device_driver::spoiled(const flight& f) {
  scheduler& s = m_owner;
  std::shared_ptr<const block::failure> why;
  if (s.poisoned(f.t->all_accesses(), why)) return why;
  transfer::stream_table& streams = s.m_setup.coherence->streams();
  for (const block::ticket source : f.sources) {
    if (!streams.passed_with_failure(source)) continue;
    std::string text;
    for (const block::access& a : f.t->all_accesses())
      if (const std::string its = needs_contents(a.how) ? s.m_setup.coherence->troubles().about(*a.block, m_where.space) : ""; !its.empty())
        text += (text.empty() ? "" : "; ") + its;
    const std::string details = streams.at(source.stream).details_at(source.value);
    if (text.empty()) text = fmt::format("what it reads did not come{}{}", details.empty() ? "" : ": ", details);
    return s.note_failure(*f.t, {fmt::format("{} on {} failed: {}", f.t->what->name, m_where.name, text), "", error_kind::device});
  }
  return nullptr;
}

void device_driver::landed(flight& f, tsr_status status) {
  const std::unique_ptr<flight> owned(&f);
  scheduler& s = m_owner;
  if (s.m_history != nullptr && !f.inputs.empty()) {
    const std::lock_guard guard(m_watched_lock);
    std::erase(m_watched, &f);
  }
  lane& mine = s.current_lane();
  task::record& t = *f.t;
  if (status == TSR_DEVICE_LOST && !f.why && m_where.device->lost()) f.why = s.note_loss(t, m_where);
  if (status != TSR_OK && !f.why) {
    const std::string details = f.done.at ? m_compute[f.stream]->details_at(f.done.at.value) : std::string();
    const bool device = status == TSR_DEVICE_LOST || status == TSR_DEADLINE_EXCEEDED;
    f.why = s.note_failure(t, {fmt::format("{} on {} failed: {}{}{}", t.what->name, m_where.name, plugin::name_of(status),
                                           details.empty() ? "" : ": ", details),
                               "", device ? error_kind::device : error_kind::task});
  }
  if (!f.why) f.why = spoiled(f);
  if (mine.events != nullptr)
    trace_landing(*mine.events, t, f.began, f.enqueued, f.done.at, f.why ? trace::run_failed : 0);
  if (&mine == m_lane) {
    // The time since its inputs were there, or since the one before it on its stream landed: in a full pipeline that is
    // its own.
    const auto now = s.now();
    auto& last = m_last_landing[f.stream];
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now - std::max(f.started, last)).count();
    const bool exact = f.inputs_seen;  // else the wait for its inputs is in it
    last = now;
    operation_counters::add(m_lane->counters.of(t.what->number).nanoseconds, static_cast<std::uint64_t>(ns));
    m_where.learn(f.work, static_cast<double>(ns));
    if (f.profile != nullptr && !f.why) s.learn(*f.profile, f.size, m_where, static_cast<double>(ns), exact);
  }
  const std::uint64_t bytes = s.window_bytes_of(t);  // while the blocks are still pinned
  s.m_setup.coherence->finish(t.all_accesses(), f.why, f.done.at);
  f.scratch.release();
  if ((t.flags & task::flag_reduction) != 0) s.end_group(t);
  s.retire(mine, t, bytes);
  m_on_stream[f.stream].fetch_sub(1, std::memory_order_relaxed);
  m_in_flight.fetch_sub(1);
  if (s.m_waiting.load() != 0) s.m_work.notify_all();
}

}  // namespace tessera::schedule
