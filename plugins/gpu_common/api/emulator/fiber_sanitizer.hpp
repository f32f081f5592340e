#pragma once
// What the sanitizers must be told about fibers. Without a sanitizer all of it is nothing.
#include <atomic>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace tessera::gpu::emulator {

/// Of one fiber: its stack for the address sanitizer, its identity for the thread sanitizer.
class fiber_sanitizer {
 public:
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr std::size_t stack_bytes = 256 * 1024;
#else
  static constexpr std::size_t stack_bytes = 64 * 1024;
#endif
#if defined(__SANITIZE_THREAD__)
  static constexpr bool fiber_per_thread = true;
#else
  static constexpr bool fiber_per_thread = false;  ///< who ends without waiting leaves its fiber to the next
#endif
  /// Whether a switch orders what was done before with what comes after.
  enum class order : unsigned {
    ordered = 0,
    unordered = 1
  };
  static constexpr order ordered = order::ordered, unordered = order::unordered;

#if defined(__SANITIZE_ADDRESS__)
  void describe(void* bottom, std::size_t bytes) { m_bottom = bottom, m_bytes = bytes; }
  void before_entering(order) { __sanitizer_start_switch_fiber(&m_resumer_frames, m_bottom, m_bytes); }
  void after_returning() { __sanitizer_finish_switch_fiber(m_resumer_frames, nullptr, nullptr); }
  void before_leaving() { __sanitizer_start_switch_fiber(&m_own_frames, m_resumer_bottom, m_resumer_bytes); }
  void after_resuming() { __sanitizer_finish_switch_fiber(m_own_frames, &m_resumer_bottom, &m_resumer_bytes); }
  void before_ending() { __sanitizer_start_switch_fiber(nullptr, m_resumer_bottom, m_resumer_bytes); }

 private:
  void *m_bottom = nullptr, *m_resumer_frames = nullptr, *m_own_frames = nullptr;
  const void* m_resumer_bottom = nullptr;
  std::size_t m_bytes = 0, m_resumer_bytes = 0;
#elif defined(__SANITIZE_THREAD__)
  fiber_sanitizer() : m_own(__tsan_create_fiber(0)) {}
  ~fiber_sanitizer() { __tsan_destroy_fiber(m_own); }
  fiber_sanitizer(const fiber_sanitizer&) = delete;
  fiber_sanitizer& operator=(const fiber_sanitizer&) = delete;
  void describe(void*, std::size_t) {}
  // Always inline: the sanitizer counts calls and returns per fiber, and a call that returns on another one is not
  // even.
  [[gnu::always_inline]] void before_entering(order how) {
    m_resumer.store(__tsan_get_current_fiber(), std::memory_order_relaxed);
    const unsigned flags = m_entered ? static_cast<unsigned>(how) : 0;
    m_entered = true;
    __tsan_switch_to_fiber(m_own, flags);
  }
  void after_returning() {}
  [[gnu::always_inline]] void before_leaving() { switch_back(order::unordered); }
  void after_resuming() {}
  [[gnu::always_inline]] void before_ending() { switch_back(order::ordered); }

 private:
  [[gnu::always_inline]] void switch_back(order how) {
    __tsan_switch_to_fiber(m_resumer.load(std::memory_order_relaxed), static_cast<unsigned>(how));
  }
  void* m_own;
  std::atomic<void*> m_resumer{nullptr};
  bool m_entered = false;  // the first switch is ordered: the fiber finds what its maker wrote
#else
  void describe(void*, std::size_t) {}
  void before_entering(order) {}
  void after_returning() {}
  void before_leaving() {}
  void after_resuming() {}
  void before_ending() {}
#endif
};

/// Of one fiber within a block: which events of the block order its thread with the others.
class order_notes {
 public:
#if defined(__SANITIZE_THREAD__)
  static void begin_block(void* block) { __tsan_release(begin_of(block)); }
  static void end_block(void* block) { __tsan_acquire(end_of(block)); }
  void join(void* block) { m_block.store(block, std::memory_order_relaxed); }
  void begin_thread() { __tsan_acquire(begin_of(m_block.load(std::memory_order_relaxed))); }
  void end_thread() { __tsan_release(end_of(m_block.load(std::memory_order_relaxed))); }
  void before_barrier() { __tsan_release(barrier_of(m_block.load(std::memory_order_relaxed))); }
  void after_barrier() { __tsan_acquire(barrier_of(m_block.load(std::memory_order_relaxed))); }

 private:
  // Three addresses that mean nothing but themselves.
  static void* begin_of(void* block) { return block; }
  static void* end_of(void* block) { return static_cast<char*>(block) + 8; }
  static void* barrier_of(void* block) { return static_cast<char*>(block) + 16; }
  std::atomic<void*> m_block{nullptr};
#else
  static void begin_block(void*) {}
  static void end_block(void*) {}
  void join(void*) {}
  void begin_thread() {}
  void end_thread() {}
  void before_barrier() {}
  void after_barrier() {}
#endif
};

}  // namespace tessera::gpu::emulator
