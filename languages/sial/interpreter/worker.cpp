#include "languages/sial/interpreter/worker.hpp"

#include <fmt/format.h>

#include <chrono>

#include "languages/sial/exchange/failure.hpp"
#include "languages/sial/interpreter/arithmetic_step.hpp"
#include "languages/sial/interpreter/checked_step.hpp"

namespace tessera::sial {

worker::worker(program_run& run, unsigned number)
    : m_run(run),
      m_code(run.program),
      m_state(run, number),
      m_profile(run.settings.profile ? m_code.sites.size() : 0),
      m_names(m_code, m_state.steps),
      m_pool(run.rt, run.host_space(), run.settings.private_bytes),
      m_private(m_code, run.sizes, m_pool),
      m_statics(m_code, run.sizes, run.data),
      m_regions(run.sizes),
      m_generations(run.first_generations),
      m_cache(m_state, m_generations, m_pool),
      m_operands(m_state, m_pool, m_private, m_statics, m_cache),
      m_arithmetic(m_state, m_operands),
      m_offload(run.sources.empty()
                    ? nullptr
                    : std::make_unique<device_offload>(m_state, m_generations, m_pool, m_private, m_statics, m_cache)),
      m_pardo(m_state),
      m_prefetcher(m_state, m_generations),
      m_collectives(m_state),
      m_exchange(m_state, {m_generations, m_pool, m_operands, m_cache, m_prefetcher, m_collectives, m_offload.get()}),
      m_persistent(m_state, m_generations, m_statics, m_exchange, m_collectives),
      m_printer(m_state, m_operands, m_statics, m_regions),
      m_instructions(m_state, m_operands, m_statics, m_regions, m_private, m_cache, m_printer) {}

void worker::run() {
  step_loop();
  m_state.site = static_cast<std::uint32_t>(m_code.sites.size());  // behind the last statement
  barrier();
  m_persistent.keep();
  leave_state();
  m_state.counters.blocks_taken = m_pool.taken();
  m_state.counters.blocks_reused = m_pool.reused();
}

void worker::step_loop() {
  std::int64_t* const i = m_state.values.ints();
  double* const s = m_state.values.scalars();
  const step* const all = m_code.steps.data();
  m_at = 0;
  for (;;) {
    const step& now = all[m_at++];
    if (arithmetic_step(now, i, s, m_at)) continue;
    switch (now.operation) {
      case opcode::loop_begin:
        loop_begin(now);
        break;
      case opcode::loop_next:
        loop_next(now);
        break;
      case opcode::loop_leave:
        loop_leave(now);
        break;
      case opcode::call:
        call(now);
        break;
      case opcode::return_:
        m_at = m_returns.back();
        m_returns.pop_back();
        break;
      case opcode::iteration:
        ++m_state.counters.iterations;
        break;
      case opcode::pardo_next:
        pardo_next(now);
        break;
      case opcode::pardo_leave:
        pardo_leave();
        break;
      case opcode::end:
        return;
      default:
        m_state.site = now.site;
        if (is_checked_step(now.operation))
          checked_step(now, m_code, i, s);
        else
          statement(now);
    }
  }
}

void worker::call(const step& now) {
  m_state.site = now.site;
  if (m_returns.size() >= 10'000)
    throw run_error("10000 procedures have called each other", "a recursion without end?");
  m_returns.push_back(m_at);
  m_at = now.a;
}

void worker::loop_begin(const step& now) {
  const loop& l = m_code.loops[now.b];
  std::int64_t* const i = m_state.values.ints();
  m_state.site = now.site;
  if (i[l.index] != unbound)
    throw run_error(fmt::format("index '{}' has a value already", m_code.indices[l.variable].name),
                    "an enclosing loop runs over it");
  std::int64_t low = i[l.low], high = i[l.high];
  if (l.within != no_symbol) {
    const std::int64_t whole = i[m_code.first_index + l.within];
    if (whole == unbound) throw run_error(fmt::format("index '{}' has no value here", m_code.indices[l.within].name));
    low = (whole - 1) * pieces_of_a_segment + 1;
    high = whole * pieces_of_a_segment;
  }
  if (low > high) {
    m_at = now.a;
    return;
  }
  i[l.index] = low;
  m_private.enter_loop();
  if (m_state.number == 0 && m_private.open_loops() == 1) show_loop(now.site, 0, high - low + 1);
}

inline void worker::loop_next(const step& now) {
  const loop& l = m_code.loops[now.b];
  std::int64_t* const i = m_state.values.ints();
  const std::int64_t high = l.within == no_symbol ? i[l.high] : i[m_code.first_index + l.within] * pieces_of_a_segment;
  if (i[l.index] >= high) {
    loop_leave(now);
    return;
  }
  m_private.next_iteration();
  ++i[l.index];
  m_at = now.a;
  if (m_state.number == 0 && m_private.open_loops() == 1)
    m_run.outer.done.store(m_run.outer.done.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (m_run.workers.failed()) throw given_up();
}

void worker::loop_leave(const step& now) {
  m_private.leave_loop();
  m_state.values.integer(m_code.loops[now.b].index) = unbound;
  if (m_state.number == 0 && m_private.open_loops() == 0) show_loop(now.site, 0, 0);
}

void worker::show_loop(std::uint32_t site, std::int64_t done, std::int64_t total) {
  program_run::open_loop& shown = m_run.outer;
  shown.total.store(0, std::memory_order_relaxed);
  shown.site.store(site, std::memory_order_relaxed);
  shown.done.store(done, std::memory_order_relaxed);
  shown.began.store(std::chrono::steady_clock::now().time_since_epoch().count(), std::memory_order_relaxed);
  shown.total.store(total, std::memory_order_release);
}

bool worker::next_chunk() {
  if (!m_pardo.take_chunk()) {
    pardo_leave();
    return false;
  }
  m_prefetcher.look_ahead(m_pardo, true);
  return true;
}

void worker::pardo_begin(const step& now) {
  m_pardo.begin(now.b);
  m_private.enter_loop();
  if (!next_chunk()) m_at = now.a;
}

void worker::pardo_next(const step& now) {
  m_private.next_iteration();
  if (m_pardo.next_of_chunk()) {
    if (m_run.has_other_memories) m_prefetcher.look_ahead(m_pardo, false);
    m_at = now.a;
  } else if (next_chunk()) {
    m_at = now.a;
  }
}

void worker::pardo_leave() {
  m_private.leave_loop();
  m_pardo.end();
}

void worker::leave_state() {
  if (m_state.number != 0) return;
  final_state& left = m_run.left;
  left.ints.assign(m_state.values.ints(), m_state.values.ints() + m_code.ints.size());
  left.scalars.assign(m_state.values.scalars(), m_state.values.scalars() + m_code.scalars.size());
  left.statics = m_statics.take();
  left.generations = m_generations;
}

}  // namespace tessera::sial
