#pragma once
// Temp and local blocks of one worker, and the pool that they come from.
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "languages/sial/exchange/element_block.hpp"
#include "tessera/front_end.hpp"
#include "tessera/tessera.hpp"

namespace tessera::sial {

/// A block of a worker. Its memory is the runtime's, and in the worker's hands as long as it is used in place: for
/// writing from its making on, for reading or not at all when a task has it.
struct private_block {
  private_block(element_block made) : elements(made) {}
  element_block elements;
  std::optional<element_view<double>> held;        ///< it may be read and written
  std::optional<element_view<const double>> seen;  ///< it may be read
  double* data = nullptr;                          ///< of the one or the other; null: it is with a task
  block::space_set spaces;  ///< while not held: where its contents are when the tasks before are done
  std::int64_t count = 0;
  std::uint32_t array = ~std::uint32_t{0};  ///< whose it is now
  std::int64_t ordinal = -1;
  bool is_gone = false;     ///< its memory was given back
  std::uint64_t given = 0;  ///< to the pool: the number of that
  const shape& extents() const noexcept { return elements.stored_extents(); }
};

/// Blocks that are not used any more wait here for the next one of the same extents. One thread.
class block_pool {
 public:
  /// @param host the host's memory, as in private_block::spaces
  /// @param max_bytes as much as possible stays below: where a block would exceed it, those that wait the longest give
  /// their memory to it
  explicit block_pool(runtime& rt, block::space_set host = block::space_set::of(0),
                      std::uint64_t max_bytes = ~std::uint64_t{0})
      : m_group(rt, "a temporary block", {1}), m_host(host), m_max_bytes(max_bytes) {}
  ~block_pool();
  block_pool(const block_pool&) = delete;
  block_pool& operator=(const block_pool&) = delete;

  private_block& take(const shape& extents);           ///< held; its contents are anything
  private_block& take_for_task(const shape& extents);  ///< not held; likewise
  void let_go(private_block& b);                       ///< tasks may use it
  /// The other way: waits for the tasks that were given it, for reading only for those that write it. Throws what made
  /// them fail.
  void bring(private_block& b, intent how);
  void give(private_block& b) noexcept;

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
  static constexpr std::size_t tasks_apart =
      8;  ///< blocks of one shape in use after each other, so that their tasks need not be
  static constexpr std::uint64_t large = std::uint64_t{1} << 20;  ///< bytes: fresh memory costs more than a search
  private_block& make(const shape& extents);
  private_block& take_waiting(std::vector<private_block*>& waiting);
  /// Gives the memory of large blocks back that wait, of at least so many bytes if there are; others take it.
  void free_waiting(std::uint64_t bytes);
  /// Keeps below what all may have, as far as blocks wait.
  void make_room(std::uint64_t bytes);
  void free_memory(private_block& b);  ///< that waited, and is in no list now
  private_block* longest_waiting();

  element_block_group m_group;
  const block::space_set m_host;
  const std::uint64_t m_max_bytes;
  std::uint64_t m_bytes = 0;  // of all blocks
  std::uint64_t m_gives = 0;  // so far
  std::unordered_map<shape, std::vector<private_block*>, hash> m_waiting;
  std::unordered_map<shape, std::deque<private_block*>, hash> m_with_tasks;  // waiting too, the oldest first
  std::vector<std::unique_ptr<private_block>> m_all;
  std::vector<private_block*> m_gone;  // of them: without memory
  std::uint64_t m_large_waiting = 0;   // bytes
  std::uint64_t m_taken = 0, m_reused = 0;
};

}  // namespace tessera::sial
