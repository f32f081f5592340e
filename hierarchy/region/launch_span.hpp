#pragma once
// From the begin of a launch's first task to the end of its last one.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/base/spin_lock.hpp"
#include "hierarchy/policy/shares.hpp"

namespace tessera::hierarchy {

/// Launches that were seen to end, of regions that have one split. Thread-safe.
class seen_launches {
 public:
  struct launch {
    std::string region;
    leaf_shares shares;
    double seconds;
  };
  seen_launches() { m_fresh.reserve(most); }
  /// @param first, last  when its first task began and its last one ended: nanoseconds of the steady clock
  void note(std::string&& region, leaf_shares&& shares, std::int64_t first, std::int64_t last) noexcept;
  /// Those since the last call.
  std::vector<launch> take() {
    std::vector<launch> taken;
    taken.reserve(most);
    const std::lock_guard guard(m_lock);
    m_fresh.swap(taken);
    return taken;
  }

 private:
  static constexpr std::size_t most = 64;  // that are kept; of a program that submits far ahead the others are lost
  spin_lock m_lock;
  std::vector<launch> m_fresh;
  std::int64_t m_last_end = 0;
};

/// Made with a launch; its tasks share it, and the last one that lets go of it notes the launch. Thread-safe.
class launch_span {
 public:
  launch_span(std::shared_ptr<seen_launches> to, std::string region, leaf_shares shares)
      : m_to(std::move(to)), m_region(std::move(region)), m_shares(std::move(shares)) {}
  ~launch_span() {
    if (m_last.load(std::memory_order_relaxed) == 0) return;  // nothing ran
    m_to->note(std::move(m_region), std::move(m_shares), m_first, m_last);
  }
  launch_span(const launch_span&) = delete;
  launch_span& operator=(const launch_span&) = delete;

  /// A task took from then to then: nanoseconds of the steady clock.
  void note(std::int64_t begin, std::int64_t end) noexcept {
    std::int64_t now = m_first.load(std::memory_order_relaxed);
    while (begin < now && !m_first.compare_exchange_weak(now, begin, std::memory_order_relaxed)) {
    }
    now = m_last.load(std::memory_order_relaxed);
    while (end > now && !m_last.compare_exchange_weak(now, end, std::memory_order_relaxed)) {
    }
  }

 private:
  std::shared_ptr<seen_launches> m_to;
  std::string m_region;
  leaf_shares m_shares;
  std::atomic<std::int64_t> m_first{std::numeric_limits<std::int64_t>::max()}, m_last{0};
};

}  // namespace tessera::hierarchy
