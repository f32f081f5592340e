#pragma once
// For objects that may outlive what they refer to.
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace tessera {

namespace detail {
extern std::atomic<std::uint32_t> forks_behind_us;  // counted in the child, before fork returns there
}

/// Differs between a process and those that it was forked from; says nothing else. One load. Any thread.
inline std::uint32_t process_number() noexcept { return detail::forks_behind_us.load(std::memory_order_relaxed); }

/// Whether a service is still there. Shared by the service, which ends it, and by objects that may outlive the service:
/// they ask with enter(), and the service waits in end() for those that are inside. For a child that was forked while
/// the service was there it has ended: its threads are in the parent. Thread-safe.
class lifetime {
 public:
  /// While it exists and is true, the service stays.
  class visit {
   public:
    explicit visit(lifetime* of) noexcept : m_of(of) {}
    visit(visit&& other) noexcept : m_of(std::exchange(other.m_of, nullptr)) {}
    visit& operator=(visit&&) = delete;
    ~visit() {
      if (m_of != nullptr) m_of->leave();
    }
    explicit operator bool() const noexcept { return m_of != nullptr; }

   private:
    lifetime* m_of;
  };

  /// False when the service has ended, or is ending.
  visit enter() noexcept {
    if (left_behind()) return visit(nullptr);
    if ((m_state.fetch_add(1, std::memory_order_acq_rel) & over) == 0) return visit(this);
    leave();
    return visit(nullptr);
  }

  /// Whether the service has ended, or is ending. For callers that must not do so while it ends, and are told if they
  /// do: one load. Others visit. A child that was forked is told by what they ask for next.
  bool ended() const noexcept { return (m_state.load(std::memory_order_acquire) & over) != 0; }

  /// By the service, not inside a visit: no visitor enters from now on; returns when all visitors have left.
  void end() noexcept {
    if (left_behind()) return;  // visitors of the parent do not leave here
    for (std::uint32_t now = m_state.fetch_or(over, std::memory_order_acq_rel) | over; now != over;
         now = m_state.load(std::memory_order_acquire))
      m_state.wait(now, std::memory_order_acquire);
  }

  /// Whether this process was forked from the one that began it.
  bool left_behind() const noexcept { return m_process != process_number(); }

 private:
  static constexpr std::uint32_t over = 1u << 31;

  void leave() noexcept {
    if ((m_state.fetch_sub(1, std::memory_order_acq_rel) & over) != 0) m_state.notify_all();
  }

  const std::uint32_t m_process = process_number();
  std::atomic<std::uint32_t> m_state{0};  ///< visitors, and whether it has ended
};

/// The service's side: ends with its owner, or before.
class living {
 public:
  living() = default;
  living(const living&) = delete;
  living& operator=(const living&) = delete;
  ~living() { end(); }
  void end() noexcept { m_is->end(); }
  const std::shared_ptr<lifetime>& shared() const noexcept { return m_is; }

 private:
  std::shared_ptr<lifetime> m_is = std::make_shared<lifetime>();
};

/// Enters where there is still something to enter. The visit refers to what `held` points to, which must outlive it.
inline lifetime::visit enter(const std::shared_ptr<lifetime>& held) noexcept {
  return held ? held->enter() : lifetime::visit(nullptr);
}

}  // namespace tessera
