#pragma once
// Why points of compute streams failed.
#include <memory>
#include <mutex>
#include <unordered_map>

#include "core/block/record.hpp"
#include "core/block/ticket.hpp"

namespace tessera::schedule {

/// Of the drivers of a run together. What depends on a failed point fails for the same reason, whichever end is seen
/// first: the reason is found when it is first needed, under the lock.
class failed_points {
 public:
  using reason = std::shared_ptr<const block::failure>;

  /// Held while a reason is looked for and noted. Nothing of the core is called with it that waits for tasks.
  std::mutex& lock() noexcept { return m_lock; }
  /// With the lock; null: none is noted.
  reason find(block::ticket at) const {
    const auto found = m_reasons.find(key(at));
    return found == m_reasons.end() ? nullptr : found->second;
  }
  /// With the lock. The first one stays.
  void note(block::ticket at, const reason& why) {
    if (at && why) m_reasons.emplace(key(at), why);
  }

 private:
  struct key {
    explicit key(block::ticket at) noexcept : stream(at.stream), value(at.value) {}
    std::uint32_t stream;
    std::uint64_t value;
    friend bool operator==(const key&, const key&) = default;
  };
  struct hash {
    std::size_t operator()(const key& k) const noexcept {
      return std::hash<std::uint64_t>{}(k.value * 0x9e3779b97f4a7c15ull + k.stream);
    }
  };
  std::mutex m_lock;
  std::unordered_map<key, reason, hash> m_reasons;  // as many as points have failed
};

}  // namespace tessera::schedule
