#include "tessera/front_end.hpp"

#include "core/runtime/inside.hpp"

namespace tessera {

front_end::front_end(runtime& of) noexcept : m_scheduler(of.inside().scheduler.get()) {}

void front_end::run_in_place(const operation::definition& what, const void* arguments, std::size_t argument_bytes,
                             std::span<const operation::operand> operands, operation::in_place_facts* facts) {
  m_scheduler->run_in_place(what, arguments, argument_bytes, operands, facts);
}

std::optional<placement::device_choice> front_end::choose_device(const placement::device_question& asked) {
  return m_scheduler->choose_device(asked);
}

void front_end::learn_in_place(const placement::device_question& asked, double nanoseconds) {
  m_scheduler->learn_in_place(asked, nanoseconds);
}

bool front_end::blocks_stay() const noexcept { return m_scheduler->blocks_stay(); }
block::space_set front_end::device_spaces() const noexcept { return m_scheduler->device_spaces(); }
void front_end::wait_for_window() { m_scheduler->wait_for_window(); }
void front_end::wait_idle(std::source_location site) { m_scheduler->wait_idle(site); }

}  // namespace tessera
