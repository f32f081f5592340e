#pragma once
// Who may change a part of a cell.
#include <array>
#include <bit>
#include <cstdint>
#include <mutex>

namespace tessera::disk {

/// Two streams may use different bytes of one cell at the same time, but a cell is read, checked and written as a
/// whole: so whoever touches a part of a cell holds one of these locks meanwhile. Several cells are locked at once, in
/// one order.
class cell_locks {
 public:
  static constexpr std::uint32_t count = 64;

  /// The locks that a set of cells wants, as bits.
  static std::uint64_t bit_of(std::uint64_t allocation, std::uint64_t cell) noexcept {
    return 1ull << ((allocation * 11 + cell) % count);
  }

  void lock(std::uint64_t bits) {
    for (; bits != 0; bits &= bits - 1) m_locks[static_cast<std::size_t>(std::countr_zero(bits))].lock();
  }
  void unlock(std::uint64_t bits) {
    for (; bits != 0; bits &= bits - 1) m_locks[static_cast<std::size_t>(std::countr_zero(bits))].unlock();
  }

  class holder {
   public:
    holder(cell_locks& locks, std::uint64_t bits) : m_from(locks), m_bits(bits) { m_from.lock(m_bits); }
    ~holder() { m_from.unlock(m_bits); }
    holder(const holder&) = delete;
    holder& operator=(const holder&) = delete;

   private:
    cell_locks& m_from;
    const std::uint64_t m_bits;
  };

 private:
  std::array<std::mutex, count> m_locks;
};

}  // namespace tessera::disk
