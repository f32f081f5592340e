#pragma once
// Which process this is. A fork copies memory, and none of the threads that it belongs to.
#include <atomic>
#include <cstdint>

namespace tessera {

namespace detail {
extern std::atomic<std::uint32_t> forks_behind_us;  // counted in the child, before fork returns there
}

/// Differs between a process and those that it was forked from; says nothing else. One load. Any thread.
inline std::uint32_t process_number() noexcept { return detail::forks_behind_us.load(std::memory_order_relaxed); }

}  // namespace tessera
