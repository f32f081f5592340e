#pragma once
// Devices that come and go while tasks run.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "core/location/tree.hpp"
#include "core/placement/placer.hpp"
#include "core/schedule/device/driver_table.hpp"
#include "core/schedule/thread_registry.hpp"
#include "core/transfer/coherence.hpp"

namespace tessera::schedule {

/// Takes devices out of a run, and back into it. Any thread.
class device_states {
 public:
  using predicate = std::function<bool()>;

  /// What it works with; all outlive it.
  struct setup {
    const location::tree* tree = nullptr;
    transfer::coherence* coherence = nullptr;
    placement::placer* placer = nullptr;
    const std::vector<std::unique_ptr<placement::place>>* places = nullptr;  ///< filled before the first call
    const driver_table* drivers = nullptr;
    thread_registry* registry = nullptr;
    bool simulated = false;                                 ///< the run is, and its devices stay
    std::function<void(const predicate&)> run_tasks_until;  ///< by the calling thread, which may run tasks of the host
  };
  explicit device_states(setup with) : m_setup(std::move(with)) {}

  /// Before any task: devices that are detached when the run begins. Throws usage when there is none.
  void begin_detached(location::node_id location);
  /// Takes the devices at or below a location out of the run: tasks queued there are placed again, what has begun there
  /// ends, sole copies are written back. Returns when they hold nothing. While tasks run; not inside a task or a
  /// recording, nor while the thread holds a view. Throws tessera::error, and leaves all of them attached: usage (no
  /// device there, detached already, the only place for a queued task), memory (what they hold fits nowhere else),
  /// device (they fail while they are emptied).
  void detach(location::node_id location);
  /// Makes the detached devices at or below a location take tasks again. Throws usage when there is none, or one is
  /// lost.
  void attach(location::node_id location);
  /// Whether every device at or below a location takes tasks. Throws usage when there is none.
  bool attached(location::node_id location) const;

  /// The state of a device has changed, or whether it could leave: detach looks again.
  void note_change();
  /// Tasks that were placed again since their device was detached or lost.
  void note_placed_elsewhere() noexcept { m_placed_elsewhere.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t placed_elsewhere() const noexcept { return m_placed_elsewhere.load(std::memory_order_relaxed); }

 private:
  std::vector<placement::place*> below(location::node_id location) const;  // throws usage when there is none
  device_driver& driver_of(const placement::place& e) const { return m_setup.drivers->of(e); }
  void require_editable(std::string_view call) const;  // throws usage where devices cannot come and go
  void wait_until_empty(const std::vector<placement::place*>& leaving);
  std::unique_ptr<error> refusal_of(const std::vector<placement::place*>& leaving);

  const setup m_setup;
  std::mutex m_edit_mutex;                           // one detach or attach at a time
  std::mutex m_mutex;                                // for m_event
  std::condition_variable m_event;                   // a draining device has come further
  std::atomic<std::uint64_t> m_placed_elsewhere{0};  // tasks, since their device has left or is lost
};

}  // namespace tessera::schedule
