// The part of a device's driver that gives the device equal tasks as one launch.
#include <algorithm>

#include "core/schedule/device/in_flight.hpp"
#include "core/schedule/operands.hpp"
#include "core/schedule/outcome.hpp"
#include "core/schedule/trace_points.hpp"

namespace tessera::schedule {

void device_driver::pick_others(task::record& first) {
  // Tasks that wait for memory come first.
  if (m_where.ready_queue().empty() || !m_where.attached() || !m_memory_waiters.empty()) return;
  m_picker.pick(
      first, [&](task::record& t) { return m_setup.placer->model() != nullptr && m_owner.place_again(*m_context, t); });
}

/// Workspace for `first` and as many of the others as there is room for at once; the rest goes back.
void device_driver::take_common_workspace(task::record& first, task_workspace& out) {
  const auto wanted = first.operation->batch.workspace;
  if (wanted == nullptr) return;
  for (std::size_t count = m_picker.others().size() + 1; count > 1; count /= 2) {
    const std::uint64_t bytes = wanted(*m_where.device, first.argument_bytes(), first.all_accesses(), count);
    if (bytes > m_picker.bounds().memory / batch_bounds::memory_share || !m_workspaces.take(bytes, out)) continue;
    m_picker.put_back(count - 1);
    return;
  }
  m_picker.put_back(0);
}

/// Acquires the blocks of the others, in their order, until one cannot have them now, or would begin later than the
/// first task, which waits on the device for `waits`: into m_joined.
void device_driver::acquire_others(std::span<const block::ticket> waits, const transfer::stream& on) {
  transfer::coherence& coherence = *m_setup.coherence;
  const auto no_later = [&](block::ticket w) {
    return w.stream == on.number() || coherence.streams().reached(w) ||
           std::ranges::any_of(waits,
                               [&](block::ticket held) { return held.stream == w.stream && held.value >= w.value; });
  };
  transfer::acquisition& a = m_joining;
  std::size_t joined = 0;
  for (; joined < m_picker.others().size(); ++joined) {
    task::record& t = *m_picker.others()[joined];
    do coherence.acquire(t.all_accesses(), m_where.space, a, t.sequence);
    while (a.outcome == transfer::outcome::retry && a.waits.empty());
    if (a.outcome != transfer::outcome::ready) break;
    if (!std::ranges::all_of(a.waits, no_later) || waits_for_copies(a)) {
      coherence.finish(t.all_accesses());
      break;
    }
    t.flags |= task::flag_acquired;
    m_owner.begun(t);
    coherence.relieve(m_where.space, t.sequence);
    if (m_context->events != nullptr) trace_waits(*m_context->events, t, a.waits);
    m_joined_sources.insert(m_joined_sources.end(), a.sources.begin(), a.sources.end());
    m_joined.push_back({&t, nullptr, m_joined_sources.size()});
  }
  m_picker.use(joined);
}

/// Others that have waited for their copies, and have them: into m_joined. The workspace becomes one for all of them.
void device_driver::join_resumed(task::record& first, task_workspace& scratch) {
  if (!m_admission.any_resumed() || !m_where.attached() || !m_memory_waiters.empty()) return;
  m_picker.pick_acquired(first);
  if (m_picker.others().empty()) return;
  task_workspace common;
  take_common_workspace(first, common);
  for (task::record* const t : m_picker.others()) {
    note_started(*t);
    m_workspaces.kept(*t).reset();
    if (!still_good(*m_setup.coherence, m_owner, *m_context, *t)) continue;
    if ((t->flags & task::flag_acquired) != 0)
      m_joined.push_back({t, nullptr, 0});
    else
      m_where.ready_queue().push(*t);  // a copy has failed, and is made again
  }
  m_picker.use(m_picker.others().size());
  if (!m_joined.empty() && common.from != nullptr) scratch.become(std::move(common));
}

/// With the stream's lock. False: it was refused before anything was enqueued.
bool device_driver::enqueue_together(in_flight_batch& f, transfer::stream& on) {
  const operation::definition& operation = *f.first().operation;
  bool enqueued = true;
  const std::optional<thrown> problem = thrown_by([&] {
    m_batch_operands.clear();
    for (const batched_task& m : f.tasks) add_operands(*m_setup.coherence, m.t->all_accesses(), m_batch_operands);
    const std::size_t each = m_batch_operands.size() / f.tasks.size();
    m_contexts.clear();
    for (const batched_task& m : f.tasks) {
      m_contexts.push_back(context_of(*m.t, f, on));
      m_contexts.back().operands = std::span(m_batch_operands).subspan(each * (m_contexts.size() - 1), each);
    }
    enqueued = operation.batch.enqueue(m_contexts);
    if (enqueued) m_setup.batches->add(f.tasks.size());
  });
  if (problem && !(problem->is_error && m_where.device->lost()))
    for (batched_task& m : f.tasks) m.why = why_not_enqueued(*m.t, problem->text, problem->kind);
  return enqueued;
}

}  // namespace tessera::schedule
