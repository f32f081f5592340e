#pragma once
// The one memory fence that store-then-load protocols need.
#include <atomic>

namespace tessera {

/// Orders all stores before it with all loads after it, as std::atomic_thread_fence(seq_cst). ThreadSanitizer knows no
/// fences (GCC refuses to compile them); there a locked instruction orders the hardware as well, and since these fences
/// only decide which thread wakes which and never publish data, the sanitizer loses nothing.
inline void full_fence() noexcept {
#if defined(__SANITIZE_THREAD__)
  std::atomic<int> local{0};
  local.fetch_add(1, std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace tessera
