#pragma once
// What the tasks of regions take.
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "core/base/spin_lock.hpp"
#include "hierarchy/policy/learning.hpp"

namespace tessera::hierarchy {

/// When the last kernel of any region ended on a device. Nanoseconds of the steady clock.
struct device_clock {
  std::atomic<std::int64_t> last_end{0};
};

/// While it exists, nothing is noted of the tasks that its thread runs: they are not the leaf's.
class times_not_noted {
 public:
  times_not_noted() noexcept;
  ~times_not_noted();
  times_not_noted(const times_not_noted&) = delete;
  times_not_noted& operator=(const times_not_noted&) = delete;
};

/// What the tasks of one region took on one leaf; they write it themselves. Thread-safe, but for what is said.
class region_leaf_times {
 public:
  void note(std::uint64_t iterations, double seconds) noexcept {
    const std::lock_guard guard(m_lock);
    m_learnt.note(static_cast<double>(iterations), seconds);
  }
  /// What is known so far.
  leaf_cost cost() const noexcept {
    const std::lock_guard guard(m_lock);
    return m_learnt.now();
  }
  /// What an earlier run has learnt, where nothing is known yet.
  void begin_with(const leaf_cost& kept) noexcept {
    const std::lock_guard guard(m_lock);
    if (!m_learnt.now().known() && kept.known()) m_learnt = learnt_cost(kept);
  }

  std::atomic<std::uint32_t> under_way{0};  ///< tasks made and not ended
  bool asked = false;                       ///< whether earlier runs were asked; by launch_history
  bool was_waited_for = false;          ///< by region_engine, for the first task of a device, when that is submitted
  std::shared_ptr<device_clock> clock;  ///< of a device; set before its first task

 private:
  mutable spin_lock m_lock;
  learnt_cost m_learnt;
};

}  // namespace tessera::hierarchy
