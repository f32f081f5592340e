#pragma once
// The workers of a job as a whole: barriers, sums over them, the dealing of iterations.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "apps/sial/interpreter/failure.hpp"
#include "tessera/runtime.hpp"

namespace tessera::sial {

/// One execution of a pardo: its candidates (all combinations of its indices), dealt out in shrinking chunks.
class dealing {
 public:
  /// `fixed`: worker w gets every n-th chunk, the same ones in every run.
  dealing(std::uint32_t pardo, std::int64_t candidates, unsigned workers, bool fixed);
  /// The next candidates of a worker: [begin, end), or none (begin == end).
  std::pair<std::int64_t, std::int64_t> take(unsigned worker);
  std::uint32_t pardo() const noexcept { return m_pardo; }
  /// A worker is done with one of its candidates.
  void finished(unsigned worker) noexcept {
    std::atomic<std::int64_t>& mine = m_finished[worker].candidates;
    mine.store(mine.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // nobody else writes it
  }
  std::int64_t candidates() const noexcept { return m_candidates; }
  std::int64_t finished() const noexcept;  ///< by all workers; may be a moment old
  std::chrono::steady_clock::time_point began() const noexcept { return m_began; }

 private:
  std::uint32_t m_pardo;
  std::int64_t m_candidates;
  unsigned m_workers;
  std::int64_t m_fixed = 0;  // candidates per chunk; 0: shrinking ones
  std::atomic<std::int64_t> m_next{0};
  struct alignas(64) counted {
    std::atomic<std::int64_t> candidates{0};
  };
  std::vector<counted> m_finished;  // by worker
  std::chrono::steady_clock::time_point m_began = std::chrono::steady_clock::now();
  std::vector<std::int64_t> m_chunk;  // by worker, of fixed ones: its next chunk
};

/// Workers are numbered from 0. All functions from any worker. What passes between workers passes here, in
/// shared_array.hpp, and nowhere else.
class team {
 public:
  /// `of`: the runtime that the workers use; it is told that those who wait for others make no room in its memories.
  team(runtime& of, unsigned workers, bool deterministic);

  unsigned size() const noexcept { return m_size; }
  bool deterministic() const noexcept { return m_deterministic; }
  /// Whether everybody is to stop.
  bool failed() const noexcept { return m_failed.load(std::memory_order_relaxed); }
  /// Makes all others stop; the first failure is the one that is told.
  void fail(std::exception_ptr why);
  std::exception_ptr failure() const { return m_failure; }  ///< when all have ended

  /// Waits for all workers. The last one runs `last` before anybody goes on. Throws given_up when another worker
  /// failed, run_error when others wait in another statement (`site`) or have ended.
  template <class Function>
  void meet(std::uint32_t site, Function&& last) {
    if (arrive(site)) {
      std::forward<Function>(last)();
      depart();
    }
  }
  void meet(std::uint32_t site) {
    meet(site, [] {});
  }
  /// A worker has run to the end.
  void leave();

  /// Meetings at which values pass between workers; `worker` is the caller's number. All fail as meet does.
  /// The sum of what all give, added in the order of their numbers: the same bits for everybody.
  double sum(unsigned worker, std::uint32_t site, double value);
  /// What worker 0 gives.
  double of_first(unsigned worker, std::uint32_t site, double value);
  /// Everybody's `values` become those of worker `from`.
  void broadcast(unsigned worker, std::uint32_t site, unsigned from, std::vector<double>& values);

  /// The dealing of the `sequence`-th pardo that a worker reaches; the same for all workers. Throws run_error when
  /// another worker reached another pardo there.
  std::shared_ptr<dealing> deal(std::uint64_t sequence, std::uint32_t pardo, std::int64_t candidates);
  /// The pardo that was begun last; null before the first one. From any thread.
  std::shared_ptr<const dealing> latest() const;

 private:
  bool arrive(std::uint32_t site);  ///< true: the last one
  void depart();
  void call_all();  ///< with the lock

  runtime& m_runtime;
  const unsigned m_size;
  const bool m_deterministic;
  std::atomic<bool> m_failed{false};
  std::exception_ptr m_failure;
  std::vector<double> m_values;  // by worker; between two meetings, as the next
  const std::vector<double>* m_broadcast = nullptr;

  std::mutex m_lock;
  std::condition_variable m_turn;
  std::vector<runtime::waiting_elsewhere*> m_asleep;
  unsigned m_waiting = 0, m_ended = 0;
  std::uint64_t m_round = 0;
  std::uint32_t m_site = 0;

  struct dealt {
    std::shared_ptr<dealing> what;
    unsigned workers = 0;  ///< that have taken it
  };
  mutable std::mutex m_dealing_lock;
  std::shared_ptr<const dealing> m_latest;
  std::map<std::uint64_t, dealt> m_dealings;
};

}  // namespace tessera::sial
