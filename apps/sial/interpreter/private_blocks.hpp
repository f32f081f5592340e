#pragma once
// Temp and local blocks of one worker, and the pool that they come from.
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tessera/tessera.hpp"

namespace tessera::sial {

/// A block in the hands of a worker: its memory is the runtime's, held for writing as long as it is used in place.
struct private_block {
  private_block(block_of<double> made) : elements(made) {}
  block_of<double> elements;
  std::optional<host_view<double>> held;
  double* data = nullptr;        ///< of `held`
  std::int64_t count = 0;
  std::uint32_t array = ~std::uint32_t{0};  ///< whose it is now
  std::int64_t ordinal = -1;
  const shape& extents() const noexcept { return elements.extents(); }
};

/// Blocks that are not used any more wait here for the next one of the same extents. One thread.
class block_pool {
 public:
  explicit block_pool(runtime& rt) : m_group(rt, "a temporary block", {1}) {}
  ~block_pool();
  block_pool(const block_pool&) = delete;
  block_pool& operator=(const block_pool&) = delete;

  private_block& take(const shape& extents);  ///< its contents are anything
  void give(private_block& b) noexcept;
  void clear() noexcept;                      ///< gives the memory of waiting blocks back

  std::uint64_t taken() const noexcept { return m_taken; }    ///< blocks so far
  std::uint64_t reused() const noexcept { return m_reused; }  ///< of them those that waited

 private:
  struct hash {
    std::size_t operator()(const shape& s) const noexcept {
      std::size_t h = s.rank();
      for (const std::int64_t e : s.extents()) h = (h ^ static_cast<std::size_t>(e)) * 0x9e3779b97f4a7c15ull;
      return h ^ h >> 32;
    }
  };
  block_group<double> m_group;
  std::unordered_map<shape, std::vector<private_block*>, hash> m_waiting;
  std::vector<std::unique_ptr<private_block>> m_all;
  std::uint64_t m_taken = 0, m_reused = 0;
};

/// The blocks of one temp or local array that are there, by ordinal. One thread.
class private_array {
 public:
  private_block* find(std::int64_t ordinal) const noexcept {
    const auto found = m_blocks.find(ordinal);
    return found == m_blocks.end() ? nullptr : found->second;
  }
  void add(std::int64_t ordinal, private_block& b) { m_blocks.emplace(ordinal, &b); }
  void remove(std::int64_t ordinal) noexcept { m_blocks.erase(ordinal); }
  const std::unordered_map<std::int64_t, private_block*>& all() const noexcept { return m_blocks; }

 private:
  std::unordered_map<std::int64_t, private_block*> m_blocks;
};

}  // namespace tessera::sial
