#pragma once
// Starts replays, and waits for them.
#include <functional>
#include <memory>
#include <shared_mutex>
#include <source_location>
#include <string_view>

#include "core/schedule/program_owner.hpp"
#include "core/schedule/recorded_blocks.hpp"
#include "core/schedule/replay_engine.hpp"
#include "core/schedule/replay_leftovers.hpp"
#include "core/schedule/statistics.hpp"
#include "core/schedule/submissions.hpp"
#include "core/schedule/view_deadlock.hpp"

namespace tessera::validate {
class validator;
}

namespace tessera::schedule {

/// For threads of the program.
class replay_player {
 public:
  /// What it works with; all outlive it.
  struct setup {
    program_owner* owner = nullptr;
    replay_engine* engine = nullptr;
    recorded_blocks* blocks = nullptr;
    submissions* submitted = nullptr;
    const thread_table* threads = nullptr;
    replay_leftovers* leftovers = nullptr;
    view_deadlock* deadlock = nullptr;
    worker_pool* pool = nullptr;
    validate::validator* validator = nullptr;                   ///< null: nothing is validated
    task::reduction_source* reductions = nullptr;               ///< of accumulates beside the replay
    std::function<void(thread_context&, task::record&)> start;  ///< queues a task that waits for nothing
  };
  explicit replay_player(setup with) : m_setup(std::move(with)) {}
  /// Once, when it is known whether submissions announce their uses.
  void begin(bool announces_uses) noexcept { m_announces_uses = announces_uses; }

  void require_playable(std::source_location site);  ///< throws what play throws
  /// Starts a replay, in program order with the tasks around it. Its last run is through, see wait_for. Throws usage
  /// inside a task or a recording, and where an array that it uses has ended.
  void play(running_replay& what, std::source_location site);
  /// Waits until a replay is through; by the thread that plays it. False: it would never be, since it waits for a view
  /// that the calling thread holds, or for the task that this runs.
  bool wait_for(running_replay& what);
  /// Throws usage where the calling thread waits for itself in wait_for. @param call  "a replay"
  [[noreturn]] void refuse_own_wait(std::string_view call, std::source_location site);
  /// What a replay needs that nobody waits for: it goes when `is_through`, at the next fence or the end of the runtime.
  void keep_until(std::function<bool()> is_through, std::shared_ptr<void> what) {
    m_setup.leftovers->keep_until(std::move(is_through), std::move(what));
  }
  /// While it is held, no replay begins that counts itself (graph_recorder::count_replays): for those who submit
  /// several tasks, or ask for several views, of blocks that such a recording uses. A replay that came before some of
  /// them and after others would make a thread with views of the first ones wait for itself, or be seen by half of a
  /// loop.
  std::shared_lock<std::shared_mutex> hold() { return std::shared_lock(m_order); }

  /// Takes back what a recording holds of the runtime. None of its replays may be under way.
  void forget(task::recording& what);

  /// The blocks of recordings: callers that make a recording, or exchange its blocks, update it.
  recorded_blocks& blocks() noexcept { return *m_setup.blocks; }
  graph_statistics graphs() const noexcept { return m_setup.engine->graphs(); }  ///< what they did for replays

 private:
  const setup m_setup;
  bool m_announces_uses = false;
  std::shared_mutex m_order;  // exclusive: of replays that count themselves
};

}  // namespace tessera::schedule
