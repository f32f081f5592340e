// The part of the scheduler that records and replays.
#include "core/schedule/replays.hpp"

#include "core/schedule/scheduler.hpp"
#include "core/task/flow_record.hpp"
#include "core/validate/validator.hpp"

namespace tessera::schedule {

void scheduler::begin_recording(task::recorder& taker) {
  lane& mine = current_lane();
  if (mine.recorder != nullptr) throw error(error_kind::usage, "a recording inside a recording");
  if (!mine.in_program()) throw error(error_kind::usage, "a recording inside a task");
  mine.recorder = &taker;
}

void scheduler::end_recording() noexcept { current_lane().recorder = nullptr; }

void scheduler::wait_for(running_replay& what) {
  help(
      current_lane(), [&] { return what.finished(); }, m_look_every);
}

void scheduler::require_playable() {
  const lane& mine = current_lane();
  if (mine.recorder != nullptr)
    throw error(error_kind::usage, "a replay inside a recording", {}, "submit its tasks instead");
  if (!mine.in_program()) throw error(error_kind::usage, "a replay inside a task");
}

void scheduler::play(running_replay& r, std::source_location site) {
  require_playable();
  lane& mine = current_lane();
  wait_for(r);
  const task::recording& of = r.of;
  if (of.size() == 0) return;
  if (m_validator != nullptr && !m_validator->replayed(r, site)) return;  // arrays that it uses are gone
  if (m_graphs) find_segments(r);
  r.rewind();
  r.rewind_counts(m_lanes.size());
  r.started = true;
  for (std::size_t k = 0; k < of.boundary.size(); ++k) r.boundary.push_back(&mine.tasks.take());
  const std::uint64_t before = mine.submitted.load(std::memory_order_relaxed);
  r.first_sequence = take_ages(mine, of.size());
  mine.submitted.store(before + of.size(), std::memory_order_release);
  if (m_window_bytes != 0) {
    std::uint64_t bytes = 0;
    for (const task::recorded_task& t : of.tasks)
      for (const task::recorded_access& a : of.accesses_of(t)) bytes += r.blocks[a.block].is->bytes;
    mine.submitted_bytes.store(mine.submitted_bytes.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }
  r.uses = m_announces ? &uses_of(mine) : nullptr;
  if (m_announces)
    for (std::size_t k = 0; k < of.size(); ++k)
      for (const task::recorded_access& a : of.accesses_of(of.tasks[k]))
        r.uses->note(*r.blocks[a.block].is, r.first_sequence + k, static_cast<intent>(a.how) != intent::read);
  task::link(r, *this, mine.events, [&](task::record& t) { dispatch(mine, t, when_ready::queue); });
  for (const std::uint32_t t : of.unbound) dispatch(mine, materialize(mine, r, t, 0), when_ready::queue);
}

void scheduler::forget(task::recording& what) {
  for (block::record* copy : what.private_blocks()) destroy_later(*copy);
  for (task::record* kept : what.kept_records()) {
    if (kept->what->destroy_arguments != nullptr) kept->what->destroy_arguments(kept->argument_bytes());
    take_back(m_lanes[kept->owner], *kept);
  }
}

task::record& scheduler::materialize(lane& mine, task::replay& of, std::uint32_t index, block::task_reference after) {
  task::record& t = mine.tasks.take();
  of.fill(t, index);
  // Of its predecessors in the recording the one that released it is known here: the one that made it wait.
  if (mine.events != nullptr) task::note_submission(*mine.events, t, {&after, after != 0 ? 1u : 0u});
  return t;
}

void scheduler::prepare_replayed(task::record& t) {
  const task::replayed_task& is = t.replayed();
  if (is.of->of.tasks[is.index].ends_group) {
    block::access& sum = t.all_accesses()[0];
    const std::lock_guard guard(sum.block->lock);
    if (sum.block->valid_spaces.empty() && sum.block->poison == nullptr) sum.how = intent::write;  // a sum from zero
  }
  if (t.place != task::no_place && !m_single_place) {
    placement::place& where = *m_places[t.place];
    m_placer.charge(t, where, m_placer.expected_seconds(t, where));
  }
}

void scheduler::start_inner(lane& mine, running_replay& r, std::uint32_t index, block::task_reference after,
                            when_ready then) {
  if (r.plan != nullptr && r.plan->segment_of[index] != segment_plan::none)
    pass_gate(mine, r, r.plan->segment_of[index], after, then);
  else
    dispatch(mine, materialize(mine, r, index, after), then);
}

void scheduler::start_boundary(lane& mine, task::record& t, block::task_reference after, when_ready then) {
  if (mine.events != nullptr && after != 0) task::note_predecessor(*mine.events, t, after);
  dispatch(mine, t, then);
}

void scheduler::release_replayed(lane& mine, task::record& t, when_ready then) {
  if (t.what == m_graph) {
    task::release_successors(t, [&](task::record& successor) { dispatch(mine, successor, then); });
    release_segment(mine, t, then);
    return;
  }
  const task::replayed_task is = t.replayed();
  auto& r = static_cast<running_replay&>(*is.of);
  // Those within the recording only, too: an old reference whose generation has come round may have found them.
  task::release_successors(t, [&](task::record& successor) { dispatch(mine, successor, then); });
  if (r.of.tasks[is.index].successor_count == 0) {
    r.count_done(mine.number, 1);
    return;
  }
  const block::task_reference self = task::reference_to(t);
  task::release_replayed(
      r, is.index, [&](std::uint32_t index) { start_inner(mine, r, index, self, then); },
      [&](task::record& boundary) { start_boundary(mine, boundary, self, then); });
}

}  // namespace tessera::schedule
