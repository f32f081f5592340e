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
#include "tessera/detail/runtime.hpp"

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
  /// null: the memory stays valid until this has ended and a fence is through @param per_element  how many of `type`
  /// one of the program's elements is
  tiled_memory(runtime& of, std::string name, element_type type, void* memory, std::shared_ptr<const void> owner,
               std::int64_t rows, std::int64_t row_elements, std::source_location site, std::int64_t per_element = 1);
  /// Blocks that are there already, of whole rows, whose cuts stay: those of an array that was given blocks. They
  /// outlive this, which does not end them. `cut` and its like throw usage.
  tiled_memory(runtime& of, std::string name, element_type type, std::vector<tile> blocks, std::int64_t row_elements);
  /// Each tile ends when the tasks submitted before are done with it; returns at once.
  ~tiled_memory();
  tiled_memory(const tiled_memory&) = delete;
  tiled_memory& operator=(const tiled_memory&) = delete;

  /// Where tiles end, of rows that begin and end where tiles do. Those in front of them and behind them stay.
  struct ends_of_rows {
    std::int64_t begin = 0;              ///< the first row; a tile begins there
    std::span<const std::int64_t> ends;  ///< ascending; a tile ends at the last one
  };

  /// In the order of their rows; they cover all of them. Valid until the next cut. To a thread that makes a recording,
  /// those that its tasks find. Takes time for each tile where some have been cut since the last call: for a few rows,
  /// ask `tiles_with`.
  std::span<const tile> tiles() const;
  /// Those of them that have any of the rows [begin, end). Takes time for these tiles, and to find the first.
  /// @param room  for some of them: they are valid as long as it is, and until the next cut
  std::span<const tile> tiles_with(std::int64_t begin, std::int64_t end, std::vector<tile>& room) const;
  /// Makes the tiles of these rows end there. Tiles that are so already stay. Takes time for each tile of these rows,
  /// old or new, and to find them. Throws tessera::error, and the tiles are as they were: usage (ends that are not as
  /// said, inside a recording), memory.
  void cut(const ends_of_rows& to, std::source_location site);
  /// The same inside a recording, at once and not in its replays: for an owner who knows that none of its tasks, and
  /// none of another recording, uses a tile.
  void cut_ahead(const ends_of_rows& to, std::source_location site);
  /// Inside a recording: the tasks that it takes down from now on find tiles that end at these rows, which a task of
  /// each replay exchanges for those before. Everybody else keeps the tiles that there are; the owner sees to it that
  /// they stay as long as the recording, and calls end_recorded when that ends. Throws as `cut`. Takes time for each
  /// tile when a recording cuts first, and then as `cut`.
  void cut_recorded(const ends_of_rows& to, std::source_location site);
  /// Whether the recording that the calling thread makes has tiles of its own.
  bool is_cut_here() const noexcept;
  /// It ends: where it is `finished`, with a task that exchanges its own tiles for those of everybody else. Throws
  /// nothing where it is not.
  void end_recorded(bool finished, std::source_location site);
  /// Whether the tiles are an array's own blocks, which stay.
  bool has_own_blocks() const noexcept { return m_own_blocks; }
  /// How often `cut` had to change something, in tasks.
  std::uint64_t changes() const noexcept { return m_changes; }
  /// How many tiles cuts, and those who asked for some or all of them, have gone over. To a thread that makes a
  /// recording which has cut it, in that recording.
  std::uint64_t visits() const noexcept;

  const std::string& name() const noexcept { return m_name; }            ///< for messages
  runtime& owner() const noexcept { return *m_runtime; }                 ///< as given
  element_type type() const noexcept { return m_type; }                  ///< of the elements
  void* memory() const noexcept { return m_memory; }                     ///< its home, as given; null: own blocks
  std::int64_t rows() const noexcept { return m_rows; }                  ///< as given
  std::int64_t row_elements() const noexcept { return m_row_elements; }  ///< elements of each

 private:
  class tile_list;
  struct exchange;
  struct change;
  struct made_for_recording;
  struct recorded;
  std::vector<tile> tiles_to_cut(tile_list& of, const ends_of_rows& to) const;
  static std::vector<exchange> exchanges_for(std::span<const tile> tiles, const ends_of_rows& to);
  static std::vector<tile> fresh_tiles(std::span<const exchange> exchanges, const ends_of_rows& to);
  recorded* find_here() const noexcept;
  tile_list& list_here() const noexcept;
  void make_missing(std::vector<tile>& fresh, recorded& in, std::source_location site);
  void make_records(std::vector<tile>& fresh, std::source_location site);

  runtime* m_runtime;
  std::shared_ptr<lifetime> m_alive;  // of the scheduler
  std::string m_name;
  element_type m_type;
  void* m_memory;
  std::shared_ptr<const void> m_owner;  // here too: with the runtime, what is registered ends later than its blocks
  std::int64_t m_rows, m_row_elements;
  bool m_own_blocks = false;
  std::uint64_t m_all = 0;  // the word of the chunk that was adopted for all tiles; where there are rows
  const block::origin* m_origin = nullptr;
  std::unique_ptr<tile_list> m_tiles;
  std::vector<std::unique_ptr<recorded>> m_recorded;               // of the recordings that are being made
  std::vector<std::weak_ptr<made_for_recording>> m_of_recordings;  // tiles that end with this, if not before
  std::uint64_t m_changes = 0;
};

}  // namespace tessera
