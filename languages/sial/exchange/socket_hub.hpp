#pragma once
// What the processes of a run share, in one place.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "languages/sial/exchange/loop_scheduler.hpp"
#include "languages/sial/exchange/messages.hpp"

namespace tessera::sial {

/// Answers the socket_exchange of each worker, by a thread of its own. It has all blocks of shared arrays. A process
/// that ends in the middle of a program is a failure of that and of all that follow.
class socket_hub {
 public:
  /// @param sockets  connected ones, by worker; they are closed at its end
  socket_hub(std::vector<int> sockets, bool deterministic);
  /// Waits until all workers are gone.
  ~socket_hub();
  socket_hub(const socket_hub&) = delete;
  socket_hub& operator=(const socket_hub&) = delete;

 private:
  struct stored_block {
    std::vector<double> values;
    std::vector<std::int64_t> extents;
  };
  struct stored_array {
    std::int64_t base = hub_message::no_array, after = hub_message::no_array;
    std::map<std::int64_t, stored_block> blocks;
    unsigned users = 0;  // processes that have not released it, and arrays whose base it is
  };
  struct scheduled_loop {
    std::unique_ptr<loop_scheduler> schedule;
    unsigned ended = 0;  // workers that have taken all there was
  };

  void serve();
  bool serve(unsigned worker);  // one message; false: the worker is gone
  bool lose(unsigned worker, const std::string& why);
  void handle(unsigned worker, const hub_message& asked);
  void reply(unsigned worker, const hub_message& what);
  void refuse(unsigned worker, const std::string& why);
  void fail(const std::string& why);
  std::size_t waiting() const;  // workers at a barrier
  const stored_block* find(std::int64_t array, std::int64_t ordinal) const;
  void store(const hub_message& asked);
  bool begin_array(std::int64_t array);
  void release(std::int64_t array);
  void collect(unsigned worker, const hub_message& asked);
  void chunk(unsigned worker, const hub_message& asked);
  void leave(unsigned worker);

  const std::vector<int> m_sockets;
  const bool m_deterministic;
  std::map<std::int64_t, stored_array> m_arrays;
  std::int64_t m_next_array = std::int64_t{1} << 40;  // those that processes declare count from 0
  std::map<std::int64_t, scheduled_loop> m_loops;
  std::vector<std::unique_ptr<hub_message>> m_collecting;  // by worker; null: it computes
  std::vector<bool> m_left, m_gone;                        // by worker: has left this program; its socket is closed
  std::string m_failure;
  std::thread m_thread;
};

}  // namespace tessera::sial
