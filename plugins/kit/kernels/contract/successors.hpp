#pragma once
// Which block a thread reads after which.
#include <array>
#include <cstddef>
#include <cstdint>

namespace tessera::kit {

/// Loops over blocks come by in the same order again and again: after each block it keeps the one that came next the
/// last time. What it says is a guess, and the memory may be gone: good for a prefetch, which never fails. One thread.
class successors {
 public:
  /// `now` is read. What followed it the last time; null: it is not known, or `now` itself.
  const void* note(const void* now) noexcept {
    if (m_before != nullptr) m_next[place_of(m_before)] = now;
    m_before = now;
    const void* const next = m_next[place_of(now)];
    return next == now ? nullptr : next;
  }

 private:
  // Blocks that are neighbours have places in one line of the cache. Two blocks with one place spoil a guess.
  static constexpr unsigned group_bits = 12, places_of_group = 8, granule_bits = 11;
  static std::size_t place_of(const void* block) noexcept {
    const std::uintptr_t granule = reinterpret_cast<std::uintptr_t>(block) >> granule_bits;
    return ((granule / places_of_group * 0x9e3779b97f4a7c15ull) >> (64 - group_bits)) * places_of_group +
           granule % places_of_group;
  }
  alignas(64) std::array<const void*, (std::size_t{1} << group_bits) * places_of_group> m_next{};
  const void* m_before = nullptr;
};

}  // namespace tessera::kit
