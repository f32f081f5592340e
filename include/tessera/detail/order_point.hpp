#pragma once
// What a program tells validation about its own synchronisation.
#include <memory>

namespace tessera {

/// One point of a program's own synchronisation: a barrier's phase, a lock, a queue's slot. Whoever comes to it calls
/// runtime::order_before, whoever goes on from it runtime::order_after. May be used again. Must outlive neither runtime
/// nor arrays; belongs to one runtime. Thread-safe.
///
/// Two barriers enclose an epoch: when every worker calls order_before at its barrier and order_after behind it,
/// conflicting accesses of two workers within one epoch are found, and accesses of different epochs are in order.
class order_point {
 public:
  order_point();
  order_point(const order_point&) = delete;
  order_point& operator=(const order_point&) = delete;
  ~order_point();

 private:
  friend class runtime;
  struct inside;
  std::unique_ptr<inside> m_inside;
};

}  // namespace tessera
