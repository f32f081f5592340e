#include "tessera/recording.hpp"

#include <fmt/format.h>

#include <vector>

#include "core/runtime/inside.hpp"
#include "core/schedule/replays.hpp"
#include "core/task/recording.hpp"

namespace tessera {

struct recording::inside {
  inside(schedule::scheduler& of, std::unique_ptr<task::recording> recorded, std::size_t replays_under_way)
      : scheduler(of), alive(of.alive()), tasks(std::move(recorded)), runs(replays_under_way) {
    for (auto& run : runs) run = std::make_unique<schedule::running_replay>(*tasks, *planning);
  }
  ~inside() {
    const lifetime::visit here = alive->enter();
    if (!here) return;  // all of it went with the runtime
    for (const auto& run : runs) scheduler.wait_for(*run);
    scheduler.forget(*tasks);
  }
  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;

  schedule::scheduler& scheduler;
  std::shared_ptr<lifetime> alive;  // of the scheduler
  std::unique_ptr<task::recording> tasks;
  std::unique_ptr<schedule::replay_planning> planning = std::make_unique<schedule::replay_planning>();
  std::vector<std::unique_ptr<schedule::running_replay>> runs;  // taking turns
  std::size_t next = 0;
  decltype(task::replay::patches) patches;
};

recording::recording(std::unique_ptr<inside> made) noexcept : m_inside(std::move(made)) {}
recording::recording(recording&&) noexcept = default;
recording::~recording() = default;

std::size_t recording::size() const noexcept { return m_inside->tasks->size(); }
std::size_t recording::submitted() const noexcept { return m_inside->tasks->submitted.size(); }

void recording::set_argument_bytes(std::size_t k, std::span<const std::byte> bytes) {
  if (k >= submitted())
    throw error(error_kind::usage,
                fmt::format("the recording has {} submitted tasks, number {} was asked for", submitted(), k));
  const std::uint32_t at = m_inside->tasks->submitted[k];
  const task::recorded_task& t = m_inside->tasks->tasks[at];
  if (!t.operation->plain_arguments)
    throw error(error_kind::usage, fmt::format("the captures of '{}' are not plain bytes", t.operation->name), {},
                "capture values, or keep what changes in a block");
  if (bytes.size() != t.argument_size)
    throw error(error_kind::usage, fmt::format("'{}' was recorded with {} bytes of arguments and is given {}",
                                               t.operation->name, t.argument_size, bytes.size()));
  m_inside->patches[at] = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
}

void recording::substitute(std::span<const block_exchange> pairs) {
  std::vector<std::pair<const block::record*, block::record*>> raw;
  for (const block_exchange& p : pairs) raw.emplace_back(p.recorded, p.now);
  schedule::recorded_blocks& followed = m_inside->scheduler.recorded();
  followed.leave(*m_inside->tasks);
  try {
    m_inside->tasks->substitute(raw);
  } catch (...) {
    followed.follow(*m_inside->tasks);
    throw;
  }
  followed.follow(*m_inside->tasks);
}

void recording::place_again() noexcept {
  m_inside->tasks->forget_places();
  m_inside->planning->restart();
}

void runtime::replay(recording& what, std::source_location site) { replay_with(what, {}, site); }

void runtime::replay_with(recording& what, const operation::replay_value& value, std::source_location site) {
  schedule::scheduler& scheduler = *m_inside->scheduler;
  recording::inside& played = *what.m_inside;
  scheduler.require_playable();  // before it waits
  schedule::running_replay& run = *played.runs[played.next];
  played.next = (played.next + 1) % played.runs.size();
  scheduler.wait_for(run);
  run.patches = played.patches;
  run.value = value;
  scheduler.play(run, site);
}

namespace detail {

struct recording_session::state {
  state(runtime_inside& of, const record_options& asked)
      : scheduler(*of.scheduler), taker(of.blocks, *of.builtin.reduce), options(asked) {}
  schedule::scheduler& scheduler;
  task::graph_recorder taker;
  record_options options;
  bool open = false;
};

recording_session::recording_session(runtime_inside& of, const record_options& options)
    : m_state(std::make_unique<state>(of, options)) {
  if (options.replays_under_way < 1 || options.replays_under_way > record_options::most_under_way)
    throw error(error_kind::usage, fmt::format("record_options::replays_under_way is {}; it is 1 to {}",
                                               options.replays_under_way, record_options::most_under_way));
  m_state->scheduler.begin_recording(m_state->taker);
  m_state->open = true;
}

recording recording_session::finish() {
  m_state->taker.call_at_end(true);
  m_state->scheduler.end_recording();
  m_state->open = false;
  auto recorded = std::make_unique<recording::inside>(m_state->scheduler, m_state->taker.finish(),
                                                      m_state->options.replays_under_way);
  m_state->scheduler.recorded().follow(*recorded->tasks);
  recording made(std::move(recorded));
  m_state.reset();
  return made;
}

recording_session::~recording_session() {
  if (!m_state) return;
  if (m_state->open) {
    m_state->taker.call_at_end(false);
    m_state->scheduler.end_recording();
  }
  m_state->scheduler.forget(m_state->taker.incomplete());
}

}  // namespace detail
}  // namespace tessera
