#include "apps/sial/interpreter/worker.hpp"

#include <fmt/format.h>

#include <chrono>

#include "apps/sial/interpreter/arithmetic_step.hpp"
#include "apps/sial/interpreter/checked_step.hpp"

namespace tessera::sial {

worker::worker(program_run& run, unsigned number)
    : m_run(run),
      m_code(run.program),
      m_number(number),
      m_state(run, number),
      m_i(m_state.values.ints()),
      m_s(m_state.values.scalars()),
      m_site(m_state.site),
      m_statement(m_state.statement),
      m_counters(m_state.counters),
      m_pool(run.rt, run.host_space()),
      m_private(run.program, run.sizes, m_pool),
      m_statics(run.program, run.sizes, run.data),
      m_contiguous(run.sizes),
      m_generations(run.first_generations),
      m_sums(run.sizes.arrays()),
      m_fetched(m_state, m_generations, m_pool),
      m_operands(m_state, m_pool, m_private, m_statics, m_fetched),
      m_arithmetic(m_state, m_operands),
      m_printer(m_state, m_operands, m_statics, m_contiguous),
      m_instructions(m_state, m_operands, m_statics, m_contiguous, m_private, m_fetched, m_printer),
      m_ahead(run.sizes) {
  if (!run.sources.empty()) m_placement = std::make_unique<placement>(run, number);
  if (run.settings.profile) m_profile.resize(m_code.sites.size());
}

void worker::fail_if_stopped() {
  if (m_run.workers.failed()) throw given_up();
}

void worker::loop_leave(const loop& l) {
  m_private.leave_loop();
  m_i[l.index] = unbound;
  if (m_number == 0 && m_private.open_loops() == 0) show_loop(m_site, 0, 0);
}

void worker::show_loop(std::uint32_t site, std::int64_t done, std::int64_t total) {
  program_run::open_loop& shown = m_run.outer;
  shown.total.store(0, std::memory_order_relaxed);
  shown.site.store(site, std::memory_order_relaxed);
  shown.done.store(done, std::memory_order_relaxed);
  shown.began.store(std::chrono::steady_clock::now().time_since_epoch().count(), std::memory_order_relaxed);
  shown.total.store(total, std::memory_order_release);
}

void worker::run() {
  step_loop();
  m_site = static_cast<std::uint32_t>(m_code.sites.size());  // behind the last statement
  barrier();
  keep_persistents();
  leave_state();
  m_counters.blocks_taken = m_pool.taken();
  m_counters.blocks_reused = m_pool.reused();
}

void worker::step_loop() {
  std::int64_t* const i = m_state.values.ints();
  double* const s = m_state.values.scalars();
  const step* const all = m_code.steps.data();
  m_at = 0;
  for (;;) {
    const step& now = all[m_at++];
    if (arithmetic_step(now, i, s, m_at)) continue;
    switch (now.what) {
      case opcode::loop_begin:
        loop_begin(now);
        break;
      case opcode::loop_next:
        loop_next(now);
        break;
      case opcode::loop_leave:
        loop_leave(m_code.loops[now.b]);
        break;
      case opcode::call:
        call(now);
        break;
      case opcode::return_:
        m_at = m_returns.back();
        m_returns.pop_back();
        break;
      case opcode::iteration:
        ++m_counters.iterations;
        break;
      case opcode::pardo_next:
        if (pardo_next(now)) m_at = now.a;
        break;
      case opcode::pardo_leave:
        pardo_leave(m_code.pardos[now.b]);
        break;
      case opcode::end:
        return;
      default:
        m_site = now.site;
        if (is_checked_step(now.what))
          checked_step(now, m_code, i, s);
        else
          statement(now);
    }
  }
}

void worker::call(const step& now) {
  m_site = now.site;
  if (m_returns.size() >= 10'000)
    throw run_error("10000 procedures have called each other", "a recursion without end?");
  m_returns.push_back(m_at);
  m_at = now.a;
}

void worker::loop_begin(const step& now) {
  const loop& l = m_code.loops[now.b];
  m_site = now.site;
  if (m_i[l.index] != unbound)
    throw run_error(fmt::format("index '{}' has a value already", m_code.indices[l.variable].name),
                    "an enclosing loop runs over it");
  std::int64_t low = m_i[l.low], high = m_i[l.high];
  if (l.within != no_symbol) {
    const std::int64_t whole = m_i[m_code.first_index + l.within];
    if (whole == unbound) throw run_error(fmt::format("index '{}' has no value here", m_code.indices[l.within].name));
    low = (whole - 1) * pieces_of_a_segment + 1;
    high = whole * pieces_of_a_segment;
  }
  if (low > high) {
    m_at = now.a;
    return;
  }
  m_i[l.index] = low;
  m_private.enter_loop();
  if (m_number == 0 && m_private.open_loops() == 1) show_loop(now.site, 0, high - low + 1);
}

inline void worker::loop_next(const step& now) {
  const loop& l = m_code.loops[now.b];
  m_private.next_iteration();
  const std::int64_t high =
      l.within == no_symbol ? m_i[l.high] : m_i[m_code.first_index + l.within] * pieces_of_a_segment;
  if (m_i[l.index] < high) {
    ++m_i[l.index];
    m_at = now.a;
    if (m_number == 0 && m_private.open_loops() == 1)
      m_run.outer.done.store(m_run.outer.done.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    fail_if_stopped();
  } else {
    m_private.leave_loop();
    m_i[l.index] = unbound;
    if (m_number == 0 && m_private.open_loops() == 0) show_loop(now.site, 0, 0);
  }
}

void worker::statement(const step& now) {
  switch (now.what) {
    case opcode::stop:
      throw run_error("the program stops here", "it says: stop");
    case opcode::devices_on:
      ++m_device_regions;
      break;
    case opcode::devices_off:
      m_device_regions -= now.a;
      break;
    case opcode::pardo_begin:
      if (!pardo_begin(now)) m_at = now.a;
      break;
    default:
      ++m_statement;
      if (m_profile.empty())
        data_step(now);
      else
        timed_step(now);
  }
}

void worker::execute(std::size_t number) {
  const execution& e = m_code.executions[number];
  if (m_placement != nullptr && m_run.instruction_forms[number] != nullptr) {
    ++(on_device(e, number, *m_run.instruction_forms[number]) ? m_counters.on_devices : m_counters.in_place);
    return;
  }
  execute_in_place(e);
}

void worker::execute_in_place(const execution& e) {
  const std::string& signature = m_code.specials[e.special].signature;
  if (m_placement != nullptr)  // before any is looked at: the same block may be there twice
    for (std::size_t k = 0; k < e.arguments.size(); ++k)
      if (e.arguments[k].what == execution::argument::kind::block && signature[k] != 'r')
        bring_target(e.arguments[k].of);
  m_instructions.call(e);
}

void worker::data_step(const step& now) {
  switch (now.what) {
    case opcode::load_element:
      m_s[now.a] = m_arithmetic.element(now.b);
      break;
    case opcode::inner_product:
      m_s[now.a] = m_arithmetic.inner_product(m_code.block_operations[now.b]);
      break;
    case opcode::block_fill:
    case opcode::block_add:
    case opcode::block_multiply:
    case opcode::block_copy:
    case opcode::block_sum:
    case opcode::block_scale:
    case opcode::block_product:
      if (m_placement == nullptr)
        m_arithmetic.execute(now);
      else
        placed_arithmetic(now);
      break;
    case opcode::block_slice:
      m_arithmetic.slice(m_code.block_operations[now.b]);
      break;
    case opcode::region_fill:
      region_fill(m_code.region_operations[now.b], m_s[now.a]);
      break;
    case opcode::region_from_block:
      region_from_block(m_code.region_operations[now.b]);
      break;
    case opcode::block_from_region:
      block_from_region(m_code.region_operations[now.b]);
      break;
    case opcode::fetch:
      fetch(m_code.references[now.b]);
      break;
    case opcode::store_block:
      store_to(m_code.stores[now.b], 0);
      break;
    case opcode::store_scalar:
      store_to(m_code.stores[now.b], m_s[now.a]);
      break;
    case opcode::create:
      break;  // blocks appear when they are first put
    case opcode::remove:
      remove(now.a);
      break;
    case opcode::allocate:
      m_private.allocate(m_code.allocations[now.b], m_state.values);
      break;
    case opcode::release:
      m_private.release(m_code.allocations[now.b], m_state.values);
      break;
    case opcode::allocate_region:
      m_contiguous.allocate(m_code.regions[now.b], m_state.values);
      break;
    case opcode::release_region:
      m_contiguous.release(m_code.regions[now.b], m_state.values);
      break;
    case opcode::barrier:
      barrier();
      break;
    case opcode::collective:
      collective(now.a, m_s[now.b]);
      break;
    case opcode::broadcast:
      broadcast(m_i[now.a], now.b);
      break;
    case opcode::assert_same:
      assert_same(now.a);
      break;
    case opcode::execute:
      execute(now.b);
      break;
    case opcode::set_persistent:
      set_persistent(m_code.persistents[now.b]);
      break;
    case opcode::restore_persistent:
      restore_persistent(m_code.persistents[now.b]);
      break;
    case opcode::print:
      m_printer.print(m_code.prints[now.b]);
      break;
    default:
      throw error(error_kind::internal, fmt::format("instruction {} is not known", static_cast<int>(now.what)));
  }
}

void worker::timed_step(const step& now) {
  const auto began = std::chrono::steady_clock::now();
  const std::uint64_t waited = m_counters.waited();
  const std::uint32_t site = now.site;
  const std::uint64_t handed_over = m_counters.on_devices;
  data_step(now);
  m_profile[site].on_devices += m_counters.on_devices - handed_over;
  m_profile[site].add(nanoseconds_since(began), m_counters.waited() - waited);
}

}  // namespace tessera::sial
