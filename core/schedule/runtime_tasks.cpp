#include "core/schedule/runtime_tasks.hpp"

#include <algorithm>
#include <mutex>

#include "core/validate/validator.hpp"

namespace tessera::schedule {

runtime_tasks::progress runtime_tasks::run(thread_context& thread, task::record& t) {
  if (m_setup.operations->is_destroy(t)) return run_destroy(thread, t);
  if (m_setup.operations->is_bring_home(t)) return run_bring_home(thread, t);
  if (m_setup.operations->is_retile(t)) return run_retile(thread, t);
  return run_view(thread, t);
}

void runtime_tasks::end(task::record& t) {
  if (!m_setup.operations->is_destroy(t)) return;
  block::record& b = *t.accesses[0].block;
  if (m_setup.validator != nullptr) m_setup.validator->forget(b);
  m_setup.blocks->destroy(b);
}

runtime_tasks::progress runtime_tasks::run_destroy(thread_context& thread, task::record& t) {
  auto& waits = thread.acquisition.waits;
  waits.clear();
  block::record& b = *t.accesses[0].block;
  if (b.foreign && !home_before_end(thread, t)) return progress::waits;
  if (m_setup.coherence->try_drop(b, waits)) return progress::over;
  // Without points a transfer is being handed to a plugin, or a task of a device is about to be retired.
  if (waits.empty()) return progress::try_later;
  m_owner.wait_for_points(t, waits);
  return progress::waits;
}

runtime_tasks::progress runtime_tasks::run_bring_home(thread_context& thread, task::record& t) {
  // Where there is one memory, the end of an open sum is all that it waited for.
  if (!m_setup.host->single_space()) {
    if (!m_setup.host->get_blocks(thread, t, home())) return progress::waits;
    m_setup.coherence->finish(t.all_accesses());
  }
  m_setup.write_back->note_read();
  return progress::over;
}

namespace {

/// Whether none of the blocks that are updated has contents, and none of them has failed to get some.
bool all_are_empty(std::span<const block::access> accesses) {
  return std::ranges::all_of(accesses, [](const block::access& a) {
    const std::lock_guard guard(a.block->lock);
    return a.intent == intent::write || (a.block->valid_spaces.empty() && a.block->poison == nullptr);
  });
}

}  // namespace

/// Old blocks and new ones are the same memory at home: when they are there, nothing is left to be copied. Of blocks
/// without contents, such as scratch leaves, the new ones have none either.
runtime_tasks::progress runtime_tasks::run_retile(thread_context& thread, task::record& t) {
  if (all_are_empty(t.all_accesses()))
    for (block::access& a : t.all_accesses()) a.intent = intent::scratch;
  if (!m_setup.host->get_blocks(thread, t, home())) return progress::waits;
  m_setup.host->publish(thread, t);
  return progress::over;
}

/// Acquired, then handed to the thread that waits for it.
runtime_tasks::progress runtime_tasks::run_view(thread_context& thread, task::record& t) {
  if (!m_setup.host->get_blocks(thread, t, home())) return progress::waits;
  host_access& view = host_access::of(t);
  m_setup.host->gather_operands(thread, t);
  if (m_setup.validator != nullptr) view.shadow_copies = m_setup.validator->begin_view(t, thread.operands);
  view.pointer = thread.operands[0].host;
  if (thread.events != nullptr) view.since = thread.events->now();
  m_setup.views->grant(view);
  m_owner.something_ended();  // a window counts it as one that will not end by itself
  return progress::waits;
}

/// For the end of an adopted block. False: it waits for a copy, or for memory on the way.
bool runtime_tasks::home_before_end(thread_context& thread, task::record& t) {
  transfer::acquisition& got = thread.acquisition;
  switch (m_setup.write_back->before_end(t, home().space, got, *m_setup.failures)) {
    case adopted_write_back::progress::copying:
      m_owner.wait_for_points(t, got.waits);
      return false;
    case adopted_write_back::progress::no_room:
      m_owner.wait_for_memory(t, home(), got);
      return false;
    case adopted_write_back::progress::failed:  // told at the next fence; the array ends all the same
      if (got.cause && got.cause->where.empty()) m_setup.failures->note(t, *got.cause);
      return true;
    case adopted_write_back::progress::home:
      break;
  }
  return true;
}

}  // namespace tessera::schedule
