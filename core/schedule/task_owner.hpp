#pragma once
// What those that run tasks ask of the one that they work for.
#include <memory>
#include <span>

#include "core/block/record.hpp"
#include "core/block/ticket.hpp"
#include "core/placement/place.hpp"
#include "core/schedule/failures.hpp"
#include "core/schedule/thread_context.hpp"
#include "core/task/record.hpp"
#include "core/transfer/coherence.hpp"

namespace tessera::schedule {

/// The scheduler, or a test. `thread` is the calling one. Any thread. A task on the host that finds its
/// blocks where it runs makes none of these calls.
class task_owner {
 public:
  /// True: another place has it now, since estimates have changed.
  virtual bool place_again(thread_context& thread, task::record& t) = 0;
  /// It fails, and with it what depends on it.
  virtual void fail(thread_context& thread, task::record& t, std::shared_ptr<const block::failure> why) = 0;
  /// Gives a task that accumulates its private copies in the memory of `where`.
  virtual void give_copies(task::record& t, placement::place& where) = 0;
  /// See reductions::exchange_copies.
  virtual bool exchange_copies(task::record& t, placement::place& where) = 0;
  /// It has its blocks: uses that were announced for it are no longer to come.
  virtual void begun(const task::record& t) = 0;
  /// Queues it at its place again when all the points are reached.
  virtual void wait_for_points(task::record& t, std::span<const block::ticket> points) = 0;
  /// Queues it at its place again when the memory that it lacks has room.
  virtual void wait_for_memory(task::record& t, placement::place& where, const transfer::acquisition& lacking) = 0;
  virtual void something_ended() = 0;  ///< threads of the program may have waited for it

 protected:
  ~task_owner() = default;
};

/// Whether a task that has its blocks and waited can go on; else it has failed. Takes `acquired` from it when a copy
/// has failed and it has to be acquired again.
inline bool still_good(transfer::coherence& coherence, task_owner& owner, thread_context& thread, task::record& t) {
  const auto accesses = t.all_accesses();
  if (std::shared_ptr<const block::failure> why = poison_of(accesses)) {
    coherence.finish(accesses);
    owner.fail(thread, t, std::move(why));
    return false;
  }
  if (coherence.arrived(accesses)) return true;
  coherence.finish(accesses);
  t.flags &= static_cast<std::uint8_t>(~task::flag_acquired);
  return true;
}

}  // namespace tessera::schedule
