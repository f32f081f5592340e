#pragma once
// Memory of the program as blocks whose cuts may change: what regions, and other front ends, split differently from one
// loop to the next.
#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include "core/block/element_type.hpp"
#include "tessera/runtime.hpp"

namespace tessera {

class lifetime;
namespace block {
struct origin;
}

/// Rows of elements, one after the other in memory of the program, adopted as blocks of whole rows (tiles). Each row
/// belongs to one tile at any time. Where the memory is at home in the only host memory, other cuts cost a task that
/// copies nothing; what is on a device comes home first. Not thread-safe: its owner locks, from `cut` or `tiles` until
/// the tasks that use the tiles are submitted.
class tiled_memory {
 public:
  /// Rows [begin, end).
  struct tile {
    std::int64_t begin = 0;           ///< its first row
    std::int64_t end = 0;             ///< the row after its last
    block::record* record = nullptr;  ///< of extents {row_elements * (end - begin)}
  };

  /// Adopts `rows * row_elements` elements at `memory` as one tile; they are its first version. Throws as
  /// runtime::adopt. @param name  for messages @param owner  of the memory: let go of when the last tile has ended;
  /// null: the memory stays valid until this has ended and a fence is through
  tiled_memory(runtime& of, std::string name, element_type type, void* memory, std::shared_ptr<const void> owner,
               std::int64_t rows, std::int64_t row_elements, std::source_location site);
  /// Each tile ends when the tasks submitted before are done with it; returns at once.
  ~tiled_memory();
  tiled_memory(const tiled_memory&) = delete;
  tiled_memory& operator=(const tiled_memory&) = delete;

  /// In the order of their rows; they cover all of them. Valid until the next cut.
  std::span<const tile> tiles() const noexcept { return m_tiles; }
  /// Makes the tiles end at these rows: ascending, without 0, the last is the number of rows. Tiles that are so already
  /// stay. Takes time for each tile, old or new, and no more. Throws tessera::error, and the tiles are as they were:
  /// usage (other ends, inside a recording), memory.
  void cut(std::span<const std::int64_t> ends, std::source_location site);
  /// How often `cut` had to change something, in tasks.
  std::uint64_t changes() const noexcept { return m_changes; }

  const std::string& name() const noexcept { return m_name; }            ///< for messages
  runtime& owner() const noexcept { return *m_runtime; }                 ///< as given
  element_type type() const noexcept { return m_type; }                  ///< of the elements
  void* memory() const noexcept { return m_memory; }                     ///< its home, as given
  std::int64_t rows() const noexcept { return m_rows; }                  ///< as given
  std::int64_t row_elements() const noexcept { return m_row_elements; }  ///< elements of each

 private:
  struct exchange;
  void check(std::span<const std::int64_t> ends, std::source_location site) const;
  std::vector<exchange> exchanges_for(std::span<const std::int64_t> ends) const;
  void make_records(std::vector<tile>& fresh, std::source_location site);

  runtime* m_runtime;
  std::shared_ptr<lifetime> m_alive;  // of the scheduler
  std::string m_name;
  element_type m_type;
  void* m_memory;
  std::shared_ptr<const void> m_owner;  // here too: with the runtime, what is registered ends later than its blocks
  std::int64_t m_rows, m_row_elements;
  std::uint64_t m_all = 0;  // the word of the chunk that was adopted for all tiles; where there are rows
  const block::origin* m_origin = nullptr;
  std::vector<tile> m_tiles;
  std::uint64_t m_changes = 0;
};

}  // namespace tessera
