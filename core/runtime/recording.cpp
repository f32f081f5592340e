#include "tessera/detail/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/base/call_site.hpp"
#include "core/runtime/inside.hpp"
#include "core/schedule/replays.hpp"
#include "core/task/recording.hpp"

namespace tessera {

struct recording::inside {
  inside(schedule::scheduler& of, std::uint32_t of_runtime, std::unique_ptr<task::recording> recorded,
         std::size_t replays_under_way)
      : scheduler(of), alive(of.alive()), runtime(of_runtime), tasks(std::move(recorded)), runs(replays_under_way) {
    for (auto& run : runs) run = std::make_unique<schedule::running_replay>(*tasks, *planning);
  }
  /// None of its replays is under way.
  ~inside() {
    if (const lifetime::visit here = alive->enter())
      scheduler.replays().forget(*tasks);  // else it went with the runtime
  }
  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;

  schedule::scheduler& scheduler;
  std::shared_ptr<lifetime> alive;  // of the scheduler
  const std::uint32_t runtime;      // block::table::number of it
  std::unique_ptr<task::recording> tasks;
  std::unique_ptr<schedule::replay_planning> planning = std::make_unique<schedule::replay_planning>();
  std::vector<std::unique_ptr<schedule::running_replay>> runs;  // taking turns
  std::size_t next = 0;
  decltype(task::replay::patches) patches;
};

recording::recording(std::unique_ptr<inside> tasks) noexcept : m_inside(std::move(tasks)) {}
recording::recording(recording&&) noexcept = default;

recording::~recording() {
  if (m_inside == nullptr) return;
  const lifetime::visit here = m_inside->alive->enter();
  if (!here) return;
  schedule::scheduler& scheduler = m_inside->scheduler;
  bool through = true;
  for (const auto& run : m_inside->runs) through = through && scheduler.replays().wait_for(*run);
  if (through) return;
  std::shared_ptr<inside> kept = std::move(m_inside);
  const inside& its = *kept;
  scheduler.replays().keep_until(
      [&its] { return std::ranges::all_of(its.runs, [](const auto& run) { return run->finished(); }); },
      std::move(kept));
}

recording::inside& recording::there(std::source_location site) const {
  if (m_inside == nullptr)
    throw error(error_kind::usage, "the recording was moved from", file_and_line(site),
                "use the recording that it was moved to");
  if (m_inside->alive->ended())
    throw error(error_kind::usage, "the runtime of the recording has ended", file_and_line(site),
                "replay recordings while their runtime lives");
  return *m_inside;
}

std::size_t recording::size() const noexcept { return m_inside != nullptr ? m_inside->tasks->size() : 0; }
std::size_t recording::submitted() const noexcept {
  return m_inside != nullptr ? m_inside->tasks->submitted.size() : 0;
}

void recording::set_argument_bytes(std::size_t k, std::span<const std::byte> bytes, std::source_location site) {
  (void)there(site);
  if (k >= submitted())
    throw error(error_kind::usage,
                fmt::format("the recording has {} submitted tasks, number {} was asked for", submitted(), k),
                file_and_line(site));
  const std::uint32_t at = m_inside->tasks->submitted[k];
  const task::recorded_task& t = m_inside->tasks->tasks[at];
  if (!t.operation->plain_arguments)
    throw error(error_kind::usage, fmt::format("the captures of '{}' are not plain bytes", t.operation->name),
                file_and_line(site), "capture values, or keep what changes in a block");
  if (bytes.size() != t.argument_size)
    throw error(error_kind::usage,
                fmt::format("'{}' was recorded with {} bytes of arguments and is given {}", t.operation->name,
                            t.argument_size, bytes.size()),
                file_and_line(site));
  m_inside->patches[at] = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
}

void recording::substitute(std::span<const block_exchange> pairs, std::source_location site) {
  const inside& its = there(site);
  std::vector<std::pair<const block::record*, block::record*>> raw;
  for (const block_exchange& p : pairs) {
    for (const block::record* const b : {p.recorded, p.now}) require_block_of(*b, its.runtime, "a recording", site);
    raw.emplace_back(p.recorded, p.now);
  }
  schedule::recorded_blocks& followed = m_inside->scheduler.replays().blocks();
  followed.leave(*m_inside->tasks);
  try {
    with_place(site, [&] { m_inside->tasks->substitute(raw); });
  } catch (...) {
    followed.follow(*m_inside->tasks);
    throw;
  }
  followed.follow(*m_inside->tasks);
}

void recording::place_again() noexcept {
  if (m_inside == nullptr || m_inside->alive->ended()) return;  // there is nothing to be placed
  m_inside->tasks->forget_places();
  m_inside->planning->restart();
}

void runtime::replay(recording& what, std::source_location site) { replay_with(what, {}, site); }

void runtime::replay_with(recording& what, const operation::replay_value& value, std::source_location site) {
  schedule::scheduler& scheduler = *m_inside->scheduler;
  recording::inside& played = what.there(site);
  if (&played.scheduler != &scheduler)
    throw error(
        error_kind::usage,
        fmt::format("runtime {} was to replay a recording of runtime {}", m_inside->blocks.number(), played.runtime),
        file_and_line(site), "a recording is replayed by the runtime that made it");
  scheduler.replays().require_playable(site);  // before it waits
  schedule::running_replay& run = *played.runs[played.next];
  if (!scheduler.replays().wait_for(run)) scheduler.replays().refuse_own_wait("a replay", site);
  played.next = (played.next + 1) % played.runs.size();
  run.patches = played.patches;
  run.value = value;
  scheduler.replays().play(run, site);
}

namespace detail {

struct recording_session::state {
  state(runtime_inside& of, const record_options& asked)
      : scheduler(*of.scheduler),
        runtime(of.blocks.number()),
        taker(of.blocks, *of.builtin.reduce, *of.operations.find("combine")),
        options(asked) {}
  schedule::scheduler& scheduler;
  std::uint32_t runtime;  // block::table::number of it
  task::graph_recorder taker;
  record_options options;
  bool open = false;
};

recording_session::recording_session(runtime_inside& of, const record_options& options, std::source_location site)
    : m_state(std::make_unique<state>(of, options)) {
  if (options.replays_under_way < 1 || options.replays_under_way > record_options::max_under_way)
    throw error(error_kind::usage,
                fmt::format("record_options::replays_under_way is {}; it is 1 to {}", options.replays_under_way,
                            record_options::max_under_way),
                file_and_line(site));
  m_state->scheduler.recordings().begin(m_state->taker, site);
  m_state->open = true;
}

recording recording_session::finish() {
  m_state->taker.call_at_end(true);
  m_state->scheduler.recordings().end();
  m_state->open = false;
  auto recorded = std::make_unique<recording::inside>(m_state->scheduler, m_state->runtime, m_state->taker.finish(),
                                                      m_state->options.replays_under_way);
  m_state->scheduler.replays().blocks().follow(*recorded->tasks);
  recording result(std::move(recorded));
  m_state.reset();
  return result;
}

recording_session::~recording_session() {
  if (!m_state) return;
  if (m_state->open) {
    m_state->taker.call_at_end(false);
    m_state->scheduler.recordings().end();
  }
  m_state->scheduler.replays().forget(m_state->taker.incomplete());
}

}  // namespace detail
}  // namespace tessera
