#pragma once
// The one thread of a rank that makes all calls on its endpoint.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "cluster/transport/operation.hpp"

namespace tessera::cluster {

/// Opens a rank on a thread of its own and serves it: starts what others submit, completes it, hands messages over, and
/// sleeps while there is nothing to do. Workers submit operations without a lock and wait for them; where the transport
/// allows it (TSR_THREAD_ONE_AT_A_TIME) a worker that waits makes the calls itself meanwhile, instead of sleeping until
/// another thread has run. What `receive` throws, and the end of the job, end the service: what was started still ends,
/// and every later wait throws it. Destroyed once nobody submits or waits any more; what is under way then is given up.
class rank_thread {
 public:
  /// `open` is called on the rank's thread, since some transports want one thread from open to shutdown; several ranks
  /// of a process share what it returns. `receive` is called with each message, on that thread or one that stands in
  /// for it. Throws what opening threw.
  rank_thread(std::function<std::shared_ptr<transport>()> open, std::int32_t rank,
              std::function<void(const message_view&)> receive);
  ~rank_thread();
  rank_thread(const rank_thread&) = delete;
  rank_thread& operator=(const rank_thread&) = delete;

  std::int32_t rank() const noexcept { return m_description.rank; }
  std::int32_t size() const noexcept { return m_description.size; }
  const tsr_endpoint_desc& description() const noexcept { return m_description; }

  /// Any thread; does not wait. Operations of one thread are started in their order.
  void submit(operation& one);
  /// Until it is finished; throws what it ended with. Any thread but the one that hands messages over.
  void wait(operation& one);
  /// Both. `function`: (endpoint&, request&) -> bool, false where there is no room now.
  template <class Function>
  void run(Function&& function) {
    call_operation<std::decay_t<Function>> one(std::forward<Function>(function));
    submit(one);
    wait(one);
  }

  /// How often a worker has made the calls while it waited.
  std::uint64_t times_helped() const noexcept { return m_times_helped.load(std::memory_order_relaxed); }

 private:
  bool step();
  void sleep(std::chrono::nanoseconds longest, const operation* until);
  void start_waiting();
  void finish(operation& one);
  void complete();
  bool help(operation& one);

  // Used by the thread that has the turn: the rank's, or a worker that helps.
  std::mutex m_turn;
  std::condition_variable m_turn_is_free;
  std::shared_ptr<transport> m_transport;
  std::unique_ptr<endpoint> m_endpoint;
  std::deque<operation*> m_waiting;  ///< for room
  std::vector<operation*> m_under_way;
  std::exception_ptr m_over;  ///< why nothing is started any more

  operation_queue m_queue;
  std::atomic<bool> m_sleeps{false};  ///< the thread that has the turn, in endpoint::wait
  std::atomic<bool> m_helped{false};  ///< a worker has the turn, or wants it
  std::atomic<bool> m_ends{false};
  std::atomic<bool> m_may_close{false};  ///< nobody is inside of `wake` any more
  std::atomic<std::uint64_t> m_times_helped{0};
  tsr_endpoint_desc m_description{};

  std::mutex m_sleep;  ///< of workers that sleep until something is finished
  std::condition_variable m_finished;
  std::atomic<int> m_sleepers{0};

  std::thread m_thread;  ///< last: it uses all above
};

}  // namespace tessera::cluster
