#include "core/schedule/in_place.hpp"

#include <algorithm>

#include "core/block/record.hpp"
#include "core/schedule/operands.hpp"
#include "core/transfer/stream.hpp"

namespace tessera::schedule {
namespace {

/// What definition::workspace looks at: element type and extents of the blocks. One set per thread, since making a
/// record is dear.
std::span<const block::access> stand_ins_for(std::span<const operation::operand> operands) {
  constexpr std::size_t most = 4;
  static thread_local std::array<block::record, most> records;
  static thread_local std::array<block::access, most> accesses;
  if (operands.size() > most)
    throw error(error_kind::usage, "an operation with workspace runs in place on four blocks at most");
  for (std::size_t k = 0; k < operands.size(); ++k) {
    records[k].type = operands[k].type;
    records[k].extents = operands[k].extents;
    records[k].bytes = operands[k].bytes;
    accesses[k] = {.block = &records[k], .version = 0, .intent = operands[k].intent, .flags = 0, .space = 0};
  }
  return {accesses.data(), operands.size()};
}

}  // namespace

void host_runner::run_in_place(thread_context& thread, const operation::definition& what, const void* arguments,
                               std::size_t argument_bytes, std::span<const operation::operand> operands,
                               operation::in_place_facts* facts) {
  operation::context c;
  c.operands = operands;
  c.arguments = arguments;
  c.argument_bytes = argument_bytes;
  c.data = what.data.get();
  c.kernels = what.kernels.get();
  c.device = place_of(thread).device;
  c.task_name = what.name;
  if (what.host != nullptr) {
    what.host(c);
    return;
  }
  operation::in_place_facts found;
  if (facts != nullptr && facts->known) {
    found = *facts;
    c.checked = true;
  } else {
    if (what.enqueue == nullptr ||
        (what.available != nullptr &&
         !what.available(*c.device, operands.empty() ? element_type::none : operands[0].type)))
      throw error(error_kind::usage, what.name + " does not run on the host");
    if (what.workspace != nullptr) found.workspace = what.workspace(*c.device, arguments, stand_ins_for(operands));
  }
  transfer::stream& stream = inline_stream(thread);
  c.stream = stream.handle();
  c.workspace = thread.scratch.give(found.workspace);
  what.enqueue(c);
  stream.check_inline();
  if (facts != nullptr) *facts = {true, found.workspace};
  thread.scratch.trim();
}

bool host_runner::run_resident(thread_context& thread, memory::space_number space, const operation::definition& what,
                               const void* arguments, std::size_t argument_bytes, std::span<block::access> accesses) {
  if (!std::ranges::all_of(accesses, [&](const block::access& a) { return a.block->valid_spaces.has(space); }))
    return false;
  transfer::coherence& coherence = *m_setup.coherence;
  transfer::acquisition& got = thread.acquisition;
  coherence.acquire(accesses, space, got, 0);
  if (got.outcome != transfer::outcome::ready) return false;
  if (!got.waits.empty()) {
    coherence.finish(accesses);
    return false;
  }
  thread.operands.clear();
  add_operands(coherence, accesses, thread.operands);
  try {
    run_in_place(thread, what, arguments, argument_bytes, thread.operands, nullptr);
  } catch (...) {
    coherence.finish(accesses);
    throw;
  }
  coherence.publish(accesses, {});
  coherence.finish(accesses);
  return true;
}

std::optional<placement::device_choice> in_place_calls::choose_device(const placement::device_question& asked) {
  if (!m_setup.mode->has_devices) return std::nullopt;
  const thread_context& thread = m_setup.registry->current();
  return m_setup.placer->choose_device(asked, m_setup.host->place_of(thread), thread.location);
}

void in_place_calls::learn(const placement::device_question& asked, double nanoseconds) {
  m_setup.placer->learn_in_place(asked, m_setup.host->place_of(m_setup.registry->current()), nanoseconds);
}

void in_place_calls::send_to(const placement::device_choice& chosen, task::record& t) {
  t.hint = chosen.location;
  t.place = static_cast<std::uint16_t>(chosen.place);
  m_setup.placer->charge(t, *(*m_setup.places)[chosen.place], chosen.seconds, chosen.trial);
}

}  // namespace tessera::schedule
