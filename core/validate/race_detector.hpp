#pragma once
// Whether something orders two uses of a block, or the accident of who came first.
#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/block/combination.hpp"
#include "core/task/record.hpp"
#include "core/task/replay.hpp"
#include "core/validate/clock.hpp"
#include "core/validate/finding.hpp"
#include "core/validate/range_uses.hpp"

namespace tessera::validate {

/// What a task knows of other submissions, and what is known of its own.
struct task_note {
  actor_number submitter = 0;
  event_number event = 0;     ///< its submission
  clock known;                ///< at its submission, from its start on with what its predecessors knew, and its own
  actor_number self = 0;      ///< while it submits others
  event_number last = 0;      ///< its last own submission
  std::source_location site;  ///< of that
  std::vector<std::shared_ptr<task_note>> before;  ///< predecessors; until it starts
  std::vector<std::shared_ptr<task_note>> parts;   ///< of a use of ranges: the tasks that it is
  bool is_replay = false;                          ///< whose tasks are not followed: who waits for it knows all so far
};

/// Follows who knew of what when it was submitted: every thread and every task that submits is an actor with a vector
/// clock. An actor learns from a fence (everything that has ended), a view (the task that made the block's version, and
/// what that one knew), a task (its submitter, and its predecessors), the end of a thread, and order points.
/// Thread-safe; one lock.
class race_detector {
 public:
  explicit race_detector(journal& to);
  ~race_detector();

  /// New blocks. `foreign`: where adopted blocks are.
  void made(std::span<block::record* const> blocks, bool adopted, std::source_location site);
  void adopted_at(block::record& b, const void* memory);
  /// Only the calling thread may submit what uses them.
  void kept(std::span<block::record* const> blocks, std::source_location site);

  /// Before a task is linked. False: it uses blocks that are gone and must not run. `in`: the task that submits it, or
  /// null.
  bool submitted(task::record& t, task_note* in);
  /// Before a replay is linked; false: likewise.
  bool replayed(const task::replay& r, task_note* in, std::source_location site);
  /// The calling thread's submissions use these ranges, until `leave`: the order of their blocks is that of the ranges.
  void enter(std::span<const ranges_in_use> uses, task_note* in);
  void leave();
  /// A task or view has all its predecessors behind it: it starts, or is given up.
  std::shared_ptr<task_note> started(task::record& t);
  /// The calling thread (or task) has the view.
  void view_granted(const task_note& view, const block::record& b, task_note* in);
  /// Everything submitted before is through.
  void fenced(std::source_location site);
  void before(clock& point, task_note* in);
  void after(const clock& point, task_note* in);

  /// Whether a block's array is gone: then that is a finding. @param what  who uses it: "task 'x' submitted"
  bool tell_when_gone(const block::record& b, const std::string& what, const std::source_location& site, intent how,
                      bool locked);
  /// An array lets go of a block. False: it has done so before.
  bool destroyed(const block::record& b, task_note* in);
  /// The record of a block will be reused.
  void forget(const block::record& b);
  /// Tells of arrays that are still there.
  void end();

 private:
  /// Ranges that the submissions of a thread use.
  struct ranges_entered {
    std::shared_ptr<task_note> note;                 // of all of them; null: none
    std::vector<const block::record*> blocks;        // sorted
    std::vector<std::shared_ptr<task_note>> before;  // of others, which they come after
    bool has(const block::record& b) const { return std::ranges::binary_search(blocks, &b); }
  };
  struct actor {
    actor_number number = 0;
    clock known;
    event_number last = 0;
    std::source_location site;  // of its last call
    bool has_site = false;
    std::uint64_t ended_seen = 0;
    ranges_entered in_ranges;
  };
  struct thread_entry;
  struct thread_list;
  struct core;  // what outlives this while threads end
  struct use {
    actor_number author = 0;
    event_number event = 0;
    std::shared_ptr<task_note> note;
    const operation::definition* operation = nullptr;
    std::source_location site;
    tessera::intent intent = tessera::intent::read;
    block::version_number version = 0;
    block::combination_number combination = block::addition;  // of an accumulate
    bool recorded = false;
    bool waited_for = false;  // a view has
    bool by_ranges = false;   // those tell of its order
  };
  struct history {
    std::string array;
    std::uint32_t block = 0;  // position in it
    std::optional<participant> made, gone;
    std::optional<use> write;
    std::vector<use> reads, additions, rooms;  // since the last write, one per actor
    std::vector<use> ranges;                   // of some elements, since the whole block was written: likewise
    actor_number owner = 0;                    // of kept blocks
    participant kept_by;
    std::vector<const block::record*> overlaps;
    std::uintptr_t memory = 0;  // adopted blocks
  };
  struct submission;  // of one task

  actor& current_actor();
  void learn_of_ended_threads(actor& learner) const;
  void use_ranges(const ranges_in_use& uses, const clock& known, const range_uses::entry& as, ranges_entered& to);
  static void keep(std::vector<use>& among, const use& now);
  static void keep_range(history& h, const submission& of, const use& now);
  bool check(submission& of, const block::record& b, intent how, block::combination_number combination);
  void report_unordered(const submission& of, const block::record& b, const use& now, const use& earlier);
  void check_overlaps(const submission& of, const block::record& b, const history& h, const use& now);
  participant participant_of(const use& u, const block::record& b) const;

  journal& m_journal;
  std::shared_ptr<core> m_core;
};

}  // namespace tessera::validate
