// The part of the scheduler that has tasks run, and ends every task: failure, release, retirement.
#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "core/schedule/outcome.hpp"
#include "core/schedule/scheduler.hpp"
#include "core/schedule/simulated_run.hpp"
#include "core/task/block_names.hpp"
#include "core/validate/validator.hpp"

namespace tessera::schedule {

void scheduler::run(thread_context& thread, task::record& t) {
  const thread_context::runtime_scope on(thread);
  if (m_failures.cancelled() && given_up_by_cancel(thread, t)) [[unlikely]]
    return;
  if (t.operation->special != nullptr) {
    run_special(thread, t);
    return;
  }
  if (!m_host.prepare(thread, t)) return;
  if ((t.rare & task::rare_cores) != 0) [[unlikely]]
    return m_pool.gather(t);
  if (m_simulated != nullptr) {
    m_simulated->occupy(thread, t, m_host.call(thread, t, host_runner::call_mode::enqueue_only));
    return;
  }
  m_host.execute(thread, t);
  complete(thread, t);
}

bool scheduler::given_up_by_cancel(thread_context& thread, task::record& t) {
  if (m_own.is_destroy(t)) return false;
  if ((t.flags & task::flag_acquired) != 0) m_setup.coherence->finish(t.all_accesses());
  fail(thread, t, m_failures.cancellation());  // names no task: none of them is the cause
  return true;
}

void scheduler::run_gathered(thread_context& thread, task::record& t) {
  const thread_context::runtime_scope on(thread);
  if (m_failures.cancelled() && given_up_by_cancel(thread, t)) [[unlikely]]
    return;
  if (!m_host.prepare(thread, t)) return;
  m_host.execute(thread, t);
  complete(thread, t);
}

void scheduler::run_special(thread_context& thread, task::record& t) {
  switch (m_runtime_tasks.run(thread, t)) {
    case runtime_tasks::progress::waits:
      return;
    case runtime_tasks::progress::try_later:
      if (m_simulated != nullptr) {
        m_simulated->try_later(t);
        return;
      }
      std::this_thread::yield();
      m_places[0]->mailbox.push(t);
      m_pool.note_task();
      return;
    case runtime_tasks::progress::over:
      break;
  }
  release_successors(thread, t, when_ready::run_next);
  m_runtime_tasks.end(t);
  retire(thread, t, 0);
}

void scheduler::complete(thread_context& thread, task::record& t, when_ready then) {
  const std::uint64_t bytes = m_submissions.window().counts_bytes() ? window_bytes_of(t) : 0;
  if ((t.flags & (task::flag_accumulates | task::flag_reduction)) != 0) {
    if ((t.flags & task::flag_reduction) != 0 &&
        reductions::next_stage(t, [this](block::record& copy) { destroy_later(copy); })) {
      dispatch(thread, t, when_ready::queue);
      return;
    }
    m_reductions.give_back(t);
  }
  release_successors(thread, t, then);
  retire(thread, t, bytes);
}

std::uint64_t scheduler::window_bytes_of(task::record& t) const {
  if (!m_submissions.window().counts_bytes() || t.operation->special != nullptr ||
      (t.flags & task::flag_reduction) != 0)
    return 0;
  std::uint64_t bytes = 0;
  for (const block::access& a : t.all_accesses()) bytes += a.block->bytes;
  return bytes;
}

void scheduler::retire(thread_context& thread, task::record& t, std::uint64_t window_bytes) {
  task::group* const group = (t.rare & task::rare_group) != 0 ? t.more->group : nullptr;
  if ((t.flags & task::flag_reduction) != 0)
    m_reductions.end_group(t, [this](block::record& copy) { destroy_later(copy); });
  if (t.operation->destroy_arguments != nullptr && (t.flags & task::flag_replayed) == 0) {
    const thread_context::runtime_scope on(thread);  // it may be the end of arrays
    t.operation->destroy_arguments(t.argument_bytes());
  }
  if (!m_mode.single_place && t.place != task::no_place && t.operation->special == nullptr)
    m_placer.discharge(t, *m_places[t.place]);
  m_threads.keep_finished(thread, t);
  if (window_bytes != 0)
    thread.retired_bytes.store(thread.retired_bytes.load(std::memory_order_relaxed) + window_bytes,
                               std::memory_order_release);
  // release: whoever sees the count sees the task's effects
  thread.retired.store(thread.retired.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  if (group != nullptr && group->leave()) [[unlikely]]
    m_pool.wake_waiters();
}

void scheduler::fail(thread_context& thread, task::record& t, std::shared_ptr<const block::failure> why) {
  thread.to_give_up.push_back({&t, std::move(why)});
  if (std::exchange(thread.gives_up, true)) return;  // a successor of one that is being given up
  while (!thread.to_give_up.empty()) {
    const thread_context::given_up next = std::move(thread.to_give_up.back());
    thread.to_give_up.pop_back();
    give_up(thread, *next.t, next.why);
  }
  thread.gives_up = false;
  m_pool.wake_waiters();
}

void scheduler::give_up(thread_context& thread, task::record& t, const std::shared_ptr<const block::failure>& why) {
  if ((t.rare & task::rare_group) != 0) t.more->group->note(why);
  // What blocks of another cut take over was told when it failed.
  if (!m_own.is_retile(t)) m_failures.note_given_up(why, t.operation->special == nullptr);
  if (m_own.is_bring_home(t)) m_write_back.note_read();
  if (m_setup.validator != nullptr && !m_own.is_housekeeping(t)) m_setup.validator->started(t);
  begun(t);
  m_setup.coherence->give_up(t.all_accesses(), t.sequence);
  if (m_own.is_view(t)) {
    host_access& hold = host_access::of(t);
    hold.why = why;
    release_successors(thread, t, when_ready::queue);
    retire(thread, t, 0);
    host_views::refuse(hold);
    m_pool.wake_waiters();
    return;
  }
  if ((t.flags & task::flag_accumulates) != 0 && (t.flags & task::flag_prepared) == 0) reductions::note_missing(t, why);
  if (why->by_loss && (t.flags & task::flag_reduction) != 0)
    m_setup.coherence->losses().note(*t.more->sums[0]->base, why);  // an addend
  m_setup.coherence->poison(t.all_accesses(), why);
  complete(thread, t, when_ready::queue);  // the thread may be one that runs no tasks
}

bool scheduler::resolve_deadlock(thread_context& thread) {
  return resolve_memory_deadlock(thread) || m_view_deadlock.resolve();
}

bool scheduler::resolve_memory_deadlock(thread_context& thread) {
  memory_deadlock::finding found = m_deadlock.resolve(m_mode.single_space);
  if (found.hopeless == nullptr) return found.released;
  task::record* const t = parking::give_up(*found.hopeless);
  if (t == nullptr) return true;
  std::string why = std::move(found.why) + "; it needs " + task::names_of_blocks(*t);
  fail(thread, *t, m_failures.note(*t, {std::move(why), "", error_kind::memory}));
  return true;
}

bool scheduler::join_private_copies(memory::space_number space) {
  if (m_reductions.may_look_again()) {
    m_setup.coherence->space_at(space).waiters().notify();
    return true;
  }
  thread_context& thread = current_thread();
  return m_reductions.join_copies(
      space,
      [&](std::span<block::access> two, block::accumulation& group) {
        const bool adds = group.how == block::addition;
        const block::combination* const how = adds ? nullptr : &block::combination_at(group.how);
        bool joined = false;
        const std::optional<thrown> caught = thrown_by([&] {  // by the program's own combination
          joined =
              m_host.run_resident(thread, space, adds ? m_own.reduce : m_own.combine, how, adds ? 0 : sizeof *how, two);
        });
        if (caught)
          group.missing = m_failures.note(
              block::failure{caught->text, "the accumulates into " + block::name_of(*group.base), caught->kind});
        return joined;
      },
      [this](block::record& joined) { destroy_later(joined); });
}

void scheduler::destroy_later(block::record& block) {
  if (m_setup.validator == nullptr)
    block.owner = 0;                              // a handle that is used from now on is refused
  else if (!m_setup.validator->destroyed(block))  // which tells of such a use itself, and says more
    return;
  m_recorded_blocks.ended(block);
  if (block.foreign) m_write_back.end(block);
  thread_context* thread = nullptr;
  task::record& t = begin(m_own.destroy, std::source_location::current(), thread);
  if (thread->recorder != nullptr) thread->recorder->destroyed(block);
  t.access_count = 1;
  t.accesses[0] = {.block = &block, .version = 0, .intent = intent::write, .flags = 0, .space = 0};
  commit(*thread, t, false);  // also called while a task is being retired, where nobody may wait
}

}  // namespace tessera::schedule
