#include "core/runtime/recording.hpp"

#include <fmt/format.h>

namespace tessera {

recording::recording(schedule::scheduler& scheduler, std::unique_ptr<task::recording> is)
    : m_scheduler(&scheduler), m_alive(scheduler.alive()), m_is(std::move(is)) {
  for (auto& run : m_runs) run = std::make_unique<schedule::running_replay>(*m_is, *m_planning);
}

recording::~recording() {
  if (!m_is) return;  // moved from
  const lifetime::visit here = m_alive->enter();
  if (!here) return;  // all of it went with the runtime
  for (const auto& run : m_runs) m_scheduler->wait_for(*run);
  m_scheduler->forget(*m_is);
}

void recording::set_argument_bytes(std::size_t k, std::span<const std::byte> bytes) {
  if (k >= submitted())
    throw error(error_kind::usage,
                fmt::format("the recording has {} submitted tasks, number {} was asked for", submitted(), k));
  const std::uint32_t at = m_is->submitted[k];
  const task::recorded_task& t = m_is->tasks[at];
  if (!t.what->plain_arguments)
    throw error(error_kind::usage, fmt::format("the captures of '{}' are not plain bytes", t.what->name), {},
                "capture values, or keep what changes in a block");
  if (bytes.size() != t.argument_size)
    throw error(error_kind::usage, fmt::format("'{}' was recorded with {} bytes of arguments and is given {}",
                                               t.what->name, t.argument_size, bytes.size()));
  m_patches[at] = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
}

void recording::substitute(std::span<const block_exchange> pairs) {
  std::vector<std::pair<const block::record*, block::record*>> raw;
  for (const block_exchange& p : pairs) raw.emplace_back(p.recorded, p.now);
  m_is->substitute(raw);
}

void recording::play(std::source_location site) {
  m_scheduler->require_playable();  // before it waits
  schedule::running_replay& run = *m_runs[m_next];
  m_next = 1 - m_next;
  m_scheduler->wait_for(run);
  run.patches = m_patches;
  m_scheduler->play(run, site);
}

}  // namespace tessera
