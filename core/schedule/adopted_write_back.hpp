#pragma once
// Arrays that the program has adopted: after a fence, its own memory has their last versions.
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/schedule/failures.hpp"
#include "core/task/record.hpp"
#include "core/transfer/coherence.hpp"

namespace tessera::schedule {

/// Brings versions home: a read at home for each block whose last version is elsewhere. Thread-safe.
class adopted_write_back {
 public:
  explicit adopted_write_back(transfer::coherence& coherence) noexcept : m_coherence(coherence) {}

  /// Calls submit(block) for each block in this memory whose last version is elsewhere: that task reads it at home, and
  /// note_read follows. False: there is none, and none is on its way.
  template <class Submit>
  bool begin(const transfer::memory_choice& where, Submit&& submit) {
    // The flag goes down behind the count of what another thread brings home.
    if (!m_coherence.adopted().any_stale() && m_under_way.load(std::memory_order_acquire) == 0) return false;
    // An array that ends meanwhile does so behind these reads, or before they are thought of.
    const std::lock_guard guard(m_mutex);
    const std::vector<block::record*> stale = m_coherence.adopted().take_stale(where);
    m_under_way.fetch_add(stale.size(), std::memory_order_release);
    for (block::record* const b : stale) submit(*b);
    m_coherence.adopted().none_stale();
    return true;
  }
  /// A read at home is through, or given up.
  void note_read() noexcept { m_under_way.fetch_sub(1, std::memory_order_release); }

  /// The block ends: no further read of it is begun. Before the task that ends it is submitted.
  void end(block::record& b) {
    const std::lock_guard guard(m_mutex);
    m_coherence.adopted().end(b);
  }
  enum class progress : std::uint8_t {
    home,     ///< the memory of the program has the last version
    copying,  ///< not before the points are reached that the acquisition names
    no_room,  ///< not before the memory has room that the acquisition names
    failed    ///< it cannot be had; the acquisition says why
  };
  /// By the task that ends the block, again and again until it is home or has failed. Stops at home when the run is
  /// cancelled.
  progress before_end(task::record& end, memory::space_number home, transfer::acquisition& got, const failures& of_run);

 private:
  transfer::coherence& m_coherence;
  std::mutex m_mutex;                         // ends of adopted blocks, and reads that bring them home
  std::atomic<std::uint64_t> m_under_way{0};  // reads at home
};

}  // namespace tessera::schedule
