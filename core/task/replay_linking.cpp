#include <cstring>
#include <functional>

#include "core/task/flow_record.hpp"
#include "core/task/replay.hpp"

namespace tessera::task {

replay::replay(const task::recording& what)
    : recording(what),
      predecessors(what.predecessors.data()),
      waiting(std::make_unique<std::atomic<std::int32_t>[]>(what.size())) {
  blocks.reserve(what.blocks.size());
  boundary.reserve(what.boundary.size());
}

void replay::rewind() {
  for (std::size_t k = 0; k < recording.size(); ++k) waiting[k].store(predecessors[k], std::memory_order_relaxed);
  blocks.clear();
  for (const recorded_block& b : recording.blocks) blocks.push_back({b.block, 0});
  boundary.clear();
}

void replay::fill(record& t, std::uint32_t index) {
  const recorded_task& from = recording.tasks[index];
  t.operation = from.operation;
  t.site = from.site;
  t.priority = from.priority;
  t.hint = from.hint;
  t.sequence = first_sequence + index;
  t.place = std::atomic_ref(from.place).load(std::memory_order_relaxed);
  t.flags |= flag_replayed;
  replayed_task& mine = *new (t.arguments.data()) replayed_task{const_cast<void*>(from.arguments), this, index};
  t.argument_size = from.argument_size;
  if (from.cores > 1) {
    t.rare |= rare_cores;
    t.need_more().cores = from.cores;
  }
  if (!patches.empty())
    if (const auto patch = patches.find(index); patch != patches.end())
      mine.arguments = const_cast<std::byte*>(patch->second->data());

  block::access* to = t.accesses.data();
  if (from.access_count > t.accesses.size()) {
    auto& many = t.need_more().accesses;
    many.resize(from.access_count);
    to = many.data();
    t.flags |= flag_many_accesses;
  }
  t.access_count = static_cast<std::uint8_t>(std::min<std::size_t>(from.access_count, 255));
  for (const recorded_access& a : recording.accesses_of(from)) {
    const place& at = blocks[a.block];
    *to++ = {.block = at.block,
             .version = block::version_after(at.base, a.version),
             .intent = static_cast<intent>(a.intent),
             .flags = static_cast<std::uint8_t>((a.fresh != 0 ? access_fresh : 0) |
                                                (a.of_part != 0 ? block::access_of_part : 0)),
             .space = 0};
    if (a.fresh) t.flags |= flag_fresh;
  }
  for (const std::uint32_t s : recording.successors_of(from))
    __builtin_prefetch(&waiting[s], 1);  // counted down when it has run
}

void link(replay& r, reduction_source& reductions, trace::buffer* events, const std::function<void(record&)>& ready) {
  const recording& recorded = r.recording;
  std::vector<std::int32_t> edges(recorded.boundary.size(), 0);
  std::vector<references> before_of(events != nullptr ? recorded.boundary.size() : 0);
  std::vector<linked_reduction> linked;
  const auto record_of = [&](std::uint32_t t) -> record& { return *r.boundary[recorded.tasks[t].boundary]; };
  const auto wait = [&](std::uint32_t t, block::task_reference before) {
    if (events != nullptr && before != 0) before_of[recorded.tasks[t].boundary].push_back(before);
    if (before != 0 && depend(before, record_of(t))) ++edges[recorded.tasks[t].boundary];
  };

  for (const std::uint32_t b : recorded.lock_order)
    if (!r.blocks[b].block->flow.is_private) r.blocks[b].block->flow.lock.lock();
  for (std::size_t b = 0; b < recorded.blocks.size(); ++b) {
    const recorded_block& block = recorded.blocks[b];
    block::flow_record& flow = r.blocks[b].block->flow;
    if (r.blocks[b].block->sums != nullptr) linked.push_back(close_group(*r.blocks[b].block, 0, reductions, events));
    r.blocks[b].base = flow.next_version - 1;
    flow.next_version = block::version_after(flow.next_version, block.versions);
    for (const std::uint32_t t : block.first_readers)
      for_each_writer_to_read(flow, [&](block::task_reference before) { wait(t, before); });
    if (block.first_writer != recorded_task::inner) {
      // Its own earlier readers are predecessors already.
      if (flow.reader_count == 0 && block.first_readers.empty())
        for_each_writer(flow, [&](block::task_reference before) { wait(block.first_writer, before); });
      take_readers(flow, [&](block::task_reference before) { wait(block.first_writer, before); });
      set_writer(flow, reference_to(record_of(block.last_writer)));
    }
    for (const std::uint32_t t : block.last_readers) add_reader(flow, reference_to(record_of(t)));
  }
  for (const std::uint32_t b : recorded.lock_order)
    if (!r.blocks[b].block->flow.is_private) r.blocks[b].block->flow.lock.unlock();

  for (const auto& [reduction, at_once] : linked) reductions.reduction_linked(*reduction, at_once);
  for (std::size_t k = 0; k < recorded.boundary.size(); ++k) {
    r.fill(*r.boundary[k], recorded.boundary[k]);
    if (events != nullptr) note_submission(*events, *r.boundary[k], {before_of[k].data(), before_of[k].size()});
  }
  // From here tasks may run; a boundary task counts one more while it has predecessors within the recording.
  for (std::size_t k = 0; k < recorded.boundary.size(); ++k) {
    const std::int32_t off = linking_bias - edges[k] - (r.predecessors[recorded.boundary[k]] > 0 ? 1 : 0);
    if (r.boundary[k]->dependencies.fetch_sub(off, std::memory_order_acq_rel) == off) ready(*r.boundary[k]);
  }
}

}  // namespace tessera::task
