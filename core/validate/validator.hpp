#pragma once
// Validation mode: what the runtime tells it, and what it finds.
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/validate/device_checks.hpp"
#include "core/validate/device_watch.hpp"
#include "core/validate/intent_checker.hpp"
#include "core/validate/race_detector.hpp"

namespace tessera::validate {

/// One per runtime that validates. Thread-safe.
class validator {
 public:
  validator();
  ~validator();
  validator(const validator&) = delete;
  validator& operator=(const validator&) = delete;

  /// The program submits a task (or asks for a view). False: it must not run, its blocks are gone.
  bool submitted(task::record& t) { return m_race_detector.submitted(t, in_task()); }
  /// The program submits a replay; likewise.
  bool replayed(const task::replay& r, std::source_location site) {
    return m_race_detector.replayed(r, in_task(), site);
  }

  /// See race_detector::enter and leave; by way of ranges_entered below.
  void enter(std::span<const ranges_in_use> uses) { m_race_detector.enter(uses, in_task()); }
  void leave() { m_race_detector.leave(); }

  /// A host task is about to run: its operands get private copies. May throw std::bad_alloc.
  shadow_copies* begin_task(task::record& t, std::span<operation::operand> operands);
  /// It has run, or thrown.
  void end_task(shadow_copies* of, bool failed);
  /// A task is about to be enqueued on a device's stream, whose lock is held; `in`: where its blocks are. May throw;
  /// also then copies into `out` may be under way.
  void begin_on_device(std::unique_ptr<shadow_copies>& out, task::record& t,
                       std::span<const operation::operand> operands, transfer::stream& on, const memory::space& in);
  /// Its work is enqueued.
  void enqueued_on_device(shadow_copies& of, transfer::stream& on, const memory::space& in);
  /// Without locks, before it is published: waits until it is done. `failed`: it could not be enqueued.
  void end_on_device(std::unique_ptr<shadow_copies> of, task::record& t, const plugin::device& device,
                     transfer::stream& on, block::ticket done, bool failed);
  /// From now on `check` sees what devices make of the tasks of an operation.
  void check_on_devices(const operation::definition& of, device_check check) { m_device_checks.add(of, check); }
  /// The same for a view in the hands of the program.
  std::shared_ptr<shadow_copies> begin_view(task::record& t, std::span<operation::operand> operands);
  void view_granted(const shadow_copies& of);  ///< by the thread that waited for it
  void end_view(shadow_copies& of);
  /// A task starts elsewhere, or never will.
  void started(task::record& t) { m_race_detector.started(t); }

  /// Blocks of a new array. Adopted ones: after adopted().
  void made(std::span<block::record* const> blocks, bool adopted, std::source_location site) {
    m_race_detector.made(blocks, adopted, site);
  }
  /// The host memory of one adopted block, which holds its first version.
  void adopted(block::record& b, const void* memory, std::source_location site);
  void kept(std::span<block::record* const> blocks, std::source_location site) { m_race_detector.kept(blocks, site); }
  /// A view is asked for. Throws tessera::error (validation) when the block's array is gone.
  void require(const block::record& b, intent how, std::source_location site);
  /// An array lets go of a block. False: it is gone already.
  bool destroyed(const block::record& b) { return m_race_detector.destroyed(b, in_task()); }
  /// Nobody uses a block any more: its record will be reused.
  void forget(const block::record& b);

  /// See runtime::order_before and order_after.
  void order_before(clock& point) { m_race_detector.before(point, in_task()); }
  void order_after(const clock& point) { m_race_detector.after(point, in_task()); }

  /// The program has submitted a task of a group.
  void entered(task::group& of);
  /// The calling thread has waited for the tasks of a group.
  void waited_for(const task::group& of);

  /// The calling thread has waited for some of what was submitted, nobody follows what: all of it is taken to be
  /// before.
  void waited(std::source_location site) { m_race_detector.fenced(site); }

  /// A room above has found something.
  void found(finding f) { m_journal.add(std::move(f)); }

  /// The runtime ends. What has not been reported goes to standard error.
  void end();

  /// Everything submitted before has ended. Throws tessera::error (validation) when something was found since the last
  /// time. `also`: a failure that is not reported because of it.
  void at_fence(std::source_location site, const std::string& also);
  std::vector<finding> findings() const { return m_journal.all(); }

 private:
  task_note* in_task() const noexcept;  ///< of the task that the calling thread is running; null: none

  pattern m_pattern;
  journal m_journal;
  contents m_contents;
  quarantine m_ended;
  intent_checker m_intent_checker;
  device_checks m_device_checks{m_pattern};
  race_detector m_race_detector;
  std::mutex m_views_mutex;
  std::vector<std::unique_ptr<shadow_copies>>
      m_lost;                                 // of streams that could not say when they are done; under m_views_mutex
  std::vector<const shadow_copies*> m_views;  // in the hands of the program
  std::mutex m_groups_mutex;                  // of task::group::known
};

/// As long as it lives, the submissions of the calling thread use ranges: their order is looked at by position, not by
/// block.
class ranges_entered {
 public:
  /// @param by  null, or nothing is used: it does nothing
  ranges_entered(validator* by, std::span<const ranges_in_use> uses) : m_by(uses.empty() ? nullptr : by) {
    if (m_by != nullptr) m_by->enter(uses);
  }
  ~ranges_entered() {
    if (m_by != nullptr) m_by->leave();
  }
  ranges_entered(const ranges_entered&) = delete;
  ranges_entered& operator=(const ranges_entered&) = delete;

 private:
  validator* m_by;
};

/// "task 'smooth' submitted", or "view taken", with its site.
participant participant_of(const task::record& t);

}  // namespace tessera::validate
