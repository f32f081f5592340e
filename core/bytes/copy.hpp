#pragma once
// Copies of bytes.
#include <cstddef>
#include <span>
#include <string_view>

namespace tessera {

/// As std::memcpy, for ranges that do not overlap. That of glibc is as slow as a tenth on some processors (AMD Zen 3
/// and 4) where the destination lies a few bytes past the source modulo a page, as elements of vectors and NumPy arrays
/// do beside slabs: it leaves copies of a few KiB and more to one instruction (`rep movsb`). This one has loops of
/// vectors for them. What is larger than the second cache is written past the caches. Safe from any thread; no order
/// between the bytes.
void copy_bytes(void* to, const void* from, std::size_t bytes) noexcept;

/// The same where the ranges may overlap, as std::memmove.
void move_bytes(void* to, const void* from, std::size_t bytes) noexcept;

/// One of the loops that copy_bytes is made of.
struct copy_loop {
  std::string_view name;
  std::size_t least;  ///< bytes; it is not called for fewer
  void (*run)(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;
};

/// Those that this processor can run, for tests and measurements. None: copy_bytes is std::memcpy.
std::span<const copy_loop> copy_loops() noexcept;

/// From how many bytes on copy_bytes writes past the caches.
std::size_t min_past_caches() noexcept;

}  // namespace tessera
