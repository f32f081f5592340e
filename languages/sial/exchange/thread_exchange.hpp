#pragma once
// Workers that are threads of one process.
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "languages/sial/exchange/exchange.hpp"
#include "tessera/front_end.hpp"
#include "tessera/tessera.hpp"
#include "tessera/validation.hpp"

namespace tessera::sial {

/// Workers are threads of this process. Arrays are its memory.
class thread_exchange final : public exchange {
 public:
  /// `of`: the runtime that the workers use; it is told that those who wait for others make no room in its memories.
  thread_exchange(runtime& of, unsigned workers, bool deterministic);

  bool failed() const noexcept override { return m_failed.load(std::memory_order_relaxed); }
  void fail(std::exception_ptr why) override;
  std::exception_ptr failure() const override { return m_failure; }
  void leave() override;
  using exchange::barrier;
  void barrier(std::uint32_t site, const std::function<void()>& last) override;
  double sum(unsigned worker, std::uint32_t site, double value) override;
  double of_first(unsigned worker, std::uint32_t site, double value) override;
  void broadcast(unsigned worker, std::uint32_t site, unsigned from, std::vector<double>& values) override;
  std::shared_ptr<loop_scheduler> schedule(std::uint64_t sequence, std::uint32_t pardo,
                                           std::int64_t candidates) override;
  std::shared_ptr<const loop_scheduler> latest() const override;
  std::shared_ptr<array_generation> make_array(const std::string& name, std::vector<std::int64_t> counts,
                                               std::shared_ptr<array_generation> base) override;

 private:
  std::uint64_t round();            ///< of barriers; the same for all that come to one
  bool arrive(std::uint32_t site);  ///< true: the last one
  void depart();
  void call_all();  ///< with the lock

  runtime& m_runtime;
  std::atomic<bool> m_failed{false};
  std::exception_ptr m_failure;
  std::vector<double> m_values;                            // by worker; between two barriers, as the next
  std::shared_ptr<const std::vector<double>> m_broadcast;  // under m_lock

  std::mutex m_lock;
  std::condition_variable m_turn;
  std::vector<runtime::waiting_elsewhere*> m_asleep;
  unsigned m_waiting = 0, m_ended = 0;
  std::uint64_t m_round = 0;
  std::array<order_point, 2> m_order;  // what validation is told: of barriers in turn
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
