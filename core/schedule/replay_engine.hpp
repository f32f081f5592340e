#pragma once
// What happens to the tasks of a replay between its start and its end.
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/operation/catalog.hpp"
#include "core/placement/placer.hpp"
#include "core/schedule/captured_graphs.hpp"
#include "core/schedule/replays.hpp"
#include "core/schedule/thread_context.hpp"
#include "core/schedule/thread_table.hpp"
#include "core/task/flow_record.hpp"
#include "core/transfer/coherence.hpp"

namespace tessera::schedule {

/// Makes records of a replay's tasks as they become ready, each alone or many as one segment, and counts them down as
/// they are enqueued or have run. Any thread. Whoever runs the tasks passes a callable start(task::record&), which is
/// called for each record that waits for nothing.
class replay_engine {
 public:
  /// What it works with; all outlive it.
  struct setup {
    thread_table* threads = nullptr;
    placement::placer* placer = nullptr;
    transfer::coherence* coherence = nullptr;
    const std::vector<std::unique_ptr<placement::place>>* places = nullptr;  ///< filled before begin
    bool counts_bytes = false;  ///< whether threads count the bytes of retired tasks
  };
  explicit replay_engine(setup with) noexcept : m_setup(with) {}
  /// Once, when the places are known. `graphs`: tasks form segments, where devices have graphs.
  void begin(operation::catalog& operations, bool graphs);

  /// A replay is about to start, by the thread that plays it; none of its last run is under way.
  void rewind(thread_context& thread, running_replay& r);
  /// In program order with the tasks around it; from then on it runs.
  template <class Start>
  void link(thread_context& thread, running_replay& r, task::reduction_source& reductions, const Start& start) {
    task::link(r, reductions, thread.events, start);
    for (const std::uint32_t t : r.recording.tasks_without_blocks) start(materialize(thread, r, t, 0));
  }

  bool uses_graphs() const noexcept { return m_graphs; }
  /// Whether the task stands for a segment.
  bool is_segment(const task::record& t) const noexcept { return t.operation == m_graph; }
  /// Whether a task that waits for nothing belongs to a segment, which it does not start alone.
  template <class Start>
  bool joins_segment(thread_context& thread, task::record& t, const Start& start) {
    if (is_segment(t)) return false;
    const task::replayed_task member = t.replayed();
    auto& r = static_cast<running_replay&>(*member.replay);
    if (r.plan == nullptr) return false;
    const std::uint32_t index = r.plan->segment_of[member.index];
    if (index == segment_plan::none) return false;
    if (task::record* const complete = pass_gate(thread, r, index, 0)) start(*complete);
    return true;
  }
  /// Before it is queued.
  void prepare(task::record& t) {
    if (!m_single_place || ends_group(t)) prepare_at_length(t);
  }
  /// Whether there is nothing to see to before it is queued.
  bool is_plain(task::record& t) const noexcept { return m_single_place && !m_graphs && !ends_group(t); }
  /// The next replays go where it was placed without asking.
  static void remember_place(task::record& t) noexcept {
    const task::replayed_task& member = t.replayed();
    std::atomic_ref(member.replay->recording.tasks[member.index].place).store(t.place, std::memory_order_relaxed);
  }
  /// It has its blocks: announced uses are no longer to come.
  void note_begun(task::record& t) const noexcept;

  /// It has been enqueued or has run: those who waited for it may start. After the last of these steps the replay may
  /// begin anew, and nothing of it is touched.
  template <class Start>
  void release_successors(thread_context& thread, task::record& t, const Start& start) {
    if (is_segment(t))
      release_segment(thread, t, start);
    else
      release_task(thread, t, start);
  }

  graph_statistics graphs() const noexcept { return m_graph_counters.read(); }  ///< what they did so far

 private:
  task::record& materialize(thread_context& thread, task::replay& of, std::uint32_t index,
                            block::task_reference after) {
    task::record& t = thread.tasks.take();
    of.fill(t, index);
    // Of its predecessors in the recording the one that released it is known here: the one that made it wait.
    if (thread.events != nullptr) task::note_submission(*thread.events, t, {&after, after != 0 ? 1u : 0u});
    return t;
  }
  static bool ends_group(task::record& t) noexcept {
    const task::replayed_task& place_in_run = t.replayed();
    return place_in_run.replay->recording.tasks[place_in_run.index].ends_group;
  }
  void prepare_at_length(task::record& t);
  void find_segments(running_replay& r);  // before it is rewound
  /// One of the tasks that a segment waits for is done: its record, when that was the last; else null.
  task::record* pass_gate(thread_context& thread, running_replay& r, std::uint32_t segment,
                          block::task_reference after);

  template <class Start>
  void start_inner(thread_context& thread, running_replay& r, std::uint32_t index, block::task_reference after,
                   const Start& start) {
    if (r.plan == nullptr || r.plan->segment_of[index] == segment_plan::none)
      start(materialize(thread, r, index, after));
    else if (task::record* const complete = pass_gate(thread, r, r.plan->segment_of[index], after))
      start(*complete);
  }
  template <class Start>
  static void start_boundary(thread_context& thread, task::record& t, block::task_reference after, const Start& start) {
    if (thread.events != nullptr && after != 0) task::note_predecessor(*thread.events, t, after);
    start(t);
  }

  template <class Start>
  void release_task(thread_context& thread, task::record& t, const Start& start) {
    const task::replayed_task place_in_run = t.replayed();
    auto& r = static_cast<running_replay&>(*place_in_run.replay);
    // Those within the recording only, too: an old reference whose generation has come round may have found them.
    task::release_successors(t, start);
    if (r.recording.tasks[place_in_run.index].successor_count == 0) {
      r.count_done(thread.number, 1);
      return;
    }
    const block::task_reference self = task::reference_to(t);
    task::release_replayed(
        r, place_in_run.index, [&](std::uint32_t index) { start_inner(thread, r, index, self, start); },
        [&](task::record& boundary) { start_boundary(thread, boundary, self, start); });
  }
  template <class Start>
  void release_segment(thread_context& thread, task::record& t, const Start& start) {
    task::release_successors(t, start);
    const task::replayed_task place_in_run = t.replayed();
    auto& r = static_cast<running_replay&>(*place_in_run.replay);
    segment_run& run = *static_cast<segment_run*>(place_in_run.arguments);
    const segment& s = *run.segment;
    const block::task_reference self = task::reference_to(t);
    for (const std::uint32_t member : s.members) {
      const task::recorded_task& one = r.recording.tasks[member];
      if (run.enqueued) operation_counters::add(thread.counters.of(one.operation->number).tasks, 1);
      if (one.boundary == task::recorded_task::inner) continue;
      task::record& kept = *r.boundary[one.boundary];
      task::release_successors(kept, start);
      m_setup.threads->keep_finished(thread, kept);
    }
    // The task itself is counted when it retires, when the device is done.
    thread.retired.store(thread.retired.load(std::memory_order_relaxed) + s.members.size() - 1,
                         std::memory_order_release);
    if (m_setup.counts_bytes)
      thread.retired_bytes.store(thread.retired_bytes.load(std::memory_order_relaxed) + s.bytes_of_tasks - s.bytes_used,
                                 std::memory_order_release);
    // After the last of these steps the replay may begin anew: nothing of it is touched behind them.
    const std::span<const std::uint32_t> after = s.after;
    const std::shared_ptr<segment_plan> plan = r.plan;  // owns `after`
    if (s.sinks > 0) r.count_done(thread.number, s.sinks);
    for (const std::uint32_t next : after)
      task::count_down(
          r, next, [&](std::uint32_t index) { start_inner(thread, r, index, self, start); },
          [&](task::record& boundary) { start_boundary(thread, boundary, self, start); });
  }

  const setup m_setup;
  bool m_graphs = false;  // some device has them, and they are wanted
  bool m_single_place = false;
  const operation::definition* m_graph = nullptr;  // the operation of segments; null: there are none
  graph_counters m_graph_counters;
};

}  // namespace tessera::schedule
