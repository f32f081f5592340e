#include "core/task/flow.hpp"

#include <algorithm>
#include <array>
#include <boost/container/small_vector.hpp>

#include "core/base/prefetch.hpp"
#include "core/block/accumulation.hpp"
#include "core/task/flow_record.hpp"

namespace tessera::task {
namespace {

constexpr std::uint64_t one_generation = address_mask + 1;

class linking {
 public:
  linking(record& t, reduction_source& reductions, trace::buffer* events)
      : m_task(t), m_self(reference_to(t)), m_reductions(reductions), m_events(events) {}

  bool run() {
    lock();
    visit_all();
    unlock();
    for (const auto& [reduction, ready] : m_linked) m_reductions.reduction_linked(*reduction, ready);
    if (m_events != nullptr) note_submission(*m_events, m_task, {m_before.data(), m_before.size()});
    return finish_linking(m_task, m_edges);
  }

 private:
  /// With the flow locks. noexcept: edges that other tasks have seen cannot be taken back, so a system without memory
  /// for them ends the process here, where an exception would leave the locks taken and every later submission waiting.
  void visit_all() noexcept {
    // Additions last: a task that also reads or writes the block does so before its own contribution counts, and does
    // not close the group that it joins.
    bool adds = false;
    for (block::access& a : m_task.all_accesses())
      if (a.intent == intent::accumulate)
        adds = true;
      else
        visit(a);
    if (adds)
      for (block::access& a : m_task.all_accesses())
        if (a.intent == intent::accumulate) visit(a);
  }
  void lock() {
    const auto accesses = m_task.all_accesses();
    for (const block::access& a : accesses) prefetch_for_write(&a.block->flow);  // together, not one after the other
    if (accesses.size() == 1 && accesses[0].intent != intent::accumulate) {
      if (!accesses[0].block->flow.is_private) accesses[0].block->flow.lock.lock();
      return;
    }
    m_in_order = !lock_as_they_come(accesses);
    if (m_in_order) lock_in_order(accesses);
    for (const block::access& a : accesses) {  // likewise those that it will wait for
      const block::flow_record& flow = a.block->flow;
      if (flow.reader_count == 0 || a.intent == intent::read) prefetch_reference(flow.last_writer);
      if (a.intent != intent::read)
        for (std::uint8_t k = 0; k < flow.reader_count; ++k) prefetch_reference(flow.readers[k]);
    }
  }
  static void prefetch_reference(block::task_reference to) noexcept {
    prefetch_for_write(reinterpret_cast<const void*>((to & address_mask) << 4));
  }
  /// Without an order, which must be looked up in each block, where nobody else has any of the locks: who waits for
  /// none cannot be part of a ring of waiting threads. False: none is held. Accumulates exchange blocks, and are left
  /// to lock_in_order.
  static bool lock_as_they_come(std::span<block::access> accesses) noexcept {
    std::size_t held = 0;
    for (const block::access& a : accesses) {
      if (a.intent == intent::accumulate || (!a.block->flow.is_private && !a.block->flow.lock.try_lock())) break;
      ++held;
    }
    if (held == accesses.size()) return true;
    for (const block::access& a : accesses.first(held))
      if (!a.block->flow.is_private) a.block->flow.lock.unlock();
    return false;
  }
  void lock_in_order(std::span<block::access> accesses) {
    for (const block::access& a : accesses)
      if (!a.block->flow.is_private) m_blocks.push_back(a.block);
    if (m_blocks.size() > 1) {
      std::ranges::sort(m_blocks, {}, &block::record::slot);
      m_blocks.erase(std::unique(m_blocks.begin(), m_blocks.end()), m_blocks.end());
    }
    for (block::record* b : m_blocks) b->flow.lock.lock();
  }
  void unlock() {
    if (m_in_order) {
      for (block::record* b : m_blocks) b->flow.lock.unlock();
      return;
    }
    for (const block::access& a : m_task.all_accesses())
      if (!a.block->flow.is_private) a.block->flow.lock.unlock();
  }

  void wait_for(block::task_reference before) {
    if (before == m_self || before == 0) return;
    if (m_events != nullptr) m_before.push_back(before);
    // Who has made several of its blocks, or read what it writes, is one predecessor.
    const auto known = m_known.begin() + static_cast<std::ptrdiff_t>(m_known_count);
    if (std::find(m_known.begin(), known, before) != known) return;
    if (m_known_count < m_known.size()) m_known[m_known_count++] = before;
    if (depend(before, m_task)) ++m_edges;
  }

  void wait_for_writers(const block::flow_record& flow) {
    for_each_writer(flow, [&](block::task_reference before) { wait_for(before); });
  }

  void visit(block::access& a) {
    block::record& b = *a.block;
    block::flow_record& flow = b.flow;
    if (a.intent == intent::accumulate) {
      if (b.sums != nullptr && b.sums->how != a.space)
        m_linked.push_back(close_group(b, m_self, m_reductions, m_events));
      if (b.sums == nullptr) open_group(b, a.space);
      if (m_events == nullptr)
        add_unfinished(b.sums->adders, m_self);
      else
        b.sums->adders.push_back(m_self);  // a recording has all of them
      if (take_turn(a, *b.sums)) return;
      m_task.flags |= flag_accumulates;
      auto& sums = m_task.need_more().sums;
      sums.resize(m_task.all_accesses().size(), nullptr);
      sums[static_cast<std::size_t>(&a - m_task.all_accesses().data())] = b.sums;
      return;  // a private copy: no order with any task but the reduction
    }
    if (b.sums != nullptr) m_linked.push_back(close_group(b, m_self, m_reductions, m_events));
    if (a.intent == intent::read) {
      for_each_writer_to_read(flow, [&](block::task_reference before) { wait_for(before); });
      add_reader(flow, m_self);
      a.version = flow.next_version - 1;
      return;
    }
    visit_writer(a);
  }

  void open_group(block::record& b, block::combination_number how) {
    b.sums = new block::accumulation;
    b.sums->base = &b;
    b.sums->how = how;
    if (block::record* const first = make_private(*b.sums)) {
      b.sums->in_turn = true;
      b.sums->copies.push_back({first, 0, false});
    }
  }
  block::record* make_private(const block::accumulation& group) {
    block::record* const fresh = m_reductions.make_private(*group.base);
    if (fresh != nullptr) fresh->position = group.how;
    return fresh;
  }

  /// Additions in a fixed order: the access becomes one to a private copy, which its users have in the order of
  /// linking. The copy is known to its group alone, so that the base's flow lock guards it too. False: any order will
  /// do.
  bool take_turn(block::access& a, block::accumulation& group) {
    if (!group.in_turn) return false;  // the copies belong to those who run
    const bool fresh = group.turn < block::accumulation::copies_in_turn;
    const std::size_t turn = group.turn++ % block::accumulation::copies_in_turn;
    if (fresh) {
      if (turn == group.copies.size()) group.copies.push_back({make_private(group), 0, false});
      a.flags |= access_fresh;
      m_task.flags |= flag_fresh;
    }
    a.space = 0;
    a.block = group.copies[turn].block;
    a.intent = fresh ? intent::write : intent::update;
    visit_writer(a);
    return true;
  }

  void visit_writer(block::access& a) {
    block::flow_record& flow = a.block->flow;
    if (a.intent == intent::commute) [[unlikely]] {
      if (m_reductions.lets_commute()) return visit_commuter(a);
      a.intent = intent::update;
    }
    if (flow.reader_count == 0) wait_for_writers(flow);  // readers wait for them themselves
    take_readers(flow, [&](block::task_reference reader) { wait_for(reader); });
    set_writer(flow, m_self);
    a.version = flow.make_version();
  }

  /// It waits for what the first of them waits for, and not for the others. Its version is another one when its turn
  /// has come; here it is counted.
  void visit_commuter(block::access& a) {
    block::flow_record& flow = a.block->flow;
    block::flow_lists& lists = lists_of(flow);
    if (flow.commuting != block::commuting::open) {
      lists.before.clear();
      if (flow.reader_count == 0)
        for_each_writer(flow, [&](block::task_reference before) {
          if (before != 0) lists.before.push_back(before);
        });
      take_readers(flow, [&](block::task_reference reader) { lists.before.push_back(reader); });
      lists.commuters.clear();
      flow.commuting = block::commuting::open;
    }
    if (m_events == nullptr) std::erase_if(lists.before, is_finished);  // a recording has all of them
    for (const block::task_reference before : lists.before) wait_for(before);
    if (m_events == nullptr)
      add_unfinished(lists.commuters, m_self);
    else
      lists.commuters.push_back(m_self);
    a.version = flow.make_version();
    m_task.rare |= rare_commutes;
  }

  record& m_task;
  block::task_reference m_self;
  reduction_source& m_reductions;
  trace::buffer* m_events;
  references m_before;  // while recording
  std::int32_t m_edges = 0;
  bool m_in_order = false;  // how the locks were taken
  std::size_t m_known_count = 0;
  std::array<block::task_reference, 16> m_known;               // predecessors so far; not set beyond the count
  boost::container::small_vector<block::record*, 8> m_blocks;  // that are locked, if that was in order
  boost::container::small_vector<linked_reduction, 2> m_linked;
};

}  // namespace

void renew(record& t) noexcept {
  const std::uint64_t word = t.successors.load(std::memory_order_relaxed);
  // release: a thread that reads the new generation must not see the old life's fields change afterwards
  t.successors.store(generation_bits(word) + one_generation, std::memory_order_release);
  t.dependencies.store(linking_bias, std::memory_order_relaxed);
  t.access_count = 0;
  t.flags = 0;
  t.rare = 0;
  t.edge_count = 0;
  t.argument_size = 0;
  t.priority = 0;
  t.place = no_place;
  t.hint = no_hint;
  t.extension = nullptr;
  if (t.more) {
    t.more->next_edge = t.more->edges.get();
    t.more->sums.clear();
    t.more->from = nullptr;
    t.more->name.clear();
  }
}

bool depend(block::task_reference before, record& after) {
  auto& predecessor = *reinterpret_cast<record*>((before & address_mask) << 4);
  std::uint64_t word = predecessor.successors.load(std::memory_order_acquire);
  if (generation_bits(word) != generation_bits(before) || (word & address_mask) == closed_address) return false;
  edge& e = after.new_edge();
  e.successor = &after;
  for (;;) {
    e.next = reinterpret_cast<edge*>((word & address_mask) << 4);
    // release: the edge's fields; acquire on failure: to see the closing task's effects when we find it closed
    if (predecessor.successors.compare_exchange_weak(word, generation_bits(before) | packed_address(&e),
                                                     std::memory_order_release, std::memory_order_acquire))
      return true;
    if (generation_bits(word) != generation_bits(before) || (word & address_mask) == closed_address) {
      // The edge stays unused; it is given out again in the record's next life.
      return false;
    }
  }
}

bool link(record& t, reduction_source& reductions, trace::buffer* events) {
  return linking(t, reductions, events).run();
}

}  // namespace tessera::task
