#pragma once
// The workers of a job as a whole: barriers, sums over them, the schedule of iterations.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "languages/sial/interpreter/failure.hpp"
#include "languages/sial/interpreter/loop_scheduler.hpp"
#include "tessera/runtime.hpp"

namespace tessera::sial {

/// Workers are numbered from 0. All functions from any worker. What passes between workers passes here, in
/// shared_array.hpp, and nowhere else.
class worker_group {
 public:
  /// `of`: the runtime that the workers use; it is told that those who wait for others make no room in its memories.
  worker_group(runtime& of, unsigned workers, bool deterministic);

  unsigned size() const noexcept { return m_size; }
  bool deterministic() const noexcept { return m_deterministic; }
  /// Whether all workers are to stop.
  bool failed() const noexcept { return m_failed.load(std::memory_order_relaxed); }
  /// Makes all others stop; the first failure is the one that is told.
  void fail(std::exception_ptr why);
  std::exception_ptr failure() const { return m_failure; }  ///< when all have ended

  /// Waits for all workers. The last one runs `last` before any worker goes on. Throws given_up when another worker
  /// failed, run_error when others wait in another statement (`site`) or have ended.
  template <class Function>
  void barrier(std::uint32_t site, Function&& last) {
    if (arrive(site)) {
      std::forward<Function>(last)();
      depart();
    }
  }
  void barrier(std::uint32_t site) {
    barrier(site, [] {});
  }
  /// A worker has run to the end.
  void leave();

  /// Barriers at which values pass between workers; `worker` is the caller's number. All fail as barrier does.
  /// The sum of what all give, added in the order of their numbers: the same bits for all workers.
  double sum(unsigned worker, std::uint32_t site, double value);
  /// What worker 0 gives.
  double of_first(unsigned worker, std::uint32_t site, double value);
  /// All workers' `values` become those of worker `from`.
  void broadcast(unsigned worker, std::uint32_t site, unsigned from, std::vector<double>& values);

  /// The schedule of the `sequence`-th pardo that a worker reaches; the same for all workers. Throws run_error when
  /// another worker reached another pardo there.
  std::shared_ptr<loop_scheduler> schedule(std::uint64_t sequence, std::uint32_t pardo, std::int64_t candidates);
  /// The pardo that was begun last; null before the first one. From any thread.
  std::shared_ptr<const loop_scheduler> latest() const;

 private:
  bool arrive(std::uint32_t site);  ///< true: the last one
  void depart();
  void call_all();  ///< with the lock

  runtime& m_runtime;
  const unsigned m_size;
  const bool m_deterministic;
  std::atomic<bool> m_failed{false};
  std::exception_ptr m_failure;
  std::vector<double> m_values;  // by worker; between two barriers, as the next
  const std::vector<double>* m_broadcast = nullptr;

  std::mutex m_lock;
  std::condition_variable m_turn;
  std::vector<runtime::waiting_elsewhere*> m_asleep;
  unsigned m_waiting = 0, m_ended = 0;
  std::uint64_t m_round = 0;
  std::uint32_t m_site = 0;

  struct scheduled_loop {
    std::shared_ptr<loop_scheduler> schedule;
    unsigned workers = 0;  ///< that have taken it
  };
  mutable std::mutex m_loop_lock;
  std::shared_ptr<const loop_scheduler> m_latest;
  std::map<std::uint64_t, scheduled_loop> m_loops;
};

}  // namespace tessera::sial
