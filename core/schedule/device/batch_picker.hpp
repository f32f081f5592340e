#pragma once
// Which ready tasks go to a device as one launch.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/plugin/device.hpp"
#include "core/schedule/device/batches.hpp"
#include "core/task/queues.hpp"

namespace tessera::schedule {

/// Takes from a device's queue tasks that differ from a given one in their blocks alone. By one thread.
class batch_picker {
 public:
  batch_picker(const plugin::device& device, task::priority_queue& queue, batch_bounds bounds)
      : m_device(device), m_queue(queue), m_bounds(bounds) {}

  const batch_bounds& bounds() const noexcept { return m_bounds; }
  /// How many tasks like this one the device takes at a time, at most; 1: each goes by itself.
  std::size_t most_like(task::record& t) const;
  /// Takes what may go with `first` from the queue: see others(). A few tasks of other kinds are skipped. `moves(t)`
  /// says that a task is not to run here after all, and then keeps it.
  void pick(task::record& first, const std::function<bool(task::record&)>& moves);
  /// The same for a task that has waited for its copies: what may go with it has its blocks too.
  void pick_acquired(task::record& first);
  /// The next pick takes nothing: this one could not be used.
  void skip_once() noexcept { m_batch_lookahead = 0; }
  std::span<task::record* const> others() const noexcept { return m_others; }
  /// All but the first `kept` go back into the queue.
  void put_back(std::size_t kept);
  /// The first `count` of others() go with the task; the rest may go back.
  void use(std::size_t count);

 private:
  static constexpr std::size_t max_skips = 8;

  bool available(const operation::batch_form& form, std::span<const block::access> accesses) const;
  std::size_t most(task::record& t, std::size_t ready) const;
  template <class Next, class Moves>
  void take_alike(task::record& first, std::size_t wanted, Next&& next, Moves&& moves);

  const plugin::device& m_device;
  task::priority_queue& m_queue;
  const batch_bounds m_bounds;
  std::vector<task::record*> m_others;
  std::size_t m_batch_lookahead = 4;  // how many are looked at: twice as many as went together last; 0: none, once
  std::size_t m_skips = max_skips;    // tasks of other kinds that are skipped; fewer while that is in vain
};

}  // namespace tessera::schedule
