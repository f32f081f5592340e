#pragma once
// What one worker does together with all others.
#include <chrono>
#include <utility>
#include <vector>

#include "languages/sial/interpreter/worker_state.hpp"

namespace tessera::sial {

/// Barriers and values that pass at them, as the exchange has them, for one worker: at the statement that it is in, and
/// with the time that it waits counted. One thread.
class collectives {
 public:
  explicit collectives(worker_state& state) : m_state(state), m_group(state.run.workers) {}

  /// The last worker runs `last` before any worker goes on.
  template <class Function>
  void barrier(Function&& last) {
    const timer waiting(m_state);
    m_group.barrier(m_state.site, std::forward<Function>(last));
  }
  void barrier() {
    barrier([] {});
  }
  double sum(double value) {
    const timer waiting(m_state);
    return m_group.sum(m_state.number, m_state.site, value);
  }
  double of_first(double value) {
    const timer waiting(m_state);
    return m_group.of_first(m_state.number, m_state.site, value);
  }
  /// Everybody's `values` become those of worker `from`. Throws run_error when there is no such worker.
  void broadcast(std::int64_t from, std::vector<double>& values);
  /// A scalar that is to have one value becomes that of worker 0. Throws run_error on workers where it differs by more
  /// than the language allows.
  void assert_same(std::uint32_t scalar);

 private:
  /// While it lives, the worker waits.
  class timer {
   public:
    explicit timer(worker_state& state) : m_state(state) {
      if (state.steps.records()) m_ticks = state.steps.now();
    }
    ~timer() {
      m_state.counters.barrier_seconds +=
          std::chrono::duration<double>(std::chrono::steady_clock::now() - m_began).count();
      if (m_state.steps.records()) m_state.steps.waited(m_ticks);
    }
    timer(const timer&) = delete;
    timer& operator=(const timer&) = delete;

   private:
    worker_state& m_state;
    std::uint64_t m_ticks = 0;  // of the recording
    const std::chrono::steady_clock::time_point m_began = std::chrono::steady_clock::now();
  };

  worker_state& m_state;
  exchange& m_group;
};

}  // namespace tessera::sial
