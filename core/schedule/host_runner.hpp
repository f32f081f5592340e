#pragma once
// Runs tasks on threads of the host.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/operation/catalog.hpp"
#include "core/placement/placer.hpp"
#include "core/schedule/failures.hpp"
#include "core/schedule/moving_cost.hpp"
#include "core/schedule/run_mode.hpp"
#include "core/schedule/single_space.hpp"
#include "core/schedule/task_owner.hpp"
#include "core/schedule/thread_context.hpp"
#include "core/transfer/coherence.hpp"

namespace tessera::validate {
class validator;
}

namespace tessera::schedule {

/// Brings a task's blocks to a memory of the host, calls what it computes, and publishes what it has made. Any thread;
/// `thread` is the calling one.
class host_runner {
 public:
  /// What it works with; all outlive it.
  struct setup {
    task_owner* owner = nullptr;
    transfer::coherence* coherence = nullptr;
    placement::placer* placer = nullptr;
    const std::vector<std::unique_ptr<placement::place>>* places = nullptr;  ///< filled before the first task
    class failures* failures = nullptr;
    validate::validator* validator = nullptr;  ///< null: nothing is validated
    moving_cost* cost = nullptr;               ///< learns how long tasks compute; null: nobody asks
  };
  explicit host_runner(setup with) noexcept : m_setup(with), m_owner(*with.owner) {}
  /// Once, when the places are known.
  void begin(const run_mode& mode) noexcept {
    m_mode = mode;
    m_timed = mode.times_tasks;
    m_learns = m_setup.cost != nullptr && mode.workers > 1;
  }
  bool single_space() const noexcept { return m_mode.single_space; }
  void time_tasks(bool on) noexcept { m_timed = on || m_mode.times_tasks; }  ///< see runtime::time_tasks

  /// Before a task runs. False: another place has it, it waits, or it has failed; all that is seen to.
  bool prepare(thread_context& thread, task::record& t) {
    if (m_setup.placer->model() != nullptr && m_owner.place_again(thread, t)) return false;
    constexpr int special = task::flag_acquired | task::flag_accumulates | task::flag_reduction;
    if (m_mode.single_space && (t.flags & special) == 0 && resident(t.all_accesses())) return true;
    placement::place& where = place(t.place == task::no_place ? thread.place : t.place);
    constexpr int uses_copies = task::flag_accumulates | task::flag_reduction;
    if ((t.flags & uses_copies) != 0 && (t.flags & task::flag_prepared) == 0) m_owner.give_copies(t, where);
    return get_blocks(thread, t, where);
  }
  /// Of prepare, what concerns the blocks: they are in the memory of `where`, pinned unless it is the only one.
  bool get_blocks(thread_context& thread, task::record& t, placement::place& where);
  /// A task that is prepared: calls and finishes it. Then it is to be completed.
  void execute(thread_context& thread, task::record& t);

  // execute in two steps, for runs in virtual time.
  enum class call_mode : std::uint8_t {
    all,
    enqueue_only  ///< functions of the program are not called
  };
  /// Calls what it computes. Returns why it failed, or null.
  std::shared_ptr<const block::failure> call(thread_context& thread, task::record& t, call_mode mode);
  /// What follows: counts, learns and publishes. `began`: on the clock of thread.events; `ns`: how long it took, unless
  /// 0.
  void finish(thread_context& thread, task::record& t, std::uint64_t began, std::uint64_t ns,
              const std::shared_ptr<const block::failure>& why);

  /// What it is called with, in thread.operands.
  void gather_operands(thread_context& thread, task::record& t);
  /// Commits the versions that a task has made which has its blocks, and ends its use of them.
  void publish(thread_context& thread, task::record& t, const std::shared_ptr<const block::failure>& why = nullptr) {
    const auto accesses = t.all_accesses();
    if (m_mode.single_space && (t.flags & task::flag_acquired) == 0) {
      operation_counters::add(thread.versions, commit_in_place(accesses));
      if (why) m_setup.coherence->poison(accesses, why);
    } else {
      m_setup.coherence->publish(accesses, {});
      m_setup.coherence->finish(accesses, why);
    }
  }

  /// Runs an operation at once: no task. See in_place_calls::run.
  void run_in_place(thread_context& thread, const operation::definition& what, const void* arguments,
                    std::size_t argument_bytes, std::span<const operation::operand> operands,
                    operation::in_place_facts* facts);
  /// Runs an operation at once on blocks that nobody uses. False: not all of them have contents in the host memory
  /// `space`, and nothing is done. Throws what the operation throws; then nobody may use what it should have written.
  bool run_resident(thread_context& thread, memory::space_number space, const operation::definition& what,
                    const void* arguments, std::size_t argument_bytes, std::span<block::access> accesses);
  /// The place whose worker a thread is while it runs something itself.
  placement::place& place_of(const thread_context& thread) const noexcept {
    return place(thread.is_driver ? 0 : thread.place);
  }

 private:
  placement::place& place(std::uint32_t number) const noexcept { return *(*m_setup.places)[number]; }
  transfer::stream& inline_stream(thread_context& thread);
  /// Whether it is one of the few of its operation that this thread takes the time of.
  static bool is_sample(thread_context& thread, const task::record& t);
  /// False: it waits, or has failed.
  bool acquire(thread_context& thread, task::record& t, placement::place& where);
  bool begin_acquired(task::record& t, placement::place& where, const transfer::acquisition& got);
  /// There is no memory for its blocks. False: there may be some by now.
  bool wait_for_memory(thread_context& thread, task::record& t, placement::place& where,
                       const transfer::acquisition& lacking);
  void learn(placement::place& where, task::record& t, std::uint64_t ns, bool failed);

  const setup m_setup;
  task_owner& m_owner;
  run_mode m_mode;
  bool m_timed = false;
  bool m_learns = false;  // how long tasks compute, from a few of each operation
};

}  // namespace tessera::schedule
