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
/// Up to 64 consecutive ordinals lie side by side, so that a walk through an array in order walks through memory in
/// order; such groups are spread. An ordinal whose slot is taken goes to the same slot of the next group, and so on:
/// whatever ranges of an array there are, they do not pile up behind each other. Does not own. One thread.
/// @tparam T  what is found; it must not move
template <class T>
class ordinal_map {
 public:
  /// Null where there is nothing.
  T* find(std::int64_t ordinal) const noexcept {
    if (m_count == 0) return nullptr;
    for (std::size_t at = home(ordinal);; at = next(at)) {
      const slot& s = m_slots[place(at)];
      if (s.value == nullptr) return nullptr;
      if (s.ordinal == ordinal) return s.value;
    }
  }
  /// How many slots find() looks at.
  std::size_t looks_for(std::int64_t ordinal) const noexcept {
    std::size_t looks = 1;
    if (m_count == 0) return looks;
    for (std::size_t at = home(ordinal);; at = next(at), ++looks) {
      const slot& s = m_slots[place(at)];
      if (s.value == nullptr || s.ordinal == ordinal) return looks;
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
      if (m_slots[place(hole)].value == nullptr) return;
      if (m_slots[place(hole)].ordinal == ordinal) break;
    }
    // Whoever lies behind it and would be found from the hole as well moves up.
    for (std::size_t at = next(hole); m_slots[place(at)].value != nullptr; at = next(at))
      if (distance(home(m_slots[place(at)].ordinal), at) >= distance(hole, at))
        m_slots[place(std::exchange(hole, at))] = m_slots[place(at)];
    m_slots[place(hole)] = {};
    --m_count;
  }
  /// Keeps its memory, but half of the slots only when an eighth would have done: a table that was large once is not
  /// emptied for ever.
  void clear() noexcept {
    if (m_count != 0) {
      if (m_slots.size() > least && 8 * m_count < m_slots.size()) m_slots.resize(m_slots.size() / 2);
      note_size();
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

  void note_size() noexcept {
    m_bits = static_cast<unsigned>(std::countr_zero(m_slots.size()));
    m_group_bits = std::min(6u, m_bits - 4);
  }
  // Slots are counted as they are looked at: first the first one of each group, then the second ones.
  std::size_t mask() const noexcept { return m_slots.size() - 1; }
  std::size_t next(std::size_t at) const noexcept { return (at + 1) & mask(); }
  std::size_t distance(std::size_t from, std::size_t to) const noexcept { return (to - from) & mask(); }
  /// Where it is in memory.
  std::size_t place(std::size_t at) const noexcept {
    return ((at << m_group_bits) & mask()) | (at >> (m_bits - m_group_bits));
  }
  std::size_t home(std::int64_t ordinal) const noexcept {
    const auto number = static_cast<std::uint64_t>(ordinal);
    const unsigned groups = m_bits - m_group_bits;  // bits of their number
    // Twice, since rows of an array and stripes of a generation are regular in one product.
    std::uint64_t spread = (number >> m_group_bits) * 0xd6e8feb86659fd93ull;
    spread = (spread ^ (spread >> 32)) * 0xd6e8feb86659fd93ull;
    // Lone ordinals far from each other are not all the first ones of their groups.
    const std::uint64_t inside = (number + (spread >> 20)) & ((std::uint64_t{1} << m_group_bits) - 1);
    return static_cast<std::size_t>((inside << groups) | (spread >> (64 - groups)));
  }
  void put(std::int64_t ordinal, T& what) noexcept {
    std::size_t at = home(ordinal);
    while (m_slots[place(at)].value != nullptr) at = next(at);
    m_slots[place(at)] = {ordinal, &what};
  }
  void grow() {
    const std::vector<slot> before =
        std::exchange(m_slots, std::vector<slot>(m_slots.empty() ? least : 2 * m_slots.size()));
    note_size();
    for (const slot& s : before)
      if (s.value != nullptr) put(s.ordinal, *s.value);
  }

  std::vector<slot> m_slots;
  unsigned m_bits = 4, m_group_bits = 0;  // of the number of slots, and of those in a group
  std::size_t m_count = 0;
};

}  // namespace tessera::sial
