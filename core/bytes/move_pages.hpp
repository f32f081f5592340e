#pragma once
// Pages of the system that change their address, instead of new ones that are zeroed.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace tessera {

/// The pages behind `from` are behind `to` afterwards, with what is in them; `from` stays mapped, and is zeros. Memory
/// of this process alone, apart from each other, and nobody uses it meanwhile. What is not in whole pages, or the
/// system does not move (shared memory, parts below 64 KiB of several mappings, before Linux 5.7), stays where it is.
inline void move_pages(std::byte* from, std::byte* to, std::uint64_t bytes) noexcept {
#if defined(MREMAP_DONTUNMAP)
  constexpr std::uint64_t least = std::uint64_t{64} << 10;
  static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if ((reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to) | bytes) % page != 0) return;
  if (::mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to) != MAP_FAILED) return;
  if (bytes < 2 * least) return;
  const std::uint64_t half = bytes / 2 / least * least;  // it may be mapped in parts, which move one by one
  move_pages(from, to, half);
  move_pages(from + half, to + half, bytes - half);
#else
  (void)from, (void)to, (void)bytes;
#endif
}

}  // namespace tessera
