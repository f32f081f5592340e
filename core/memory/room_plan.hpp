#pragma once
// Which blocks have to leave a memory so that new ones fit between those that stay.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/block/record.hpp"
#include "core/memory/page_grid.hpp"

namespace tessera::memory {

/// A part of a space's memory. Without a chunk: memory that the plugin has not been asked for yet.
struct piece {
  block::chunk where;
  std::uint64_t bytes = 0;
};

/// A memory is full although enough of it is free, when what is free lies in pieces. This finds the neighbours whose
/// leaving joins them: for each wanted size the run of adjacent pieces, free or held by something that may leave, that
/// costs least. Pure bookkeeping: knows addresses, sizes and costs only. Pieces may be given in any order, and be out
/// of date: those that overlap are not joined. Not thread-safe.
class room_plan {
 public:
  /// A piece that is free, or will be without anybody's doing.
  void add_free(const piece& p) { add(p, 0, nobody); }
  /// A piece that will be free at some time; to wait for it costs something.
  void add_awaited(const piece& p, double cost) { add(p, cost, nobody); }
  /// A piece whose holder may leave. @param holder  a number of the caller's  @param cost  not negative
  void add_held(const piece& p, double cost, std::size_t holder) { add(p, cost, holder); }

  /// The holders that have to leave so that pieces of all the sizes fit at one time, where the grid allows; none: they
  /// fit as it is. The largest is placed first, as space::reserve does. Of runs that cost the same the shortest is
  /// taken, as the allocator does. Nothing: they do not fit even if all leave. Takes time in proportion to sizes times
  /// pieces.
  std::optional<std::vector<std::size_t>> make_room(std::span<const std::uint64_t> sizes, page_grid grid = {}) const;

 private:
  static constexpr std::size_t nobody = ~std::size_t{0};
  struct part {
    block::chunk where;
    std::uint64_t bytes;
    double cost;
    std::size_t holder;
    bool is_next_to(const part& behind) const noexcept { return where.word + bytes == behind.where.word; }
  };
  class parts;
  void add(const piece& p, double cost, std::size_t holder);

  std::vector<part> m_parts;
};

}  // namespace tessera::memory
