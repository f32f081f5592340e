#pragma once
// Cache lines asked for before they are needed.

namespace tessera {

/// Asks for the cache line of `address`, which this thread will write soon: it comes from the core that has it in one
/// transfer, where a load and a later store would take two. Does not fault, whatever the address.
inline void prefetch_for_write(const void* address) noexcept {
#if defined(__x86_64__)
  // The builtin is a prefetch for reading where the compiler may not assume the instruction; processors without it
  // take it for a nop.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#else
  __builtin_prefetch(address, 1);
#endif
}

}  // namespace tessera
