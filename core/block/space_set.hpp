#pragma once
// A set of memory spaces.
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tessera::block {

/// Numbers of spaces, below `max_spaces`. Of the size of two words, since every block has one (record::valid_spaces).
class space_set {
 public:
  static constexpr std::size_t max_spaces = 128;

  constexpr space_set() noexcept = default;
  /// The set of one space.
  static constexpr space_set of(std::uint16_t space) noexcept { return space_set().add(space); }

  constexpr bool has(std::uint16_t space) const noexcept { return (m_words[space / 64] >> space % 64 & 1) != 0; }
  constexpr bool empty() const noexcept { return (m_words[0] | m_words[1]) == 0; }
  /// Whether they have a space in common.
  constexpr bool meets(const space_set& other) const noexcept {
    return ((m_words[0] & other.m_words[0]) | (m_words[1] & other.m_words[1])) != 0;
  }
  /// The lowest number in it; of an empty set: max_spaces.
  constexpr std::uint16_t first() const noexcept {
    return static_cast<std::uint16_t>(m_words[0] != 0 ? std::countr_zero(m_words[0])
                                                      : 64 + std::countr_zero(m_words[1]));
  }
  constexpr space_set& add(std::uint16_t space) noexcept {
    m_words[space / 64] |= std::uint64_t{1} << space % 64;
    return *this;
  }
  constexpr space_set& remove(std::uint16_t space) noexcept {
    m_words[space / 64] &= ~(std::uint64_t{1} << space % 64);
    return *this;
  }
  constexpr space_set& operator|=(const space_set& other) noexcept {
    m_words[0] |= other.m_words[0];
    m_words[1] |= other.m_words[1];
    return *this;
  }
  friend constexpr space_set operator|(space_set a, const space_set& b) noexcept { return a |= b; }
  friend constexpr bool operator==(const space_set&, const space_set&) noexcept = default;

  /// Calls function(space) for each, in the order of their numbers.
  template <class Function>
  constexpr void for_each(Function&& function) const {
    for (std::size_t w = 0; w < m_words.size(); ++w)
      for (std::uint64_t left = m_words[w]; left != 0; left &= left - 1)
        function(static_cast<std::uint16_t>(w * 64 + std::countr_zero(left)));
  }

 private:
  std::array<std::uint64_t, max_spaces / 64> m_words{};
};

/// One that threads change at the same time, each space for itself: what is asked about several spaces is no picture of
/// one moment.
class atomic_space_set {
 public:
  bool has(std::uint16_t space) const noexcept {
    return (m_words[space / 64].load(std::memory_order_acquire) >> space % 64 & 1) != 0;
  }
  bool empty() const noexcept {
    return (m_words[0].load(std::memory_order_acquire) | m_words[1].load(std::memory_order_acquire)) == 0;
  }
  void add(std::uint16_t space) noexcept {
    m_words[space / 64].fetch_or(std::uint64_t{1} << space % 64, std::memory_order_release);
  }
  void remove(std::uint16_t space) noexcept {
    m_words[space / 64].fetch_and(~(std::uint64_t{1} << space % 64), std::memory_order_release);
  }
  /// Whether each space of this one is in the other as well.
  bool within(const atomic_space_set& other) const noexcept {
    for (std::size_t w = 0; w < m_words.size(); ++w)
      if ((m_words[w].load(std::memory_order_acquire) & ~other.m_words[w].load(std::memory_order_acquire)) != 0)
        return false;
    return true;
  }

 private:
  std::array<std::atomic<std::uint64_t>, space_set::max_spaces / 64> m_words{};
};

}  // namespace tessera::block
