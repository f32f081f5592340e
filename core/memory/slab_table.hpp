#pragma once
// Pieces of memory by number.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/memory/range_allocator.hpp"
#include "core/plugin/device.hpp"

namespace tessera::memory {

/// One piece: a slab that a plugin has given, or memory of the program.
struct slab {
  tsr_memory* memory = nullptr;             ///< null: the program's
  std::byte* base = nullptr;                ///< where the host sees it
  std::unique_ptr<range_allocator> ranges;  ///< null: of the program, or free
  bool foreign = false;                     ///< of the program, from its first chunk to its last
  std::size_t foreign_parts = 0;            ///< chunks of it that are left; foreign_memory's
  std::shared_ptr<const void> owner;        ///< of memory of the program; null: the program frees it
  std::vector<const plugin::device*> registered;
};

/// Entries never move, and are looked up without a lock. Thread-safe; an entry belongs to the caller of take until
/// give_back.
class slab_table {
 public:
  static constexpr std::size_t per_page = 256, max_pages = 256, most = per_page * max_pages;
  slab_table() = default;
  ~slab_table() {
    for (const std::atomic<slab*>& page : m_pages) delete[] page.load(std::memory_order_relaxed);
  }
  slab_table(const slab_table&) = delete;
  slab_table& operator=(const slab_table&) = delete;

  slab& at(std::uint32_t number) const noexcept {
    return m_pages[number / per_page].load(std::memory_order_acquire)[number % per_page];
  }
  /// A free entry. Throws tessera::error (memory) when all are taken. @param space  whose, for people
  std::uint32_t take(const std::string& space);
  /// It is free, and empty, from now on.
  void give_back(std::uint32_t entry) {
    const std::lock_guard guard(m_mutex);
    m_free.push_back(entry);
  }

 private:
  std::array<std::atomic<slab*>, max_pages> m_pages{};
  std::mutex m_mutex;
  std::uint32_t m_count = 0;
  std::vector<std::uint32_t> m_free;
};

}  // namespace tessera::memory
