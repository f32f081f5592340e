#pragma once
// Handles whose misuse can be recognised.
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>

namespace tessera::kit {

/// The first member of every handle: says what the object is, or that it is gone.
class magic_word {
 public:
  bool is(std::uint64_t kind) const noexcept { return m_word.load(std::memory_order_acquire) == kind; }
  void set(std::uint64_t kind) noexcept { m_word.store(kind, std::memory_order_release); }
  /// Makes it `gone` if it was `kind`; true for the one caller who did.
  bool take(std::uint64_t kind) noexcept { return m_word.compare_exchange_strong(kind, 0); }

 private:
  std::atomic<std::uint64_t> m_word{0};
};

/// Objects at stable addresses. A returned object is not destroyed and is given out again only after `quarantine`
/// others were returned, so that looking at the magic word of a stale handle is no access to freed memory. Thread-safe.
template <class Handle>
class handle_pool {
 public:
  static constexpr std::size_t quarantine = 64;

  Handle& take() {
    const std::lock_guard lock(m_mutex);
    if (m_free.size() > quarantine) {
      Handle& handle = *m_free.front();
      m_free.pop_front();
      return handle;
    }
    return m_all.emplace_back();
  }
  void give(Handle& handle) {
    const std::lock_guard lock(m_mutex);
    m_free.push_back(&handle);
  }
  /// Objects that are out.
  std::size_t live() const {
    const std::lock_guard lock(m_mutex);
    return m_all.size() - m_free.size();
  }
  /// Calls function(handle) for every object ever made. Only while nobody else uses the pool.
  template <class Function>
  void for_each(Function&& function) {
    for (auto& handle : m_all) function(handle);
  }

 private:
  mutable std::mutex m_mutex;
  std::deque<Handle> m_all;
  std::deque<Handle*> m_free;
};

}  // namespace tessera::kit
