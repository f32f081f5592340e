// The part of the scheduler that runs tasks on the host, and that ends every task: failure, release, retirement.
#include <fmt/format.h>

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <utility>

#include "core/base/fence.hpp"
#include "core/operation/tensor.hpp"
#include "core/schedule/device/driver.hpp"
#include "core/schedule/operands.hpp"
#include "core/schedule/scheduler.hpp"
#include "core/schedule/single_space.hpp"
#include "core/schedule/trace_points.hpp"
#include "core/validate/validator.hpp"

namespace tessera::schedule {
void scheduler::run(thread_context& mine, task::record& t) {
  const thread_context::runtime_scope on(mine);
  if (cancelled() && !m_own.is_destroy(t)) {
    if ((t.flags & task::flag_acquired) != 0) m_setup.coherence->finish(t.all_accesses());
    fail_unstarted(mine, t, m_failures.cancellation());  // names no task: none of them is the cause
    return;
  }
  if (t.operation->special != nullptr) {
    run_special(mine, t);
    return;
  }
  if (m_placer.model() != nullptr && place_again(mine, t)) return;
  placement::place& where = *m_places[t.place == task::no_place ? mine.place : t.place];
  if ((t.flags & task::flag_accumulates) != 0 && (t.flags & task::flag_prepared) == 0) give_copies(t, where);
  if ((t.flags & task::flag_acquired) != 0 && !still_good(mine, t)) return;
  if ((t.flags & task::flag_acquired) == 0 && !(m_single_space && resident(t.all_accesses())) &&
      !acquire(mine, t, where))
    return;
  execute(mine, t);
}

bool scheduler::still_good(thread_context& mine, task::record& t) {
  const auto accesses = t.all_accesses();
  if (std::shared_ptr<const block::failure> why = poison_of(accesses)) {
    m_setup.coherence->finish(accesses);
    fail_unstarted(mine, t, why);
    return false;
  }
  if (m_setup.coherence->arrived(accesses)) return true;
  m_setup.coherence->finish(accesses);
  t.flags &= static_cast<std::uint8_t>(~task::flag_acquired);
  return true;
}

bool scheduler::acquire(thread_context& mine, task::record& t, placement::place& where) {
  transfer::acquisition& a = mine.acquisition;
  for (;;) {
    // In a single space nothing can be pushed out: memory becomes free when others, maybe younger ones, have run.
    m_setup.coherence->acquire(t.all_accesses(), where.space, a, m_single_space ? 0 : t.sequence);
    switch (a.outcome) {
      case transfer::outcome::ready:
        begun(t);
        if (m_single_space)
          m_setup.coherence->finish(t.all_accesses());  // memory is all it needed; no pins here
        else
          m_setup.coherence->relieve(where.space, t.sequence);
        if (a.waits.empty()) {
          if (!m_single_space) t.flags |= task::flag_acquired;
          return true;
        }
        t.flags |= task::flag_acquired;
        wait_for_points(t, a.waits);
        return false;
      case transfer::outcome::retry:
        if (a.waits.empty()) continue;
        wait_for_points(t, a.waits);
        return false;
      case transfer::outcome::lost:  // not the host's memory
      case transfer::outcome::failed:
        fail_unstarted(mine, t, a.cause->where.empty() ? m_failures.note(t, *a.cause) : a.cause);
        return false;
      case transfer::outcome::no_memory: {
        const memory::space_number lacking = a.lacking;
        const std::uint64_t missing = a.missing_bytes;
        if (missing > m_setup.coherence->space_at(lacking).limit()) {
          fail_unstarted(mine, t,
                         m_failures.note(t, {fmt::format("its blocks need {} bytes in {}, which holds {}", missing,
                                                         m_setup.coherence->space_at(lacking).name(),
                                                         m_setup.coherence->space_at(lacking).limit()),
                                             "", error_kind::memory}));
          return false;
        }
        if (m_setup.coherence->space_at(lacking).events() != a.memory_events) continue;  // something was freed already
        if (!m_single_space)
          m_setup.coherence->make_room(lacking, missing, t.sequence);  // one space: nothing pins, nowhere to evict to
        wait_for_memory(t, where, a);
        return false;
      }
    }
  }
}

void scheduler::gather_operands(thread_context& mine, task::record& t) {
  mine.operands.clear();
  if (!m_single_space) return add_operands(*m_setup.coherence, t.all_accesses(), mine.operands);
  const memory::space& space = m_setup.coherence->space_at(host_space);
  for (const block::access& a : t.all_accesses()) {
    const block::chunk at = a.block->replicas[0].where;
    mine.operands.push_back(operand_of(a, space.address_of(at), space.host_pointer(at)));
  }
}

transfer::stream& scheduler::inline_stream(thread_context& mine) {
  if (!mine.inline_stream)
    mine.inline_stream =
        std::make_unique<transfer::stream>(0, *m_places[mine.is_driver ? 0 : mine.place]->device, TSR_STREAM_INLINE);
  return *mine.inline_stream;
}

void scheduler::execute(thread_context& mine, task::record& t) {
  if (m_simulated != nullptr) {
    execute_virtually(mine, t);
    return;
  }
  const bool timed = m_timing || !m_single_place || m_placer.model() != nullptr;
  const std::uint64_t began = mine.events != nullptr ? mine.events->now() : 0;
  const auto started = timed ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point{};
  const std::shared_ptr<const block::failure> why = call(mine, t, false);
  std::uint64_t ns = 0;
  if (timed) {
    const auto passed =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - started);
    ns = static_cast<std::uint64_t>(std::max<std::int64_t>(passed.count(), 1));
  }
  executed(mine, t, began, ns, why);
}

std::shared_ptr<const block::failure> scheduler::call(thread_context& mine, task::record& t, bool enqueue_only) {
  const auto accesses = t.all_accesses();
  const placement::place& where = *m_places[mine.place];
  validate::shadow_copies* lent = nullptr;
  const std::optional<thrown> what = thrown_by([&] {
    gather_operands(mine, t);
    operation::context c;
    c.operands = mine.operands;
    c.arguments = t.argument_bytes();
    c.argument_bytes = t.argument_size;
    c.data = t.operation->data.get();
    c.kernels = t.operation->kernels.get();
    c.device = where.device;
    c.task_name = t.name();
    if ((t.flags & task::flag_replayed) != 0) c.replayed_with = &t.replayed().replay->value;
    c.worker = mine.is_program ? 0 : mine.number;  // a thread of the program runs tasks in the place of worker 0
    constexpr int zeroes = task::flag_accumulates | task::flag_fresh;
    if (t.operation->host == nullptr || (t.flags & zeroes) != 0) c.stream = inline_stream(mine).handle();
    if ((t.flags & zeroes) != 0)
      for (std::size_t k = 0; k < accesses.size(); ++k)
        if ((accesses[k].flags & task::access_fresh) != 0)
          operation::enqueue_zero(*c.device, c.stream, mine.operands[k]);
    if (m_validator != nullptr) lent = m_validator->begin_task(t, mine.operands);
    if (t.operation->host == nullptr) {
      if (t.operation->workspace != nullptr)
        c.workspace = mine.scratch.give(t.operation->workspace(*c.device, c.arguments, accesses));
      t.operation->enqueue(c);
      if (!enqueue_only) inline_stream(mine).check_inline();
      mine.scratch.trim();
    } else if (!enqueue_only) {
      t.operation->host(c);
    }
  });
  std::shared_ptr<const block::failure> why;
  if (what)
    why = m_failures.note(t, {fmt::format("{} failed: {}", t.name(), what->text),
                              what->where.empty() ? describe(t) : what->where + ", " + describe(t), what->kind});
  if (m_validator != nullptr) m_validator->end_task(lent, why != nullptr);
  return why;
}

void scheduler::executed(thread_context& mine, task::record& t, std::uint64_t began, std::uint64_t ns,
                         const std::shared_ptr<const block::failure>& why) {
  const auto accesses = t.all_accesses();
  placement::place& where = *m_places[mine.place];
  if (mine.events != nullptr) trace_run(*mine.events, t, began, why ? trace::run_failed : 0);
  const std::uint32_t number = t.operation->number;
  operation_counters::counter& counter = mine.counters.of(number);
  operation_counters::add(counter.tasks, 1);
  if (ns != 0) {
    operation_counters::add(counter.nanoseconds, ns);
    where.learn(t.operation->work != nullptr ? t.operation->work(t.argument_bytes(), accesses) : 0,
                static_cast<double>(ns));
    if (m_placer.model() != nullptr && !why) {
      placement::history::profile* profile = nullptr;
      const placement::task_size size = m_placer.look_up(t, profile);
      if (profile != nullptr) m_placer.learn(*profile, size, where, static_cast<double>(ns), true);
    }
  }

  if (m_single_space && (t.flags & task::flag_acquired) == 0) {
    operation_counters::add(mine.versions, commit_in_place(accesses));
    if (why) m_setup.coherence->poison(accesses, why);
  } else {
    m_setup.coherence->publish(accesses, {});
    m_setup.coherence->finish(accesses, why);
  }
  complete(mine, t);
}

void scheduler::complete(thread_context& mine, task::record& t, when_ready then) {
  const std::uint64_t bytes = window_bytes_of(t);
  if ((t.flags & (task::flag_accumulates | task::flag_reduction)) != 0) {
    if ((t.flags & task::flag_reduction) != 0 &&
        reductions::next_stage(t, [this](block::record& copy) { destroy_later(copy); })) {
      dispatch(mine, t, when_ready::queue);
      return;
    }
    reductions::give_back(t);
  }
  release(mine, t, then);
  retire(mine, t, bytes);
}

std::uint64_t scheduler::window_bytes_of(task::record& t) const {
  if (!m_window.counts_bytes() || t.operation->special != nullptr || (t.flags & task::flag_reduction) != 0) return 0;
  std::uint64_t bytes = 0;
  for (const block::access& a : t.all_accesses()) bytes += a.block->bytes;
  return bytes;
}

void scheduler::retire(thread_context& mine, task::record& t, std::uint64_t window_bytes) {
  if ((t.flags & task::flag_reduction) != 0)
    reductions::end_group(t, [this](block::record& copy) { destroy_later(copy); });
  if (t.operation->destroy_arguments != nullptr && (t.flags & task::flag_replayed) == 0) {
    const thread_context::runtime_scope on(mine);  // it may be the end of arrays
    t.operation->destroy_arguments(t.argument_bytes());
  }
  if (!m_single_place && t.place != task::no_place && t.operation->special == nullptr)
    m_placer.discharge(t, *m_places[t.place]);
  m_threads.keep_finished(mine, t);
  if (window_bytes != 0)
    mine.retired_bytes.store(mine.retired_bytes.load(std::memory_order_relaxed) + window_bytes,
                             std::memory_order_release);
  // release: whoever sees the count sees the task's effects
  mine.retired.store(mine.retired.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

void scheduler::fail_unstarted(thread_context& mine, task::record& t, std::shared_ptr<const block::failure> why) {
  mine.to_give_up.push_back({&t, std::move(why)});
  if (std::exchange(mine.gives_up, true)) return;  // a successor of one that is being given up
  while (!mine.to_give_up.empty()) {
    const thread_context::given_up next = std::move(mine.to_give_up.back());
    mine.to_give_up.pop_back();
    give_up(mine, *next.t, next.why);
  }
  mine.gives_up = false;
  m_pool.wake_waiters();
}

void scheduler::give_up(thread_context& mine, task::record& t, const std::shared_ptr<const block::failure>& why) {
  m_failures.note_given_up(why, t.operation->special == nullptr);
  if (m_own.is_bring_home(t)) m_write_back.note_read();
  if (m_validator != nullptr && !m_own.is_housekeeping(t)) m_validator->started(t);
  begun(t);
  m_setup.coherence->give_up(t.all_accesses(), t.sequence);
  if (m_own.is_view(t)) {
    host_access& hold = host_access::of(t);
    hold.why = why;
    release(mine, t, when_ready::queue);
    retire(mine, t, 0);
    host_views::refuse(hold);
    m_pool.wake_waiters();
    return;
  }
  if ((t.flags & task::flag_accumulates) != 0 && (t.flags & task::flag_prepared) == 0) reductions::note_missing(t, why);
  if (why->by_loss && (t.flags & task::flag_reduction) != 0)
    m_setup.coherence->losses().note(*t.more->sums[0]->base, why);  // an addend
  m_setup.coherence->poison(t.all_accesses(), why);
  complete(mine, t, when_ready::queue);  // the thread may be one that runs no tasks
}

bool scheduler::resolve_memory_deadlock(thread_context& mine) {
  memory_deadlock::finding found = m_deadlock.resolve(m_single_space);
  if (found.hopeless == nullptr) return found.released;
  task::record* const t = parking::give_up(*found.hopeless);
  if (t == nullptr) return true;
  constexpr std::size_t most_named = 4;
  const auto accesses = t->all_accesses();
  std::string why = std::move(found.why) + "; it needs ";
  for (std::size_t k = 0; k < std::min(accesses.size(), most_named); ++k)
    why += (k == 0 ? "" : ", ") + block::name_of(*accesses[k].block);
  if (accesses.size() > most_named) why += fmt::format(" and {} more blocks", accesses.size() - most_named);
  fail_unstarted(mine, *t, m_failures.note(*t, {std::move(why), "", error_kind::memory}));
  return true;
}

void scheduler::run_special(thread_context& mine, task::record& t) {
  if (m_own.is_destroy(t)) {
    auto& waits = mine.acquisition.waits;
    waits.clear();
    block::record& b = *t.accesses[0].block;
    if (b.foreign && !home_before_end(mine, t)) return;
    if (!m_setup.coherence->try_drop(b, waits)) {
      if (!waits.empty()) {
        wait_for_points(t, waits);
      } else if (m_simulated != nullptr) {
        try_later(t);
      } else {  // a transfer is being handed to a plugin, or a task of a device is about to be retired
        std::this_thread::yield();
        m_places[0]->mailbox.push(t);
        m_pool.note_task();
      }
      return;
    }
    release(mine, t, when_ready::run_next);
    if (m_validator != nullptr) m_validator->forget(b);
    m_setup.blocks->destroy(b);
    retire(mine, t, 0);
    return;
  }
  if (m_own.is_bring_home(t)) {
    run_home(mine, t);
    return;
  }
  run_host_access(mine, t);
}

void scheduler::destroy_later(block::record& block) {
  if (m_validator != nullptr && !m_validator->destroyed(block)) return;
  if (block.foreign) m_write_back.end(block);
  thread_context* mine = nullptr;
  task::record& t = begin(m_own.destroy, std::source_location::current(), mine);
  if (mine->recorder != nullptr) mine->recorder->destroyed(block);
  t.access_count = 1;
  t.accesses[0] = {.block = &block, .version = 0, .intent = intent::write, .flags = 0, .space = 0};
  commit(*mine, t, false);  // also called while a task is being retired, where nobody may wait
}

}  // namespace tessera::schedule
