#pragma once
// How much of a space's capacity is given out.
#include <atomic>
#include <cstdint>

namespace tessera::kit {

/// Counts bytes against a limit. Reserving comes before allocating, so that several threads together cannot pass the
/// limit. Thread-safe.
class byte_budget {
 public:
  byte_budget() = default;
  explicit byte_budget(std::uint64_t limit) : m_limit(limit) {}

  /// Before first use. 0: no limit.
  void set_limit(std::uint64_t bytes) noexcept { m_limit = bytes; }

  /// False when `bytes` do not fit any more; *out_used is what was given out then.
  bool reserve(std::uint64_t bytes, std::uint64_t* out_used) noexcept {
    auto before = m_used.load(std::memory_order_relaxed);
    do {
      if (m_limit != 0 && (bytes > m_limit || before > m_limit - bytes)) {
        *out_used = before;
        return false;
      }
    } while (!m_used.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
    return true;
  }
  void release(std::uint64_t bytes) noexcept { m_used.fetch_sub(bytes, std::memory_order_relaxed); }
  /// Everything was given back at once.
  void clear() noexcept { m_used.store(0, std::memory_order_relaxed); }

  std::uint64_t limit() const noexcept { return m_limit; }
  std::uint64_t used() const noexcept { return m_used.load(std::memory_order_relaxed); }

 private:
  std::uint64_t m_limit = 0;
  std::atomic<std::uint64_t> m_used{0};
};

}  // namespace tessera::kit
