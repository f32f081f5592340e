// Statements: each goes to the part of the worker that executes it.
#include <fmt/format.h>

#include <chrono>

#include "languages/sial/exchange/failure.hpp"
#include "languages/sial/interpreter/worker.hpp"

namespace tessera::sial {

void worker::statement(const step& now) {
  switch (now.operation) {
    case opcode::stop:
      throw run_error("the program stops here", "it says: stop");
    case opcode::devices_on:
      if (m_offload) m_offload->enter_region();
      break;
    case opcode::devices_off:
      if (m_offload) m_offload->leave_regions(now.a);
      break;
    case opcode::pardo_begin:
      pardo_begin(now);
      break;
    default:
      ++m_state.statement;
      if (m_profile.empty() && !m_state.steps.records())
        data_step(now);
      else
        timed_step(now);
  }
}

void worker::timed_step(const step& now) {
  const auto began = std::chrono::steady_clock::now();
  const run_counters& counted = m_state.counters;
  const std::uint64_t waited = counted.waited(), submitted = counted.on_devices, exchanged = counted.exchanged_bytes();
  const double computed = counted.flops;
  if (m_state.steps.records() && !is_collective(now.operation)) {
    const std::uint64_t ticks = m_state.steps.now();
    data_step(now);
    // Contractions are counted, other arithmetic is not; what a device was given takes its time there.
    const double flops = counted.flops - computed;
    m_names.record(now, ticks, flops > 0 && counted.on_devices == submitted ? flops : -1);
  } else {
    data_step(now);  // which records its wait
  }
  if (m_profile.empty()) return;
  statement_profile& to = m_profile[now.site];
  to.on_devices += counted.on_devices - submitted;
  to.bytes += counted.exchanged_bytes() - exchanged;
  to.flops += counted.flops - computed;
  const std::uint64_t took = nanoseconds_since(began);
  to.add(took, is_collective(now.operation) ? took : counted.waited() - waited);
}

void worker::data_step(const step& now) {
  switch (now.operation) {
    case opcode::load_element:
      m_state.values.scalar(now.a) = m_arithmetic.element(now.b);
      break;
    case opcode::inner_product:
      m_state.values.scalar(now.a) = m_arithmetic.inner_product(m_code.block_operations[now.b]);
      break;
    case opcode::block_fill:
    case opcode::block_add:
    case opcode::block_multiply:
    case opcode::block_copy:
    case opcode::block_sum:
    case opcode::block_scale:
    case opcode::block_product:
      block_statement(now);
      break;
    case opcode::block_slice:
      m_arithmetic.slice(m_code.block_operations[now.b]);
      break;
    case opcode::fetch:
      m_exchange.fetch(m_code.references[now.b]);
      break;
    case opcode::store_block:
      m_exchange.store_to(m_code.stores[now.b], 0);
      break;
    case opcode::store_scalar:
      m_exchange.store_to(m_code.stores[now.b], m_state.values.scalar(now.a));
      break;
    case opcode::execute:
      execute(now.b);
      break;
    case opcode::print:
      m_printer.print(m_code.prints[now.b]);
      break;
    default:
      if (!local_step(now) && !shared_step(now))
        throw error(error_kind::internal, fmt::format("instruction {} is not known", static_cast<int>(now.operation)));
  }
}

bool worker::local_step(const step& now) {
  switch (now.operation) {
    case opcode::region_fill:
      region_fill(m_code.region_operations[now.b], m_state.values.scalar(now.a));
      return true;
    case opcode::region_from_block:
      region_from_block(m_code.region_operations[now.b]);
      return true;
    case opcode::block_from_region:
      block_from_region(m_code.region_operations[now.b]);
      return true;
    case opcode::allocate:
      m_private.allocate(m_code.allocations[now.b], m_state.values);
      return true;
    case opcode::release:
      m_private.release(m_code.allocations[now.b], m_state.values);
      return true;
    case opcode::allocate_region:
      m_regions.allocate(m_code.regions[now.b], m_state.values);
      return true;
    case opcode::release_region:
      m_regions.release(m_code.regions[now.b], m_state.values);
      return true;
    default:
      return false;
  }
}

bool worker::shared_step(const step& now) {
  switch (now.operation) {
    case opcode::create:
      return true;  // blocks appear when they are first put
    case opcode::remove:
      m_exchange.remove(now.a);
      return true;
    case opcode::barrier:
      barrier();
      return true;
    case opcode::collective:
      if (m_pardo.is_open()) throw run_error("a collective sum inside of a pardo");
      m_state.values.scalar(now.a) += m_collectives.sum(m_state.values.scalar(now.b));
      return true;
    case opcode::broadcast:
      m_collectives.broadcast(m_state.values.integer(now.a), m_statics.values(now.b));
      return true;
    case opcode::assert_same:
      m_collectives.assert_same(now.a);
      return true;
    case opcode::set_persistent:
      m_persistent.set(m_code.persistents[now.b]);
      return true;
    case opcode::restore_persistent:
      m_persistent.restore(m_code.persistents[now.b]);
      return true;
    default:
      return false;
  }
}

void worker::barrier() {
  if (m_pardo.is_open()) throw run_error("a barrier inside of a pardo");
  m_exchange.finish_section();
  m_collectives.barrier([this] {
    if (m_offload) m_run.front.fence();
    ++m_run.section;
  });
}

void worker::block_statement(const step& now) {
  if (!m_offload) {
    m_arithmetic.execute(now);
    return;
  }
  const device_offload::outcome how = m_offload->submit(now);
  if (how == device_offload::outcome::submitted) {
    ++m_state.counters.on_devices;
    return;
  }
  m_offload->execute_in_place(how, [&] {
    const block_operation& o = m_code.block_operations[now.b];
    if (o.left != nothing) m_offload->bring_target(o.to);
    m_arithmetic.execute(now);
  });
  ++m_state.counters.in_place;
}

void worker::execute(std::size_t number) {
  const execution& e = m_code.executions[number];
  if (!m_offload || !m_offload->has_form(number)) {
    execute_in_place(e);
    return;
  }
  const device_offload::outcome how = m_offload->submit_execution(number);
  if (how == device_offload::outcome::submitted) {
    ++m_state.counters.on_devices;
    return;
  }
  m_offload->execute_in_place(how, [&] { execute_in_place(e); });
  ++m_state.counters.in_place;
}

void worker::execute_in_place(const execution& e) {
  const std::string& signature = m_code.specials[e.special].signature;
  if (m_offload)  // before any is looked at: the same block may be there twice
    for (std::size_t k = 0; k < e.arguments.size(); ++k)
      if (e.arguments[k].kind == execution::argument::argument_kind::block && signature[k] != 'r')
        m_offload->bring_target(e.arguments[k].operand);
  m_instructions.call(e);
}

void worker::region_fill(const region_operation& o, double value) {
  const contiguous_arrays::part to = m_regions.find(m_code.regions[o.region], m_state.values);
  scatter_value(to.whole->data.data(), value, to.where);
}

void worker::region_from_block(const region_operation& o) {
  const tile from = m_operands.read(o.block, 0);
  const region& r = m_code.regions[o.region];
  const contiguous_arrays::part to = m_regions.find(r, m_state.values);
  if (to.count != from.count)
    throw run_error(
        fmt::format("{} has {} elements, and the block {}", m_state.values.name_of(r), to.count, from.count));
  scatter(to.whole->data.data(), from.data, to.where);
}

void worker::block_from_region(const region_operation& o) {
  const region& r = m_code.regions[o.region];
  const contiguous_arrays::part from = m_regions.find(r, m_state.values);
  const target_tile to = m_operands.write(o.block, false, block_operands::target_slot);
  if (from.count != to.count)
    throw run_error(
        fmt::format("{} has {} elements, and the block {}", m_state.values.name_of(r), from.count, to.count));
  gather(to.data, from.whole->data.data(), from.where);
  m_operands.write_back(to);
}

}  // namespace tessera::sial
