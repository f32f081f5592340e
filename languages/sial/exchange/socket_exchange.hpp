#pragma once
// Workers that are processes, over sockets.
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "languages/sial/exchange/exchange.hpp"
#include "languages/sial/exchange/messages.hpp"
#include "tessera/tessera.hpp"

namespace tessera::sial {

/// Each process has one worker, and all blocks are at one socket_hub, which may be in one of these processes. A worker
/// hears that another one has failed at the next thing that it asks.
class socket_exchange final : public exchange {
 public:
  /// @param socket  connected to the hub; it is closed at the end
  socket_exchange(runtime& of, int socket, unsigned worker, unsigned workers, bool deterministic);
  ~socket_exchange() override;

  bool failed() const noexcept override { return m_failed.load(std::memory_order_relaxed); }
  void fail(std::exception_ptr why) override;
  std::exception_ptr failure() const override;
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

  /// Sends, and waits for the answer. Throws given_up and run_error as it says.
  hub_message ask(const hub_message& what);
  /// Sends what has no answer. Nothing happens where the hub is gone.
  void tell(const hub_message& what) noexcept;
  /// Barriers so far.
  std::uint64_t section() const noexcept { return m_section; }
  /// Its place, null once it has ended: for arrays that live longer.
  std::shared_ptr<socket_exchange*> link() const noexcept { return m_link; }

 private:
  bool send(const hub_message& what);
  std::vector<double> collect(std::uint32_t site, std::vector<double> values);

  runtime& m_runtime;
  const int m_socket;
  const std::shared_ptr<socket_exchange*> m_link;
  std::mutex m_asking;         // from a question to its answer
  std::mutex m_sending;        // one message at a time
  mutable std::mutex m_mutex;  // of what follows
  std::exception_ptr m_failure;
  std::shared_ptr<const loop_scheduler> m_latest;
  std::atomic<bool> m_failed{false};
  std::uint64_t m_section = 1;
  std::int64_t m_arrays = 0;  // that were made; in all processes the same ones
};

}  // namespace tessera::sial
