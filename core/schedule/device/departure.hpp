#pragma once
// A device that leaves: its memory is emptied.
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/base/error.hpp"
#include "core/base/spin_lock.hpp"
#include "core/memory/space.hpp"
#include "core/placement/place.hpp"
#include "core/schedule/device/driver_owner.hpp"
#include "core/transfer/coherence.hpp"

namespace tessera::schedule {

/// Of one device. Its driver empties the memory step by step while the place's state is `draining`; who asked for it
/// begins, and hears of a refusal.
class device_departure {
 public:
  /// What it works with; all outlive it.
  struct setup {
    driver_owner* owner = nullptr;
    transfer::coherence* coherence = nullptr;
    placement::place* where = nullptr;
    std::function<void()> look_again;  ///< called when a memory that was waited for has had an event
  };
  explicit device_departure(setup with) : m_setup(std::move(with)) {}

  /// Before the place's state says so.
  void begin() noexcept;
  /// Whether the device cannot be emptied before somebody makes room in the parent memory. Any thread.
  bool blocked_on_parent_memory() const noexcept { return m_blocked_on_parent_memory.load(); }
  /// Why the device could not leave; once. Any thread.
  std::unique_ptr<error> take_refusal();

  // By the driver.
  /// One step. False: it waits for an event. When nothing is left the place is `detached`.
  bool empty_memory();
  /// The place is `attached` again.
  void refuse(error why);
  /// Calls look_again at the next event of the device's memory after `seen`.
  void wait_for_own_memory(std::uint64_t seen);

 private:
  struct call_back;
  void wait_for_room(memory::space& space, std::uint64_t seen, std::atomic<bool>& registered);

  const setup m_setup;
  std::atomic<bool> m_blocked_on_parent_memory{false}, m_no_room{false};
  std::atomic<bool> m_called_by_own{false}, m_called_by_parent{false};  // a call_back is registered there
  std::atomic<std::uint64_t> m_failures_before{0};                      // of write-backs, when the draining began
  spin_lock m_refusal_lock;
  std::unique_ptr<error> m_refusal;
};

}  // namespace tessera::schedule
