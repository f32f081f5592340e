#include "core/schedule/host_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "core/operation/tensor.hpp"
#include "core/schedule/operands.hpp"
#include "core/schedule/outcome.hpp"
#include "core/schedule/trace_points.hpp"
#include "core/task/block_names.hpp"
#include "core/task/replay.hpp"
#include "core/validate/validator.hpp"

namespace tessera::schedule {

bool host_runner::get_blocks(thread_context& thread, task::record& t, placement::place& where) {
  if ((t.flags & task::flag_acquired) != 0) {
    if (!still_good(*m_setup.coherence, m_owner, thread, t)) return false;
    if ((t.flags & task::flag_acquired) != 0) return true;
  }
  return (m_mode.single_space && resident(t.all_accesses())) || acquire(thread, t, where);
}

bool host_runner::acquire(thread_context& thread, task::record& t, placement::place& where) {
  transfer::acquisition& a = thread.acquisition;
  for (;;) {
    // In a single space nothing can be pushed out: memory becomes free when others, maybe younger ones, have run.
    m_setup.coherence->acquire(t.all_accesses(), where.space, a, m_mode.single_space ? 0 : t.sequence);
    switch (a.outcome) {
      case transfer::outcome::ready:
        return begin_acquired(t, where, a);
      case transfer::outcome::retry:
        if (a.waits.empty()) continue;
        m_owner.wait_for_points(t, a.waits);
        return false;
      case transfer::outcome::lost:  // not the host's memory
      case transfer::outcome::failed:
        m_owner.fail(thread, t, a.cause->where.empty() ? m_setup.failures->note(t, *a.cause) : a.cause);
        return false;
      case transfer::outcome::no_memory:
        if (wait_for_memory(thread, t, where, a)) return false;
    }
  }
}

bool host_runner::begin_acquired(task::record& t, placement::place& where, const transfer::acquisition& got) {
  if (m_mode.announces_uses) m_owner.begun(t);
  if (m_mode.single_space)
    m_setup.coherence->finish(t.all_accesses());  // memory is all it needed; no pins here
  else
    m_setup.coherence->relieve(where.space, t.sequence);
  if (got.waits.empty()) {
    if (!m_mode.single_space) t.flags |= task::flag_acquired;
    return true;
  }
  t.flags |= task::flag_acquired;
  m_owner.wait_for_points(t, got.waits);
  return false;
}

bool host_runner::wait_for_memory(thread_context& thread, task::record& t, placement::place& where,
                                  const transfer::acquisition& lacking) {
  const std::uint64_t missing = lacking.missing_bytes;
  const memory::space& space = m_setup.coherence->space_at(lacking.lacking);
  if (missing > space.limit()) {
    m_owner.fail(thread, t,
                 m_setup.failures->note(t, {fmt::format("its blocks need {} bytes in {}, which holds {}: {}", missing,
                                                        space.name(), space.limit(), task::names_of_blocks(t)),
                                            "", error_kind::memory}));
    return true;
  }
  if (space.waiters().events() != lacking.memory_events) return false;  // something was freed already
  // Elsewhere what is idle is evicted, and claims know the blocks of a task that waits.
  if (m_mode.single_space && m_owner.exchange_copies(t, where)) return false;
  if (!m_mode.single_space)
    m_setup.coherence->make_room(lacking.lacking, lacking.missing,
                                 t.sequence);  // one space: nothing pins, nowhere to evict to
  m_owner.wait_for_memory(t, where, lacking);
  return true;
}

void host_runner::gather_operands(thread_context& thread, task::record& t) {
  const auto accesses = t.all_accesses();
  if (!m_mode.single_space) {
    thread.operands.clear();
    return add_operands(*m_setup.coherence, accesses, thread.operands);
  }
  const memory::space& space = m_setup.coherence->space_at(host_space);
  thread.operands.resize(accesses.size());
  for (std::size_t k = 0; k < accesses.size(); ++k) {
    const block::chunk at = accesses[k].block->replicas[0].where;
    void* const host = space.host_pointer(at);  // where there is one, the address follows from it
    thread.operands[k] = operand_of(accesses[k], host != nullptr ? tsr_address{} : space.address_of(at), host);
  }
}

transfer::stream& host_runner::inline_stream(thread_context& thread) {
  if (!thread.inline_stream)
    thread.inline_stream = std::make_unique<transfer::stream>(0, *place_of(thread).device, TSR_STREAM_INLINE);
  return *thread.inline_stream;
}

bool host_runner::is_sample(thread_context& thread, const task::record& t) {
  const std::uint64_t before = thread.counters.of(t.operation->number).tasks.load(std::memory_order_relaxed);
  return before < 16 || before % 64 == 0;  // the first ones also pay for memory and caches
}

void host_runner::execute(thread_context& thread, task::record& t) {
  const std::uint64_t began = thread.events != nullptr ? thread.events->now() : 0;
  const bool learns = m_learns && is_sample(thread, t);
  const auto started = m_timed || learns ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point{};
  const std::shared_ptr<const block::failure> why = call(thread, t, call_mode::all);
  std::uint64_t ns = 0;
  if (m_timed || learns) {
    const auto passed =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - started);
    const auto took = static_cast<std::uint64_t>(std::max<std::int64_t>(passed.count(), 1));
    if (learns) m_setup.cost->learn_task(t.operation->number, took);
    if (m_timed) ns = took;
  }
  finish(thread, t, began, ns, why);
}

std::shared_ptr<const block::failure> host_runner::call(thread_context& thread, task::record& t, call_mode mode) {
  const auto accesses = t.all_accesses();
  validate::shadow_copies* shadows = nullptr;
  const std::optional<thrown> caught = thrown_by([&] {
    gather_operands(thread, t);
    operation::context c;
    c.operands = thread.operands;
    c.arguments = t.argument_bytes();
    c.argument_bytes = t.argument_size;
    c.data = t.operation->data.get();
    c.kernels = t.operation->kernels.get();
    c.device = place(thread.place).device;
    c.task_name = t.name();
    c.caller_names_task = true;  // below
    if ((t.flags & task::flag_replayed) != 0) c.replayed_with = &t.replayed().replay->value;
    if ((t.rare & task::rare_cores) != 0) c.cores = t.more->cores;
    c.worker = thread.is_program ? 0 : thread.number;  // a thread of the program runs tasks in the place of worker 0
    constexpr int zeroes = task::flag_accumulates | task::flag_fresh;
    if (t.operation->host == nullptr || (t.flags & zeroes) != 0) c.stream = inline_stream(thread).handle();
    if ((t.flags & zeroes) != 0)
      for (std::size_t k = 0; k < accesses.size(); ++k)
        if ((accesses[k].flags & task::access_fresh) != 0)
          operation::enqueue_identity(*c.device, c.stream, thread.operands[k],
                                      static_cast<block::combination_number>(accesses[k].block->position));
    if (m_setup.validator != nullptr) shadows = m_setup.validator->begin_task(t, thread.operands);
    if (t.operation->host == nullptr) {
      if (t.operation->workspace != nullptr)
        c.workspace = thread.scratch.give(t.operation->workspace(*c.device, c.arguments, accesses));
      t.operation->enqueue(c);
      if (mode == call_mode::all) inline_stream(thread).check_inline();
      thread.scratch.trim();
    } else if (mode == call_mode::all) {
      t.operation->host(c);
    }
  });
  std::shared_ptr<const block::failure> why;
  if (caught)
    why = m_setup.failures->note(t, {fmt::format("{} failed: {}", t.name(), caught->text),
                                     caught->where.empty() ? describe(t) : caught->where + ", " + describe(t),
                                     caught->kind, false, caught->hint});
  if (m_setup.validator != nullptr) m_setup.validator->end_task(shadows, why != nullptr);
  return why;
}

void host_runner::finish(thread_context& thread, task::record& t, std::uint64_t began, std::uint64_t ns,
                         const std::shared_ptr<const block::failure>& why) {
  if (thread.events != nullptr) trace_run(*thread.events, t, began, why ? trace::run_failed : 0);
  operation_counters::counter& counter = thread.counters.of(t.operation->number);
  operation_counters::add(counter.tasks, 1);
  if (ns != 0) {
    operation_counters::add(counter.nanoseconds, ns);
    learn(place(thread.place), t, ns, why != nullptr);
  }
  publish(thread, t, why);
}

void host_runner::learn(placement::place& where, task::record& t, std::uint64_t ns, bool failed) {
  where.learn(t.operation->work != nullptr ? t.operation->work(t.argument_bytes(), t.all_accesses()) : 0,
              static_cast<double>(ns));
  if (m_setup.placer->model() == nullptr || failed) return;
  placement::history::profile* profile = nullptr;
  const placement::task_size size = m_setup.placer->look_up(t, profile);
  if (profile != nullptr) m_setup.placer->learn(*profile, size, where, static_cast<double>(ns), true);
}

}  // namespace tessera::schedule
