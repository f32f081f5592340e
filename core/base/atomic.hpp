#pragma once
// The atomics of the lock-free parts: those of the standard, under a name that tests/models replaces.
#include <atomic>

namespace tessera {

/// A header that uses this name, and full_fence() for its fences, can be compiled for the explorer of tests/models,
/// which runs small cases in every way in which the memory model lets them run.
template <class T>
using atomic = std::atomic<T>;

}  // namespace tessera
