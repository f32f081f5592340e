#pragma once
// Temp and local blocks of one worker, as its pool holds them: freed blocks wait for others of the same extents, so
// that of each extents as many are there as were alive at once.
#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "languages/sial/estimate/estimate.hpp"

namespace tessera::sial {

/// Extents of a kind of array.
using block_kind = std::uint32_t;

/// What one walk through a body added at most, by kind and in all: to be added again where the walk is not repeated.
struct block_growth {
  std::map<block_kind, std::int64_t> kinds;
  double room = 0;
};

class block_account {
 public:
  block_kind kind_of(array_kind of, const std::vector<std::int64_t>& extents);
  /// A block is made, unless it is there.
  void make(std::uint32_t array, std::int64_t ordinal, block_kind kind, bool is_temp);
  bool has(std::uint32_t array, std::int64_t ordinal) const { return m_blocks.contains({array, ordinal}); }
  /// There is a block of which the ordinal is not known.
  bool has_unnamed(std::uint32_t array) const;
  void release(std::uint32_t array, std::int64_t ordinal);
  void release_all(std::uint32_t array);

  /// A part of the walk of which it is not known whether it happens, or a loop or procedure that may be left early. At
  /// its end those blocks are there that are in either case: what was there before it, released in it or not.
  void open_fork() { m_forks.push_back({m_clock, {}}); }
  /// One that begins later, or never.
  void open_later() { m_forks.push_back({0, {}}); }
  void begins_now(std::size_t fork) { m_forks[fork].since = m_clock; }
  std::size_t forks() const noexcept { return m_forks.size(); }
  void close_fork();

  /// Counts blocks that were made.
  std::uint64_t clock() const noexcept { return m_clock; }
  /// Releases the local blocks that have no ordinal and were made later; their arrays.
  std::set<std::uint32_t> release_unnamed(std::uint64_t since);
  /// Counts releases of a local array and of all its blocks: walks after one are others than before.
  std::uint64_t releases(std::uint32_t array) const;
  std::uint64_t locals_made() const noexcept { return m_locals_made; }

  std::size_t temps() const noexcept { return m_temps.size(); }
  void drop_temps(std::size_t down_to);

  /// Begins to watch, ends it: what was added at most since then.
  void watch() { m_watched.push_back({{}, m_room, m_room}); }
  block_growth watched();
  void grow(const block_growth& by);

  amount most(array_kind of) const;
  /// Of the blocks that were alive at once: less than the sum of `most`, since not each extents have most at the same
  /// time.
  double max_at_once() const noexcept { return m_room_most; }

 private:
  struct key {
    std::uint32_t array;
    std::int64_t ordinal;
    auto operator<=>(const key&) const = default;
  };
  struct hash {
    std::size_t operator()(const key& k) const noexcept {
      return (static_cast<std::size_t>(k.ordinal) * 0x9e3779b97f4a7c15ull) ^ (std::size_t{k.array} << 32 | k.array);
    }
  };
  struct live_block {
    block_kind kind;
    std::uint64_t born;
  };
  struct fork_point {
    std::uint64_t since;  ///< blocks that were made until then are there in both cases
    std::vector<std::pair<key, live_block>> released;
  };
  using live_blocks = std::unordered_map<key, live_block, hash>;
  void release(live_blocks::iterator at);
  void enter(const key& what, const live_block& block);
  struct shape_entry {
    array_kind kind;
    amount each;
    std::int64_t live = 0, most = 0;
  };
  struct growth {
    std::int64_t before, most;
  };
  struct watched_blocks {
    std::map<block_kind, growth> kinds;
    double room_before = 0, room_most = 0;
  };
  void rises_to(block_kind kind, std::int64_t live, std::int64_t before);
  void room_rises_to(double room);
  void gone(block_kind kind);

  std::map<std::pair<array_kind, std::vector<std::int64_t>>, block_kind> m_kinds;
  std::vector<shape_entry> m_shapes;
  live_blocks m_blocks;
  std::vector<fork_point> m_forks;
  std::uint64_t m_clock = 0;
  std::unordered_map<std::uint32_t, std::int64_t> m_unnamed;  // blocks by array
  std::vector<key> m_temps;
  std::vector<watched_blocks> m_watched;
  double m_room = 0, m_room_most = 0;  // of live blocks
  std::unordered_map<std::uint32_t, std::uint64_t> m_releases;
  std::uint64_t m_locals_made = 0;
};

}  // namespace tessera::sial
