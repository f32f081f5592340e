#include "core/schedule/replay_engine.hpp"

#include <algorithm>

#include "core/operation/kernel_loader.hpp"
#include "core/task/flow_record.hpp"

namespace tessera::schedule {
namespace {

/// What a member of a segment wants of a device in this replay, whose blocks may not be the recorded ones.
std::uint64_t workspace_of(const task::replay& in, const task::recorded_task& t, const plugin::device& device,
                           const void* arguments) {
  return t.operation->workspace != nullptr
             ? t.operation->workspace(device, arguments, accesses_of(in.recording, t, in.blocks))
             : 0;
}

/// "graph": what a segment's one task does. Its arguments are a segment_run.
void enqueue_segment(const operation::context& c) {
  auto& run = *static_cast<segment_run*>(const_cast<void*>(c.arguments));
  const segment& s = *run.segment;
  const task::recording& recorded = run.replay->recording;
  run.enqueued = true;
  graph_key key{.addresses = {}, .patches = {}, .memory_epoch = c.memory_epoch};
  for (const operation::operand& o : c.operands) key.addresses.push_back(o.address);
  key.addresses.push_back(c.workspace.address);
  key.patches.resize(s.members.size());
  if (!run.replay->patches.empty())
    for (std::size_t k = 0; k < s.members.size(); ++k)
      if (const auto patch = run.replay->patches.find(s.members[k]); patch != run.replay->patches.end())
        key.patches[k] = patch->second;
  const auto patches = key.patches;
  // Where it was planned they are; elsewhere nobody has looked.
  const auto only_launches = [&] {
    return std::ranges::all_of(s.members, [&](std::uint32_t member) {
      const operation::kernel_loader* const kernels = recorded.tasks[member].operation->kernels.get();
      return kernels == nullptr || kernels->only_launches_on(*c.device);
    });
  };
  run.segment->graphs.enqueue(c, std::move(key), s.members.size(), *run.counters, only_launches, [&] {
    std::vector<operation::operand> operands;
    const std::uint32_t* from = s.operands.data();
    for (std::size_t k = 0; k < s.members.size(); ++k) {
      const task::recorded_task& t = recorded.tasks[s.members[k]];
      operands.clear();
      for (const task::recorded_access& a : recorded.accesses_of(t)) {
        operands.push_back(c.operands[*from++]);
        operands.back().intent = static_cast<intent>(a.intent);
      }
      operation::context one = c;
      one.operands = operands;
      one.arguments = patches[k] ? static_cast<const void*>(patches[k]->data()) : t.arguments;
      one.argument_bytes = t.argument_size;
      one.data = t.operation->data.get();
      one.kernels = t.operation->kernels.get();
      one.workspace.bytes = workspace_of(*run.replay, t, *c.device, one.arguments);
      one.task_name = t.operation->name;
      try {
        t.operation->enqueue(one);
      } catch (const error& e) {
        throw error(e.kind(), t.operation->name + ": " + e.message(), e.where());
      }
    }
  });
}

double work_of_segment(const void* arguments, std::span<const block::access>) {
  return static_cast<const segment_run*>(arguments)->segment->work;
}

/// Of all its tasks, which follow one another: the most that one of them wants. Arguments of one replay may want more
/// than those that were recorded.
std::uint64_t workspace_of_segment(const plugin::device& device, const void* arguments,
                                   std::span<const block::access>) {
  const auto& run = *static_cast<const segment_run*>(arguments);
  std::uint64_t most = run.segment->workspace;
  if (run.replay->patches.empty()) return most;
  const task::recording& recorded = run.replay->recording;
  for (const std::uint32_t member : run.segment->members)
    if (const auto patch = run.replay->patches.find(member); patch != run.replay->patches.end() && patch->second)
      most = std::max(most, workspace_of(*run.replay, recorded.tasks[member], device, patch->second->data()));
  return most;
}

/// When it can run all its tasks.
bool offers_segment(const placement::place& e, const task::record& t) {
  const task::replayed_task replayed = const_cast<task::record&>(t).replayed();
  const segment& s = *static_cast<const segment_run*>(replayed.arguments)->segment;
  const task::recording& recording = replayed.replay->recording;
  return std::ranges::all_of(s.members, [&](std::uint32_t member) {
    const task::recorded_task& one = recording.tasks[member];
    return one.operation->runs_on(*e.device, replayed.replay->blocks[recording.accesses_of(one)[0].block].block->type,
                                  false);
  });
}

}  // namespace

void replay_engine::begin(operation::catalog& operations, bool graphs) {
  m_single_place = m_setup.places->size() == 1;
  m_graphs = graphs && std::ranges::any_of(*m_setup.places,
                                           [](const auto& e) { return !e->is_host && e->device->graph() != nullptr; });
  if (!m_graphs) return;
  m_graph = &operations.add(
      {.name = "graph", .enqueue = enqueue_segment, .work = work_of_segment, .workspace = workspace_of_segment});
  m_setup.placer->know_segments(*m_graph, offers_segment);
}

void replay_engine::rewind(thread_context& thread, running_replay& r) {
  if (m_graphs) find_segments(r);
  r.rewind();
  r.rewind_counts(m_setup.threads->size());
  r.started = true;
  for (std::size_t k = 0; k < r.recording.boundary.size(); ++k) r.boundary.push_back(&thread.tasks.take());
}

void replay_engine::prepare_at_length(task::record& t) {
  if (ends_group(t)) {
    block::access& sum = t.all_accesses()[0];
    const std::lock_guard guard(sum.block->lock);
    if (sum.block->valid_spaces.empty() && sum.block->poison == nullptr) sum.intent = intent::write;  // a sum from zero
  }
  if (t.place != task::no_place && !m_single_place && t.operation->special == nullptr) {
    placement::place& where = *(*m_setup.places)[t.place];
    m_setup.placer->charge(t, where, m_setup.placer->expected_seconds(t, where));
  }
}

void replay_engine::find_segments(running_replay& r) {
  replay_planning& common = r.planning;
  const auto is_placed = [](const task::recorded_task& t) {
    return std::atomic_ref(t.place).load(std::memory_order_relaxed) != task::no_place;
  };
  if (!common.planned && std::ranges::all_of(r.recording.tasks, is_placed)) {
    std::vector<segment_place> places;
    for (const auto& e : *m_setup.places)
      places.push_back({.captures = !e->is_host && e->attached() && e->device->graph() != nullptr,
                        .device = e->device,
                        .memory_bytes = m_setup.coherence->space_at(e->space).limit(),
                        // Some of them in the memory at a time, so that the next one's blocks come while one runs.
                        .max_bytes = m_setup.coherence->space_at(e->space).limit() / 4,
                        .granule = std::max<std::uint64_t>(e->granule, 1),
                        .streams = e->parallelism,
                        .ns_per_flop = e->ns_per_flop.load(std::memory_order_relaxed)});
    // Kernels are loaded by the first replays, if at all.
    constexpr std::uint32_t max_tries = 4;
    if (++common.tries > max_tries || kernels_are_loaded(r.recording, places)) {
      common.plan = plan_segments(r.recording, places);
      common.planned = true;
    }
  }
  if (r.plan != common.plan) {
    r.plan = common.plan;
    r.segments = r.plan ? std::make_unique<segment_run[]>(r.plan->segments.size()) : nullptr;
    r.predecessors = r.plan ? r.plan->predecessors.data() : r.recording.predecessors.data();
  }
  if (!r.plan) return;
  for (std::size_t k = 0; k < r.plan->segments.size(); ++k) {
    segment_run& run = r.segments[k];
    run.segment = r.plan->segments[k].get();
    run.replay = &r;
    run.counters = &m_graph_counters;
    run.enqueued = false;
    run.waiting.store(run.segment->gates, std::memory_order_relaxed);
  }
}

task::record* replay_engine::pass_gate(thread_context& thread, running_replay& r, std::uint32_t index,
                                       block::task_reference after) {
  segment_run& run = r.segments[index];
  if (run.waiting.fetch_sub(1, std::memory_order_acq_rel) != 1) return nullptr;
  const segment& s = *run.segment;
  task::record& t = thread.tasks.take();
  t.operation = m_graph;
  t.site = r.recording.tasks[s.members.front()].site;
  t.priority = s.priority;
  t.sequence = r.first_sequence + s.members.back();  // all uses up to here are behind it when it has run
  t.place = s.place;
  t.flags |= task::flag_replayed | task::flag_many_accesses;
  new (t.arguments.data()) task::replayed_task{&run, &r, s.members.front()};
  auto& accesses = t.need_more().accesses;
  accesses.clear();
  for (const task::recorded_access& a : s.uses) {
    const task::replay::place& at = r.blocks[a.block];
    accesses.push_back({.block = at.block,
                        .version = block::version_after(at.base, a.version),
                        .intent = static_cast<intent>(a.intent),
                        .flags = 0,
                        .space = 0});
  }
  t.access_count = static_cast<std::uint8_t>(std::min<std::size_t>(accesses.size(), 255));
  if (thread.events != nullptr) task::note_submission(*thread.events, t, {&after, after != 0 ? 1u : 0u});
  return &t;
}

void replay_engine::note_begun(task::record& t) const noexcept {
  const task::replayed_task place_in_run = t.replayed();
  auto& r = static_cast<running_replay&>(*place_in_run.replay);
  if (r.uses == nullptr) return;
  if (t.operation != m_graph) {
    r.uses->begin(t.sequence);
    return;
  }
  for (const std::uint32_t member : static_cast<const segment_run*>(place_in_run.arguments)->segment->members)
    r.uses->begin(r.first_sequence + member);
}

}  // namespace tessera::schedule
