#pragma once
// The cells of an allocation: the unit of checksums, and of every request to the disk.
#include <atomic>
#include <cstdint>
#include <memory>

namespace tessera::disk {

/// A page, and the block of every disk that we know: requests of whole cells fit O_DIRECT.
inline constexpr std::uint64_t cell_bytes = 4096;

/// The checksum of each cell of one allocation, 0 for a cell that was never written. In memory: what it guards is
/// scratch data that dies with the process. Different cells may be used by different threads; who touches a cell in
/// part holds its lock (cell_locks.hpp), who touches it as a whole is alone by the contract of copies.
class cell_table {
 public:
  /// Without checksums the table is empty and knows nothing.
  cell_table(std::uint64_t cells, bool checksums)
      : m_sums(checksums ? std::make_unique<std::atomic<std::uint32_t>[]>(cells) : nullptr) {}

  bool kept() const noexcept { return m_sums != nullptr; }
  /// Whether something was written to the cell; without checksums: maybe.
  bool written(std::uint64_t cell) const noexcept { return !kept() || sum(cell) != 0; }
  std::uint32_t sum(std::uint64_t cell) const noexcept { return m_sums[cell].load(std::memory_order_relaxed); }
  void set(std::uint64_t cell, std::uint32_t checksum) noexcept {
    m_sums[cell].store(stored(checksum), std::memory_order_relaxed);
  }
  /// The form in which a checksum is kept: 0 means "never written", so a checksum that happens to be 0 becomes 1.
  static std::uint32_t stored(std::uint32_t checksum) noexcept { return checksum == 0 ? 1 : checksum; }

 private:
  std::unique_ptr<std::atomic<std::uint32_t>[]> m_sums;
};

}  // namespace tessera::disk
