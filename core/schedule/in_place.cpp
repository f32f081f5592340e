// Operations that the calling thread runs at once, on memory that it has in its hands, or sends to a device because
// that is done sooner.
#include "core/block/record.hpp"
#include "core/schedule/scheduler.hpp"
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

void host_runner::run_in_place(thread_context& mine, const operation::definition& what, const void* arguments,
                               std::size_t argument_bytes, std::span<const operation::operand> operands,
                               operation::in_place_facts* facts) {
  operation::context c;
  c.operands = operands;
  c.arguments = arguments;
  c.argument_bytes = argument_bytes;
  c.data = what.data.get();
  c.kernels = what.kernels.get();
  c.device = place_of(mine).device;
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
  transfer::stream& stream = inline_stream(mine);
  c.stream = stream.handle();
  c.workspace = mine.scratch.give(found.workspace);
  what.enqueue(c);
  stream.check_inline();
  if (facts != nullptr) *facts = {true, found.workspace};
  mine.scratch.trim();
}

std::optional<placement::device_choice> scheduler::choose_device(const placement::device_question& asked) {
  if (!m_mode.has_devices) return std::nullopt;
  const thread_context& mine = current_thread();
  return m_placer.choose_device(asked, m_host.place_of(mine), mine.location);
}

void scheduler::learn_in_place(const placement::device_question& asked, double nanoseconds) {
  const thread_context& mine = current_thread();
  m_placer.learn_in_place(asked, m_host.place_of(mine), nanoseconds);
}

void scheduler::send_to(const placement::device_choice& chosen, task::record& t) {
  t.hint = chosen.location;
  t.place = static_cast<std::uint16_t>(chosen.place);
  m_placer.charge(t, *m_places[chosen.place], chosen.seconds, chosen.trial);
}

block::space_set scheduler::device_spaces() const noexcept {
  block::space_set spaces;
  for (const auto& e : m_places)
    if (!e->is_host) spaces.add(e->space);
  return spaces;
}

}  // namespace tessera::schedule
