#pragma once
// What has gone wrong since the last fence, and what the fence throws because of it.
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/block/record.hpp"
#include "core/task/record.hpp"
#include "core/transfer/lost_blocks.hpp"

namespace tessera::schedule {

/// A task in words: "task 'gemm' submitted at main.cpp:12", or as the front end says that made it.
std::string describe(const task::record& t);

/// Why one of the blocks whose contents are needed has none; null when all have them.
std::shared_ptr<const block::failure> poison_of(std::span<const block::access> accesses);

/// The failures of one run. Only the first one since the last fence is kept, since the others mostly follow from it.
/// Thread-safe.
class failures {
 public:
  using reason = std::shared_ptr<const block::failure>;

  /// A task has failed, or the run has.
  reason note(block::failure what);
  /// The same; `what` names the task where it names no other place.
  reason note(const task::record& t, block::failure what);
  /// The task was under way on a device that is lost.
  reason note_loss(const task::record& t, std::string_view device);
  /// A task that had not started is given up because of `why`. An earlier fence may have reported that: it is reported
  /// again.
  void note_given_up(const reason& why, bool counts);
  /// The failure was thrown to a thread that waited for a block. The next fence of that thread does not throw it again;
  /// that of another one does, unless a fence has thrown it before. @param thread  thread_context::user_serial
  void note_told(const reason& why, std::uint64_t thread);

  /// What a fence reports; then there is nothing to report.
  struct report {
    reason first;                ///< null: nothing has failed
    std::uint64_t given_up = 0;  ///< tasks
  };
  report take();
  /// The same for a fence of a thread: also what only others were told. Where that thread was told all there is, it
  /// stays for others.
  report take_for(std::uint64_t thread);
  /// What was taken is to be reported after all, unless something else has failed meanwhile.
  void put_back(report what);

  /// Tasks that have not started are given up from now on.
  void cancel(std::string text, error_kind kind);
  bool cancelled() const noexcept { return m_cancelled.load(std::memory_order_relaxed); }
  /// Why, for the tasks that are given up.
  reason cancellation() const;
  /// A device was found to hang, or whether one was: what devices use is never given back then.
  void note_hung() noexcept { m_hung.store(true); }
  bool hung() const noexcept { return m_hung.load(); }

 private:
  struct told_failure {
    reason why;
    std::vector<std::uint64_t> threads;  ///< that were told
  };
  static constexpr std::size_t max_told = 16;
  mutable std::mutex m_mutex;
  reason m_first;
  std::vector<told_failure> m_told;  // and thrown by no fence; the first ones
  std::uint64_t m_given_up = 0;
  std::string m_cancel_reason;
  error_kind m_cancel_kind = error_kind::interrupted;
  std::atomic<bool> m_cancelled{false}, m_hung{false};
};

/// The error that a fence throws, or nothing. Lost devices come before the first failure, which may follow from them.
/// Pure.
/// @param no_room  what to do about a failure for want of memory
std::optional<error> fence_error(const failures::report& failed, const transfer::loss_report& lost, bool cancelled,
                                 std::string_view no_room = {});

}  // namespace tessera::schedule
