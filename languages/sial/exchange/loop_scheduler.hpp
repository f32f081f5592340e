#pragma once
// How the iterations of a pardo are shared out among workers.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

namespace tessera::sial {

/// One execution of a pardo: its candidates (all combinations of its indices), handed out in shrinking chunks. Each
/// worker begins with a part of its own, the same one in each pardo of as many candidates: blocks that it has written
/// are in its caches. Who is done takes from the others.
class loop_scheduler {
 public:
  /// `fixed`: worker w gets every n-th chunk, the same ones in every run.
  loop_scheduler(std::uint32_t pardo, std::int64_t candidates, unsigned workers, bool fixed);
  virtual ~loop_scheduler() = default;
  /// The next candidates of a worker: [begin, end), or none (begin == end).
  virtual std::pair<std::int64_t, std::int64_t> take(unsigned worker);
  std::uint32_t pardo() const noexcept { return m_pardo; }
  /// A worker is done with one of its candidates.
  void finished(unsigned worker) noexcept {
    std::atomic<std::int64_t>& mine = m_finished[worker].candidates;
    mine.store(mine.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // no other thread writes it
  }
  std::int64_t candidates() const noexcept { return m_candidates; }
  std::int64_t finished() const noexcept;  ///< by all workers; may be a moment old
  std::chrono::steady_clock::time_point began() const noexcept { return m_began; }

 private:
  std::uint32_t m_pardo;
  std::int64_t m_candidates;
  unsigned m_workers;
  std::int64_t m_fixed = 0;  // candidates per chunk; 0: shrinking ones
  /// Consecutive candidates; what is behind `next` is not handed out yet.
  struct alignas(64) part {
    std::atomic<std::int64_t> next{0};
    std::int64_t end = 0;
    std::int64_t left() const noexcept { return end - next.load(std::memory_order_relaxed); }
  };
  std::vector<part> m_parts;            // by worker
  std::atomic<std::int64_t> m_left{0};  // in all parts
  struct alignas(64) counted {
    std::atomic<std::int64_t> candidates{0};
  };
  std::vector<counted> m_finished;  // by worker
  std::chrono::steady_clock::time_point m_began = std::chrono::steady_clock::now();
  std::vector<std::int64_t> m_chunk;  // by worker, of fixed ones: its next chunk
};

}  // namespace tessera::sial
