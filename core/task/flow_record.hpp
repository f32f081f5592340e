#pragma once
// How tasks enter and leave the flow record of a block; for linking one task (flow.cpp) and a whole replay
// (replay_linking.cpp). Call with the block's flow lock held.
#include <algorithm>
#include <bit>
#include <boost/container/small_vector.hpp>
#include <span>
#include <utility>

#include "core/block/accumulation.hpp"
#include "core/task/flow.hpp"
#include "core/trace/tracer.hpp"

namespace tessera::task {

/// Whether no task need wait for this one any more.
inline bool is_finished(block::task_reference ref) noexcept {
  const auto* t = reinterpret_cast<const record*>((ref & address_mask) << 4);
  const std::uint64_t word = t->successors.load(std::memory_order_acquire);
  return generation_bits(word) != generation_bits(ref) || (word & address_mask) == closed_address;
}

/// Adds one behind others, forgetting finished ones before it grows: it stays as long as the most that are unfinished
/// at once.
inline void add_unfinished(std::vector<block::task_reference>& all, block::task_reference one) {
  if (all.size() == all.capacity()) {
    std::erase_if(all, is_finished);
    if (2 * all.size() > all.capacity()) all.reserve(2 * all.capacity());  // not again before as many others have come
  }
  all.push_back(one);
}

inline block::flow_lists& lists_of(block::flow_record& flow) {
  if (!flow.more) flow.more = std::make_unique<block::flow_lists>();
  return *flow.more;
}

/// Calls function(reference) for whoever has made the current contents, or makes them.
template <class Function>
void for_each_writer(const block::flow_record& flow, Function&& function) {
  if (flow.commuting == block::commuting::none) [[likely]]
    function(flow.last_writer);
  else
    for (const block::task_reference ref : flow.more->commuters) function(ref);
}
/// The same for a reader: tasks that commute and are linked later come behind it.
template <class Function>
void for_each_writer_to_read(block::flow_record& flow, Function&& function) {
  if (flow.commuting == block::commuting::none) [[likely]] {
    function(flow.last_writer);
    return;
  }
  for (const block::task_reference ref : flow.more->commuters) function(ref);
  flow.commuting = block::commuting::closed;
}
/// From now on this task makes the contents.
inline void set_writer(block::flow_record& flow, block::task_reference writer) noexcept {
  flow.last_writer = writer;
  flow.commuting = block::commuting::none;
}

/// Adds `reader` behind the readers of a flow record, forgetting finished ones before it grows.
inline void add_reader(block::flow_record& flow, block::task_reference reader) {
  if (flow.reader_count < flow.readers.size()) {
    flow.readers[flow.reader_count++] = reader;
    return;
  }
  const auto kept = std::remove_if(flow.readers.begin(), flow.readers.end(), is_finished);
  flow.reader_count = static_cast<std::uint8_t>(kept - flow.readers.begin());
  if (flow.reader_count < flow.readers.size()) {
    flow.readers[flow.reader_count++] = reader;
    return;
  }
  add_unfinished(lists_of(flow).readers, reader);
}

/// Calls function(reference) for the readers since the last writer and forgets them.
template <class Function>
void take_readers(block::flow_record& flow, Function&& function) {
  for (std::uint8_t k = 0; k < flow.reader_count; ++k) function(flow.readers[k]);
  flow.reader_count = 0;
  if (flow.more) {
    for (const block::task_reference ref : flow.more->readers) function(ref);
    flow.more->readers.clear();
  }
}

/// Takes the bias off: what is left is the number of unfinished predecessors. Returns whether there is none.
inline bool finish_linking(record& t, std::int32_t edges) noexcept {
  if (edges == 0) return true;  // no other thread knows the task yet
  const std::int32_t off = linking_bias - edges;
  return t.dependencies.fetch_sub(off, std::memory_order_acq_rel) == off;
}

using references = boost::container::small_vector<block::task_reference, 8>;

static_assert(static_cast<int>(trace::use_kind::read) == static_cast<int>(intent::read) &&
              static_cast<int>(trace::use_kind::write) == static_cast<int>(intent::write) &&
              static_cast<int>(trace::use_kind::update) == static_cast<int>(intent::update) &&
              static_cast<int>(trace::use_kind::accumulate) == static_cast<int>(intent::accumulate) &&
              static_cast<int>(trace::use_kind::scratch) == static_cast<int>(intent::scratch) &&
              static_cast<int>(trace::use_kind::commute) == static_cast<int>(intent::commute));

/// Writes down what a task does with its blocks, and how much arithmetic that is.
inline void note_uses(trace::buffer& events, record& t, std::uint64_t submitted) {
  std::span<const block::access> rest = t.all_accesses();
  const operation::definition& what = *t.operation;
  const bool known = what.work != nullptr && what.is_arithmetic;
  if (rest.empty() && !known) return;
  trace::event e{trace::event_kind::uses};
  e.number = std::bit_cast<std::uint32_t>(known ? static_cast<float>(what.work(t.argument_bytes(), rest)) : -1.0F);
  e.time = submitted;
  e.task = reference_to(t);
  do {
    e.words = {};
    e.count = static_cast<std::uint8_t>(std::min<std::size_t>(rest.size(), 2 * e.words.size()));
    for (std::size_t k = 0; k < e.count; ++k)
      e.words[k / 2] |=
          std::uint64_t{trace::pack_use(rest[k].block->slot, static_cast<trace::use_kind>(rest[k].intent))}
          << (k % 2 * 32);
    events.add(e);
    rest = rest.subspan(e.count);
  } while (!rest.empty());
}

/// Writes a submission down; while the task cannot run yet.
inline void note_submission(trace::buffer& events, record& t, std::span<const block::task_reference> before) {
  trace::event e{trace::event_kind::submitted};
  e.small = static_cast<std::uint16_t>(t.operation->number);
  e.number = t.site.line();
  e.time = events.now();
  e.task = reference_to(t);
  e.words[0] = reinterpret_cast<std::uintptr_t>(t.site.file_name());
  auto first = e.words.begin() + 1;
  for (;;) {
    e.count = static_cast<std::uint8_t>(
        std::min<std::size_t>(before.size(), static_cast<std::size_t>(e.words.end() - first)));
    std::copy_n(before.begin(), e.count, first);
    events.add(e);
    before = before.subspan(e.count);
    if (before.empty()) break;
    e.kind = trace::event_kind::predecessors;
    first = e.words.begin();
  }
  note_uses(events, t, e.time);
}

/// One more predecessor of a task whose submission has been written down and that cannot run yet.
inline void note_predecessor(trace::buffer& events, const record& t, block::task_reference before) {
  trace::event e{trace::event_kind::predecessors};
  e.count = 1;
  e.time = events.now();
  e.task = reference_to(t);
  e.words[0] = before;
  events.add(e);
}

/// A reduction that linking has made, and whether it waits for nothing.
using linked_reduction = std::pair<record*, bool>;

/// Ends the open group of accumulates of a block: makes and links its reduction. `self` (may be 0) is not waited for.
/// `events`: null, or where the submission is written down.
inline linked_reduction close_group(block::record& b, block::task_reference self, reduction_source& reductions,
                                    trace::buffer* events) {
  block::accumulation& group = *b.sums;
  b.sums = nullptr;
  block::flow_record& flow = b.flow;
  record& reduction = reductions.make_reduction(b, group);
  std::int32_t edges = 0;
  references all;
  const auto wait = [&](block::task_reference before) {
    if (events != nullptr && before != self && before != 0) all.push_back(before);
    if (before != self && before != 0 && depend(before, reduction)) ++edges;
  };
  for_each_writer(flow, wait);
  take_readers(flow, wait);
  for (const block::task_reference adder : group.adders) wait(adder);
  set_writer(flow, reference_to(reduction));
  reduction.accesses[0].version = flow.make_version();
  if (events != nullptr) note_submission(*events, reduction, {all.data(), all.size()});
  return {&reduction, finish_linking(reduction, edges)};
}

}  // namespace tessera::task
