// The part of a device driver that enqueues tasks whose blocks are there, and ends them when the device is done.
#include <fmt/format.h>

#include <algorithm>

#include "core/operation/tensor.hpp"
#include "core/schedule/device/driver_table.hpp"
#include "core/schedule/device/in_flight.hpp"
#include "core/schedule/operands.hpp"
#include "core/schedule/outcome.hpp"
#include "core/schedule/trace_points.hpp"
#include "core/validate/validator.hpp"

namespace tessera::schedule {

operation::context device_driver::context_of(task::record& t, const in_flight_batch& f, transfer::stream& on) const {
  operation::context c;
  c.arguments = t.argument_bytes();
  c.argument_bytes = t.argument_size;
  c.data = t.operation->data.get();
  c.kernels = t.operation->kernels.get();
  c.device = m_where.device;
  c.stream = on.handle();
  c.workspace = f.scratch.for_call();
  c.memory_epoch = m_setup.coherence->space_at(m_where.space).epoch();
  c.task_name = t.operation->name;
  c.caller_names_task = true;  // see why_not_enqueued
  return c;
}

std::shared_ptr<const block::failure> device_driver::why_not_enqueued(const task::record& t, std::string_view what,
                                                                      error_kind kind) {
  return m_setup.failures->note(t,
                                {fmt::format("{} on {} failed: {}", t.operation->name, m_where.name, what), "", kind});
}

/// With the stream's lock.
void device_driver::enqueue_alone(batched_task& m, const in_flight_batch& f, transfer::stream& on,
                                  std::unique_ptr<validate::shadow_copies>& shadows) {
  task::record& t = *m.t;
  const std::optional<thrown> caught = thrown_by([&] {
    m_context->operands.clear();
    add_operands(*m_setup.coherence, t.all_accesses(), m_context->operands);
    operation::context c = context_of(t, f, on);
    c.operands = m_context->operands;
    const auto accesses = t.all_accesses();
    for (std::size_t k = 0; k < accesses.size(); ++k)
      if ((accesses[k].flags & task::access_fresh) != 0)
        operation::enqueue_identity(*c.device, c.stream, c.operands[k],
                                    static_cast<block::combination_number>(accesses[k].block->position));
    if (m_setup.validator != nullptr)
      m_setup.validator->begin_on_device(shadows, t, c.operands, on, m_setup.coherence->space_at(m_where.space));
    t.operation->enqueue(c);
    if (shadows) m_setup.validator->enqueued_on_device(*shadows, on, m_setup.coherence->space_at(m_where.space));
  });
  if (caught && !(caught->is_error && m_where.device->lost())) m.why = why_not_enqueued(t, caught->text, caught->kind);
}

/// The task and those of m_joined, which are acquired.
void device_driver::enqueue_batch(task::record& t, std::size_t stream, std::span<const block::ticket> inputs,
                                  std::span<const block::ticket> sources, task_workspace&& scratch) {
  transfer::stream& on = m_compute[stream];
  auto fresh = std::make_unique<in_flight_batch>(std::move(scratch));
  fresh->driver = this;
  fresh->tasks.push_back({&t, nullptr, sources.size()});
  fresh->stream = stream;
  if (m_setup.placer->model() != nullptr) fresh->size = m_setup.placer->look_up(t, fresh->profile);
  for (const block::ticket w : inputs)
    if (!m_setup.coherence->streams().reached(w)) fresh->inputs.push_back(w);
  fresh->sources.assign(sources.begin(), sources.end());
  for (batched_task& one : m_joined) {
    one.sources_end += sources.size();
    fresh->tasks.push_back(std::move(one));
  }
  fresh->sources.insert(fresh->sources.end(), m_joined_sources.begin(), m_joined_sources.end());
  m_joined.clear();
  m_joined_sources.clear();
  const std::size_t count = fresh->tasks.size();
  fresh->started = m_setup.now();
  if (m_context->events != nullptr) fresh->began = m_context->events->now();
  block::ticket done;
  std::unique_ptr<validate::shadow_copies> shadows;
  {
    const std::lock_guard guard(on.enqueue_lock());
    if (count == 1 || !enqueue_together(*fresh, on))
      for (batched_task& m : fresh->tasks) enqueue_alone(m, *fresh, on, shadows);
    try {
      done = on.signal({fresh->sources.data(), fresh->sources.size()});
    } catch (const error&) {  // the device is lost
    }
  }
  if (shadows)
    m_setup.validator->end_on_device(std::move(shadows), t, *m_where.device, on, done, fresh->failed() || !done);
  if (!done && m_where.device->lost()) {  // what it has begun there matters to nobody
    m_admission.put_back(count);
    for (const batched_task& m : fresh->tasks) m_where.ready_queue().push(*m.t);
    return;
  }
  // Their arguments may be gone later.
  if (t.operation->work != nullptr) fresh->work = t.operation->work(t.argument_bytes(), t.all_accesses());
  if (m_context->events != nullptr) fresh->enqueued = m_context->events->now();
  fresh->counter = &m_context->counters.of(t.operation->number);
  operation_counters::add(fresh->counter->tasks, count);

  for (const batched_task& m : fresh->tasks) {
    const auto accesses = m.t->all_accesses();
    m_setup.coherence->publish(accesses, done);
    if (m.why) m_setup.coherence->poison(accesses, m.why);  // successors are released below and must see it
  }
  m_admission.begin_launch();
  m_compute.begin(stream, count);
  fresh->inputs_seen = m_setup.placer->model() == nullptr || fresh->inputs.empty();
  in_flight_batch* const f = fresh.release();
  f->done.batch = f;
  f->done.ticket = done;
  m_under_way.add(*f);
  f->done.fire = [](transfer::completion* self, tsr_status status) {
    in_flight_batch* const ended = static_cast<in_flight_batch::completion_of_batch*>(self)->batch;
    ended->driver->complete(*ended, status);
  };
  f->done.describe = [](const transfer::completion* self) {
    const in_flight_batch* const flying = static_cast<const in_flight_batch::completion_of_batch*>(self)->batch;
    std::string description = schedule::describe(flying->first());
    if (flying->tasks.size() > 1) description += fmt::format(" and {} more in one launch", flying->tasks.size() - 1);
    return transfer::pending_work{std::move(description), {flying->inputs.begin(), flying->inputs.end()}};
  };
  // Successors start now: on this device they wait for the ticket, elsewhere for the copy that follows it. The task
  // itself stays pinned and unretired until its ticket is reached.
  for (const batched_task& m : f->tasks) m_owner.enqueued(*m_context, *m.t);
  if (done)
    on.on_completion(f->done);
  else
    complete(*f, TSR_OK);
}

in_flight_batch* launches_under_way::find(block::ticket at) const {
  const std::lock_guard guard(m_lock);
  const auto found = std::ranges::find_if(m_all, [&](const in_flight_batch* b) { return b->done.ticket == at; });
  return found == m_all.end() ? nullptr : *found;
}

/// Why a point failed, under the lock of failed points: what is noted, or what the batch whose point it is will say
/// when its end is seen; else the same of the point that it failed because of. Null: nobody can tell.
std::shared_ptr<const block::failure> device_driver::why_failed(block::ticket at) {
  transfer::stream_table& streams = m_setup.coherence->streams();
  for (; at; at = streams.at(at.stream).cause_of(at.value)) {
    if (auto why = m_setup.points->find(at)) return why;
    device_driver* const maker = has_stream(at.stream)        ? this
                                 : m_setup.drivers == nullptr ? nullptr
                                                              : m_setup.drivers->with_stream(at.stream);
    in_flight_batch* const batch = maker == nullptr ? nullptr : maker->m_under_way.find(at);
    if (batch == nullptr) continue;
    // It stays: its end takes the lock, since its point has failed.
    maker->check_result(*batch, streams.at(at.stream).status_at(at.value));
    if (auto why = m_setup.points->find(at)) return why;
  }
  return nullptr;
}

/// A task was enqueued on data whose maker failed later: why, or null.
std::shared_ptr<const block::failure> device_driver::failed_input(const task::record& task,
                                                                  std::span<const block::ticket> sources) {
  auto& t = const_cast<task::record&>(task);
  transfer::stream_table& streams = m_setup.coherence->streams();
  for (const block::ticket source : sources)
    if (streams.passed_with_failure(source))
      if (auto why = why_failed(source)) return why;
  if (auto why = poison_of(t.all_accesses())) return why;
  for (const block::ticket source : sources) {
    if (!streams.passed_with_failure(source)) continue;
    std::string text;
    for (const block::access& a : t.all_accesses())
      if (const std::string its =
              needs_contents(a.intent) ? m_setup.coherence->failed_copies().about(*a.block, m_where.space) : "";
          !its.empty())
        text += (text.empty() ? "" : "; ") + its;
    const std::string details = streams.at(source.stream).details_at(source.value);
    if (text.empty()) text = fmt::format("what it reads did not come{}{}", details.empty() ? "" : ": ", details);
    return m_setup.failures->note(
        t, {fmt::format("{} on {} failed: {}", t.operation->name, m_where.name, text), "", error_kind::device});
  }
  return nullptr;
}

/// Cheap where nothing fails. What may write batched_task::why beside this one has made a failed point known before:
/// so that is looked at first.
bool device_driver::may_have_failed(const in_flight_batch& f, tsr_status status) const {
  const transfer::stream_table& streams = m_setup.coherence->streams();
  return status != TSR_OK ||
         std::ranges::any_of(f.sources, [&](block::ticket source) { return streams.passed_with_failure(source); }) ||
         f.failed() ||
         std::ranges::any_of(f.tasks, [](const batched_task& m) { return poison_of(m.t->all_accesses()) != nullptr; });
}

/// Why each task of a batch failed, once its ticket is reached: into batched_task::why, and of the point. Under the
/// lock of failed points, when it is first needed. Which task of a failed batch failed is not known.
void device_driver::check_result(in_flight_batch& f, tsr_status status) {
  std::size_t from = 0;
  for (batched_task& m : f.tasks) {
    const std::span<const block::ticket> all(f.sources.data(), f.sources.size());
    const auto sources = all.subspan(from, m.sources_end - from);
    from = m.sources_end;
    if (m.why) continue;
    if (status == TSR_DEVICE_LOST && m_where.device->lost()) {
      m.why = m_setup.failures->note_loss(*m.t, m_where.device->name());
    } else if (status != TSR_OK) {
      const std::string details = f.done.ticket ? m_compute[f.stream].details_at(f.done.ticket.value) : std::string();
      const bool device = status == TSR_DEVICE_LOST || status == TSR_DEADLINE_EXCEEDED;
      m.why = m_setup.failures->note(*m.t, {fmt::format("{} on {} failed: {}{}{}", m.t->operation->name, m_where.name,
                                                        plugin::name_of(status), details.empty() ? "" : ": ", details),
                                            "", device ? error_kind::device : error_kind::task});
    } else {
      m.why = failed_input(*m.t, sources);
    }
  }
  const auto failed = std::ranges::find_if(f.tasks, [](const batched_task& m) { return m.why != nullptr; });
  if (failed != f.tasks.end()) m_setup.points->note(f.done.ticket, failed->why);
}

/// From its end, for later tasks. Returns the nanoseconds of each of its tasks, which share those of the batch.
std::uint64_t device_driver::learn_time(in_flight_batch& f) {
  const std::uint64_t ns = m_times.complete(f.stream, f.started, [this] { return m_setup.now(); });
  // Several threads may see the ends of work.
  const bool first = f.counter->nanoseconds.fetch_add(ns, std::memory_order_relaxed) == 0;
  const double each = static_cast<double>(ns) / static_cast<double>(f.tasks.size());
  // The first of its kind has loaded code and libraries: it says nothing about the next.
  if (first && !m_where.device->has(TSR_DEVICE_VIRTUAL_CLOCK)) return static_cast<std::uint64_t>(each);
  m_where.learn(f.work, each);
  const bool exact = f.inputs_seen;  // else the wait for its inputs is in it
  if (f.profile != nullptr && !f.failed()) m_setup.placer->learn(*f.profile, f.size, m_where, each, exact);
  return static_cast<std::uint64_t>(each);
}

void device_driver::complete(in_flight_batch& f, tsr_status status) {
  const std::unique_ptr<in_flight_batch> owned(&f);
  thread_context& thread = m_owner.context_of_this_thread();
  if (may_have_failed(f, status)) {
    const std::lock_guard guard(m_setup.points->lock());
    m_under_way.remove(f);
    check_result(f, status);
  } else {
    m_under_way.remove(f);
  }
  if (thread.events != nullptr)
    for (const batched_task& m : f.tasks)
      trace_landing(*thread.events, *m.t, f.began, f.enqueued, f.done.ticket, m.why ? trace::run_failed : 0);
  const std::uint64_t each_ns = learn_time(f);
  boost::container::small_vector<std::uint64_t, 1> bytes;
  for (const batched_task& m : f.tasks) {
    if (task::source* const from = m.t->from()) {
      from->device_tasks.fetch_add(1, std::memory_order_relaxed);
      from->device_nanoseconds.fetch_add(each_ns, std::memory_order_relaxed);
    }
    bytes.push_back(m_owner.window_bytes_of(*m.t));
    m_setup.coherence->finish(m.t->all_accesses(), m.why, f.done.ticket);
  }
  f.scratch.release();
  for (std::size_t k = 0; k < f.tasks.size(); ++k) m_owner.retire(thread, *f.tasks[k].t, bytes[k]);
  m_compute.end(f.stream, f.tasks.size());
  m_admission.end_launch();
  m_owner.something_ended();
}

}  // namespace tessera::schedule
