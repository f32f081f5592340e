#pragma once
// Temp and local blocks of one worker, as its pool holds them: freed blocks wait for others of the same extents, so
// that of each extents as many are there as were alive at once.
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "languages/sial/estimate/estimate.hpp"

namespace tessera::sial {

/// Extents of a kind of array.
using block_kind = std::uint32_t;

/// What one walk through a body added at most, by kind: to be added again where the walk is not repeated.
using block_growth = std::map<block_kind, std::int64_t>;

class block_account {
 public:
  block_kind kind_of(array_kind of, const std::vector<std::int64_t>& extents);
  /// A block is made, unless it is there.
  void make(std::uint32_t array, std::int64_t ordinal, block_kind kind, bool is_temp);
  bool has(std::uint32_t array, std::int64_t ordinal) const { return m_blocks.contains({array, ordinal}); }
  void release(std::uint32_t array, std::int64_t ordinal);
  void release_all(std::uint32_t array);
  /// Counts releases of a local array and of all its blocks: walks after one are others than before.
  std::uint64_t releases(std::uint32_t array) const;
  std::uint64_t locals_made() const noexcept { return m_locals_made; }

  std::size_t temps() const noexcept { return m_temps.size(); }
  void drop_temps(std::size_t down_to);

  /// Begins to watch, ends it: what was added at most since then.
  void watch() { m_watched.emplace_back(); }
  block_growth watched();
  void grow(const block_growth& by);

  amount most(array_kind of) const;

 private:
  struct key {
    std::uint32_t array;
    std::int64_t ordinal;
    bool operator==(const key&) const = default;
  };
  struct hash {
    std::size_t operator()(const key& k) const noexcept {
      return (static_cast<std::size_t>(k.ordinal) * 0x9e3779b97f4a7c15ull) ^ (std::size_t{k.array} << 32 | k.array);
    }
  };
  struct shape_entry {
    array_kind kind;
    amount each;
    std::int64_t live = 0, most = 0;
  };
  struct growth {
    std::int64_t before, most;
  };
  void rises_to(block_kind kind, std::int64_t live, std::int64_t before);

  std::map<std::pair<array_kind, std::vector<std::int64_t>>, block_kind> m_kinds;
  std::vector<shape_entry> m_shapes;
  std::unordered_map<key, block_kind, hash> m_blocks;
  std::vector<key> m_temps;
  std::vector<std::map<block_kind, growth>> m_watched;
  std::unordered_map<std::uint32_t, std::uint64_t> m_releases;
  std::uint64_t m_locals_made = 0;
};

}  // namespace tessera::sial
