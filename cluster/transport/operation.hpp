#pragma once
// What a worker asks of its rank's thread, and the queue in between.
#include <atomic>
#include <exception>
#include <utility>

#include "cluster/transport/transport.hpp"

namespace tessera::cluster {

/// One call on an endpoint, made by the rank's thread for another thread. It belongs to the thread that made it and
/// stays where it is from rank_thread::submit until it is finished. May be submitted again afterwards.
class operation {
 public:
  operation() = default;
  virtual ~operation() = default;
  operation(const operation&) = delete;
  operation& operator=(const operation&) = delete;

  /// Whether it has ended; what it was for is there then. Any thread.
  bool finished() const noexcept { return m_finished.load(std::memory_order_acquire); }

 protected:
  /// Starts it, on the rank's thread or one that stands in for it: false where there is no room now. What it throws
  /// ends it, and is thrown by rank_thread::wait.
  virtual bool begin(endpoint& on, request& done) = 0;

 private:
  friend class operation_queue;
  friend class rank_thread;
  operation* m_next = nullptr;
  request m_request;
  std::exception_ptr m_thrown;
  std::atomic<bool> m_finished{false};
};

/// An operation that is a function (endpoint&, request&) -> bool, such as a lambda around endpoint::get.
template <class Function>
class call_operation final : public operation {
 public:
  explicit call_operation(Function function) : m_function(std::move(function)) {}

 private:
  bool begin(endpoint& on, request& done) override { return m_function(on, done); }
  Function m_function;
};

/// Any number of threads put in, without a lock; one at a time takes out. Those of one thread come out in its order.
class operation_queue {
 public:
  void push(operation& one) noexcept {
    operation* head = m_head.load(std::memory_order_relaxed);
    do {
      one.m_next = head;
      // seq_cst: the rank's thread says that it sleeps, and then looks here (rank_thread.cpp)
    } while (!m_head.compare_exchange_weak(head, &one, std::memory_order_seq_cst, std::memory_order_relaxed));
  }
  bool empty() const noexcept { return m_head.load(std::memory_order_seq_cst) == nullptr; }

  /// Calls function(operation&) for all that are there, and takes them out.
  template <class Function>
  void take_all(Function&& function) {
    operation* last = m_head.exchange(nullptr, std::memory_order_acquire);
    operation* first = nullptr;
    while (last != nullptr) {  // the newest one is in front
      operation* const before = last->m_next;
      last->m_next = first;
      first = std::exchange(last, before);
    }
    while (first != nullptr) {
      operation& one = *std::exchange(first, first->m_next);
      one.m_next = nullptr;
      function(one);
    }
  }

 private:
  std::atomic<operation*> m_head{nullptr};
};

}  // namespace tessera::cluster
