#include "tessera/front_end.hpp"

#include <bit>

#include "core/base/call_site.hpp"
#include "core/runtime/inside.hpp"

namespace tessera {

front_end::front_end(runtime& of) noexcept
    : m_scheduler(of.inside().scheduler.get()), m_alive(of.inside().scheduler->alive()) {}

schedule::scheduler& front_end::there(std::source_location site) const {
  if (m_alive->ended())
    throw error(error_kind::usage, "the runtime of a front end has ended", site.line() != 0 ? file_and_line(site) : "",
                "use it while its runtime lives");
  return *m_scheduler;
}

void front_end::run_in_place(const operation::definition& what, const void* arguments, std::size_t argument_bytes,
                             std::span<const operation::operand> operands, operation::in_place_facts* facts) {
  there().in_place().run(what, arguments, argument_bytes, operands, facts);
}

std::optional<placement::device_choice> front_end::choose_device(const placement::device_question& asked) {
  return there().in_place().choose_device(asked);
}

void front_end::learn_in_place(const placement::device_question& asked, double nanoseconds) {
  there().in_place().learn(asked, nanoseconds);
}

bool front_end::blocks_stay() const { return there().facts().mode.single_space; }
block::space_set front_end::device_spaces() const {
  block::space_set spaces;
  for (const auto& e : there().facts().places)
    if (!e->is_host) spaces.add(e->space);
  return spaces;
}
void front_end::wait_for_window() { there().waits().wait(schedule::wait_request::for_window()); }
void front_end::fence(std::source_location site) {
  there(site).waits().wait(schedule::wait_request::reporting(), site);
}

step_recorder::step_recorder(runtime& of, const std::string& row) : m_tracer(of.inside().tracer.get()) {
  if (m_tracer == nullptr) return;
  m_to = &m_tracer->make_buffer(row, trace::thread_role::interpreter, 0);
  m_alive = of.inside().scheduler->alive();
}

std::uint64_t step_recorder::name(std::string_view text) { return records() ? m_tracer->name(text) : 0; }
std::uint64_t step_recorder::now() const noexcept { return records() ? m_to->now() : 0; }

void step_recorder::step(std::uint64_t what, std::uint64_t file, std::uint32_t line, std::uint64_t began,
                         double flops) noexcept {
  if (!records()) return;
  trace::event e{trace::event_kind::step};
  e.number = line;
  e.time = began;
  e.task = what;
  e.words[0] = m_to->now();
  e.words[1] = file;
  e.words[2] = std::bit_cast<std::uint64_t>(flops);
  m_to->add(e);
}

void step_recorder::waited(std::uint64_t began) noexcept {
  if (!records()) return;
  trace::event e{trace::event_kind::fence};
  e.count = 1;
  e.time = began;
  e.words[0] = m_to->now();
  m_to->add(e);
}

}  // namespace tessera
