#pragma once
// The temp and local blocks that one worker has.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "languages/sial/exchange/ordinal_map.hpp"
#include "languages/sial/interpreter/private_blocks.hpp"
#include "languages/sial/interpreter/registers.hpp"

namespace tessera::sial {

/// Blocks of temp and local arrays by array and ordinal. A temp block lasts until the end of the iteration in which it
/// was made, of the innermost loop that is open; a local one until it is released. Refers to all that it is made from.
/// One thread.
class private_store {
 public:
  /// @param pool where blocks come from and go to
  private_store(const code& program, const geometry& sizes, block_pool& pool);

  /// Null: there is none. @param r one of the program's references
  private_block* find(const reference& r, std::int64_t ordinal) {
    // The same statement mostly finds the block that it found the last time; a block in the pool belongs to no array.
    private_block*& last = m_recent[static_cast<std::size_t>(&r - m_program.references.data())];
    if (last != nullptr && last->array == r.array && last->ordinal == ordinal) return last;
    private_block* const found = m_blocks[r.array].find(ordinal);
    if (found != nullptr) last = found;
    return found;
  }
  /// A block that is not there yet; its contents are anything. @param for_task it is not held
  private_block& make(std::uint32_t array, const segment_numbers& at, std::int64_t ordinal, bool for_task = false);
  /// Blocks of a local array, all elements 0. Throws run_error when one is there already.
  void allocate(const allocation& a, const registers& values);
  /// Throws run_error when one is not there.
  void release(const allocation& a, const registers& values);

  // Loops that are open, pardos among them.
  void enter_loop() { m_marks.push_back(m_temps.size()); }
  /// An iteration ends, and the next one begins.
  void next_iteration() {
    if (m_temps.size() > m_marks.back()) drop_temps(m_marks.back());
  }
  void leave_loop() {
    next_iteration();
    m_marks.pop_back();
  }
  std::size_t open_loops() const noexcept { return m_marks.size(); }

  /// Calls function(ordinal) for each block of an array, in no order.
  template <class Function>
  void for_each(std::uint32_t array, Function&& function) const {
    m_blocks[array].for_each([&](std::int64_t ordinal, const private_block&) { function(ordinal); });
  }

 private:
  void drop_temps(std::size_t down_to);
  /// Calls function(segments, ordinal, block or null) for those that a statement names.
  template <class Function>
  void for_each_of(const allocation& a, const registers& values, Function&& function);

  const code& m_program;
  const geometry& m_sizes;
  block_pool& m_pool;
  std::vector<ordinal_map<private_block>> m_blocks;  // by array
  std::vector<private_block*> m_recent;              // by reference: what it was the last time
  std::vector<private_block*> m_temps;               // that are there, in the order of their making
  std::vector<std::size_t> m_marks;                  // how many there were when an open loop's iteration began
};

}  // namespace tessera::sial
