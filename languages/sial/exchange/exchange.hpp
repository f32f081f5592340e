#pragma once
// What the workers of a program exchange.
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "languages/sial/exchange/array_generation.hpp"
#include "languages/sial/exchange/loop_scheduler.hpp"

namespace tessera::sial {

/// What passes between workers passes here, and nowhere else: blocks of shared arrays, barriers and values that pass at
/// them, iterations. Workers are numbered from 0; those from first_here() on are threads of this process. Where it does
/// not say otherwise, functions are called by any of these, and throw given_up when another worker has failed.
///
/// Two implementations: thread_exchange, of threads of one process, and socket_exchange, of processes with one worker
/// each. tests/unit/sial/exchange holds both to the same contract.
class exchange {
 public:
  exchange(unsigned workers, unsigned first_here, unsigned here, bool deterministic) noexcept
      : m_size(workers), m_first(first_here), m_here(here), m_deterministic(deterministic) {}
  virtual ~exchange() = default;
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  unsigned size() const noexcept { return m_size; }
  unsigned first_here() const noexcept { return m_first; }
  unsigned here() const noexcept { return m_here; }  ///< workers of this process
  bool deterministic() const noexcept { return m_deterministic; }

  /// Whether all workers are to stop; may be a moment old. Never throws.
  virtual bool failed() const noexcept = 0;
  /// Makes all others stop; the first failure is the one that is told. Any thread.
  virtual void fail(std::exception_ptr why) = 0;
  /// What is to be told, when all workers of this process have ended; null: nothing has failed.
  virtual std::exception_ptr failure() const = 0;
  /// A worker has run to the end of a program. It is called once for each, and last; where workers are processes it
  /// returns when all have, and the next program begins.
  virtual void leave() = 0;

  /// Waits for all workers. In each process one worker runs `last` before any of that process goes on. Throws run_error
  /// when others wait in another statement (`site`) or have ended.
  virtual void barrier(std::uint32_t site, const std::function<void()>& last) = 0;
  void barrier(std::uint32_t site) { barrier(site, {}); }
  // Barriers at which values pass; `worker` is the caller's number. All fail as barrier does.
  /// The sum of what all give, added in the order of their numbers: the same bits for all workers.
  virtual double sum(unsigned worker, std::uint32_t site, double value) = 0;
  /// What worker 0 gives.
  virtual double of_first(unsigned worker, std::uint32_t site, double value) = 0;
  /// All workers' `values` become those of worker `from`.
  virtual void broadcast(unsigned worker, std::uint32_t site, unsigned from, std::vector<double>& values) = 0;

  /// The schedule of the `sequence`-th pardo that a worker reaches; the same for all workers. Throws run_error when
  /// another worker reached another pardo there.
  virtual std::shared_ptr<loop_scheduler> schedule(std::uint64_t sequence, std::uint32_t pardo,
                                                   std::int64_t candidates) = 0;
  /// The pardo that was begun last; null before the first one. Any thread; never throws.
  virtual std::shared_ptr<const loop_scheduler> latest() const = 0;

  /// An empty array, or one that reads what `base` has where nothing was written. Called once in each
  /// process, in the same order in all. @param counts  blocks per dimension
  virtual std::shared_ptr<array_generation> make_array(const std::string& name, std::vector<std::int64_t> counts,
                                                       std::shared_ptr<array_generation> base) = 0;

 private:
  const unsigned m_size, m_first, m_here;
  const bool m_deterministic;
};

}  // namespace tessera::sial
