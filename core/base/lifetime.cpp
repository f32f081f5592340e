#include "core/base/lifetime.hpp"

#include <pthread.h>

namespace tessera::detail {

constinit std::atomic<std::uint32_t> forks_behind_us{0};

namespace {

void in_child() { forks_behind_us.fetch_add(1, std::memory_order_relaxed); }

/// From the time on when the library is loaded. What starts another program (exec, posix_spawn) needs none of it.
[[maybe_unused]] const int registered = ::pthread_atfork(nullptr, nullptr, in_child);

}  // namespace
}  // namespace tessera::detail
