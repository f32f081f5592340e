#pragma once
// Which stream hangs, by the times at which streams were looked at.
#include <chrono>
#include <optional>
#include <vector>

#include "core/transfer/stream.hpp"

namespace tessera::schedule {

/// A stream that is busy and has reached nothing for the limit hangs. Time does not count in which its work waits for
/// another stream: that one hangs, or the work has yet to begin. Work that waits for what never comes, and that nobody
/// would be found for, hangs after twice the limit. Nothing is measured from the plugin's side: work that takes longer
/// than the limit is taken for hanging. For one thread, which looks from time to time.
class hang_detector {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  /// A stream that hangs, and what it was doing.
  struct finding {
    transfer::stream* which = nullptr;
    transfer::pending_work doing;
  };
  /// @param limit    without progress
  /// @param streams  what to look at; they outlive this
  /// @param all      where the points are looked up that work waits for
  hang_detector(std::chrono::nanoseconds limit, const std::vector<transfer::stream*>& streams,
                const transfer::stream_table& all, time_point now);

  /// Looks at all streams. Of the time since the last look two periods count at most: where this thread did not run for
  /// longer, perhaps nothing did, as in a process that was stopped.
  std::optional<finding> look(time_point now);
  /// How often to look: eight times in the limit, at most once in a millisecond, at least once in a second.
  std::chrono::nanoseconds period() const noexcept { return m_period; }

 private:
  struct watched {
    transfer::stream* which = nullptr;
    std::uint64_t reached = 0;
    std::chrono::nanoseconds still{0};              // time without progress of it, and of what it waits for
    std::chrono::nanoseconds blocked_by_itself{0};  // time without progress, and without a pending dependency
    // At this look.
    bool moves = true;
    transfer::pending_work doing;  // of one that does not move by itself, behind what is not reached yet
  };
  void see(watched& w) const;
  void let_waiting_move();
  bool moves(std::uint32_t stream) const;

  const std::chrono::nanoseconds m_limit, m_period;
  std::vector<watched> m_watched;
  const transfer::stream_table& m_all;
  time_point m_looked;
};

}  // namespace tessera::schedule
