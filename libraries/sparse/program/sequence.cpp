#include "libraries/sparse/program/sequence.hpp"

#include <algorithm>
#include <utility>

#include "libraries/sparse/program/state.hpp"

namespace tessera::sparse {

operation_sequence::operation_sequence(program_state& p, std::vector<operation> operations) : m_program(p) {
  std::vector<operation> before;
  const auto add = [&](std::optional<operation> call) {
    if (before.empty() && !call && !m_parts.empty()) return;
    part& made = m_parts.emplace_back();
    if (!before.empty() || !call) {
      made.graph = p.make_graph(std::exchange(before, {}));
      m_work += made.graph->work();
    }
    if (!call) return;
    m_work += counted_work::of(std::span(&*call, 1));
    made.x.resize(static_cast<std::size_t>(call->from[0]->rows * call->from[0]->columns));
    made.y.resize(made.x.size());
    made.call = std::move(call);
  };
  for (operation& o : operations) {
    if (o.kind == operation_kind::call)
      add(std::move(o));
    else
      before.push_back(std::move(o));
  }
  add(std::nullopt);
}

operation_sequence::~operation_sequence() = default;

void operation_sequence::make_call(part& of) {
  m_program.rt.fence({.reports = false});
  read_numbers(*of.call->from[0], of.x);
  call_whole(of.call->whole->call, {of.call->from[0]->rows, of.call->from[0]->columns, of.x.data(), of.y.data()});
  write_numbers(*of.call->to[0], of.y);
}

void operation_sequence::submit() {
  for (part& p : m_parts) {
    if (p.graph != nullptr) p.graph->submit();
    if (p.call) make_call(p);
  }
}

void operation_sequence::record() {
  for (part& p : m_parts)
    if (p.graph != nullptr) p.taken.emplace(m_program.rt.record([&] { p.graph->submit(); }));
}

void operation_sequence::replay() {
  for (part& p : m_parts) {
    if (p.taken) m_program.rt.replay(*p.taken);
    if (p.call) make_call(p);
  }
}

bool operation_sequence::has_calls() const noexcept {
  return std::ranges::any_of(m_parts, [](const part& p) { return p.call.has_value(); });
}

std::int64_t operation_sequence::passes() const noexcept {
  std::int64_t count = 0;
  for (const part& p : m_parts) count += p.graph != nullptr ? p.graph->passes() : 0;
  return count;
}

std::int64_t operation_sequence::tasks() const noexcept {
  std::int64_t count = 0;
  for (const part& p : m_parts) count += p.taken ? static_cast<std::int64_t>(p.taken->submitted()) : 0;
  return count;
}

}  // namespace tessera::sparse
