#pragma once
// Blocks by their ordinal.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tessera::sial {

/// Finds what belongs to an ordinal (not negative): a hash table with open addressing, of which at most half is full.
/// Ordinals below its size lie at their own number, so that a walk through an array in order walks through memory in
/// order; larger ones are spread. Does not own. One thread.
/// @tparam T  what is found; it must not move
template <class T>
class ordinal_map {
 public:
  /// Null where there is nothing.
  T* find(std::int64_t ordinal) const noexcept {
    if (m_count == 0) return nullptr;
    for (std::size_t at = home(ordinal);; at = next(at)) {
      if (m_slots[at].value == nullptr) return nullptr;
      if (m_slots[at].ordinal == ordinal) return m_slots[at].value;
    }
  }
  /// The ordinal must have nothing.
  void add(std::int64_t ordinal, T& what) {
    if (2 * (m_count + 1) > m_slots.size()) grow();
    put(ordinal, what);
    ++m_count;
  }
  /// Nothing happens where there is nothing.
  void remove(std::int64_t ordinal) noexcept {
    if (m_count == 0) return;
    std::size_t hole = home(ordinal);
    for (;; hole = next(hole)) {
      if (m_slots[hole].value == nullptr) return;
      if (m_slots[hole].ordinal == ordinal) break;
    }
    // Whoever lies behind it and would be found from the hole as well moves up.
    for (std::size_t at = next(hole); m_slots[at].value != nullptr; at = next(at))
      if (distance(home(m_slots[at].ordinal), at) >= distance(hole, at)) m_slots[std::exchange(hole, at)] = m_slots[at];
    m_slots[hole] = {};
    --m_count;
  }
  /// Keeps its memory, but half of the slots only when an eighth would have done: a table that was large once is not
  /// emptied for ever.
  void clear() noexcept {
    if (m_count != 0) {
      if (m_slots.size() > least && 8 * m_count < m_slots.size()) m_slots.resize(m_slots.size() / 2);
      m_bits = static_cast<unsigned>(std::countr_zero(m_slots.size()));
      std::fill(m_slots.begin(), m_slots.end(), slot{});
    }
    m_count = 0;
  }
  std::size_t size() const noexcept { return m_count; }

  /// Calls function(ordinal, T&) for each, in no order.
  template <class Function>
  void for_each(Function&& function) const {
    for (const slot& s : m_slots)
      if (s.value != nullptr) function(s.ordinal, *s.value);
  }

 private:
  static constexpr std::size_t least = 16;  // slots, once there is something
  struct slot {
    std::int64_t ordinal = 0;
    T* value = nullptr;
  };

  std::size_t mask() const noexcept { return m_slots.size() - 1; }
  std::size_t next(std::size_t at) const noexcept { return (at + 1) & mask(); }
  std::size_t distance(std::size_t from, std::size_t to) const noexcept { return (to - from) & mask(); }
  std::size_t home(std::int64_t ordinal) const noexcept {
    const std::uint64_t above = static_cast<std::uint64_t>(ordinal) >> m_bits;
    return static_cast<std::size_t>(static_cast<std::uint64_t>(ordinal) +
                                    (above * 0x9e3779b97f4a7c15ull >> (64 - m_bits))) &
           mask();
  }
  void put(std::int64_t ordinal, T& what) noexcept {
    std::size_t at = home(ordinal);
    while (m_slots[at].value != nullptr) at = next(at);
    m_slots[at] = {ordinal, &what};
  }
  void grow() {
    const std::vector<slot> before =
        std::exchange(m_slots, std::vector<slot>(m_slots.empty() ? least : 2 * m_slots.size()));
    m_bits = static_cast<unsigned>(std::countr_zero(m_slots.size()));
    for (const slot& s : before)
      if (s.value != nullptr) put(s.ordinal, *s.value);
  }

  std::vector<slot> m_slots;
  unsigned m_bits = 4;  // of the number of slots
  std::size_t m_count = 0;
};

}  // namespace tessera::sial
