#include "core/schedule/parking.hpp"

#include <boost/container/small_vector.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "core/schedule/device/driver.hpp"
#include "core/schedule/trace_points.hpp"

namespace tessera::schedule {

/// Waits for several tickets; frees itself when the last one is reached.
struct parking::parked {
  struct one : transfer::completion {
    parked* all = nullptr;
  };
  parking* owner = nullptr;
  task::record* waiting = nullptr;
  std::atomic<std::size_t> left{0};
  std::vector<one> tickets;
};

/// Waits for memory in a space; frees itself when it is woken.
struct parking::memory_parked : memory::memory_waiter {
  parking* owner = nullptr;
  device_driver* driver = nullptr;  ///< of the device where it is to run; null: it is for the host
  task::record* waiting = nullptr;
};

parking::parking(setup with) : m_setup(std::move(with)) {}

void parking::wait_for_points(task::record& t, std::span<const block::ticket> points, trace::buffer* events) {
  auto fresh = std::make_unique<parked>();
  fresh->owner = this;
  fresh->waiting = &t;
  fresh->left.store(points.size());
  fresh->tickets.resize(points.size());
  m_count.fetch_add(1);
  if (events != nullptr) trace_park(*events, t, trace::parked_for_data);
  parked* const p = fresh.release();  // frees itself; after the last on_completion below it may be gone
  const std::size_t count = points.size();
  const boost::container::small_vector<block::ticket, 8> tickets(points.begin(), points.end());
  for (std::size_t k = 0; k < count; ++k) {
    parked::one& awaited = p->tickets[k];
    awaited.all = p;
    awaited.ticket = tickets[k];
    // A failed ticket has poisoned what it should have made; the thread that runs the task looks at that.
    awaited.fire = [](transfer::completion* self, tsr_status) {
      parked* const all = static_cast<parked::one*>(self)->all;
      if (all->left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
      const std::unique_ptr<parked> done(all);
      parking& owner = *done->owner;
      owner.m_setup.resume(*done->waiting);
      owner.m_count.fetch_sub(1);
      owner.m_setup.copies_came();
    };
    m_setup.coherence->streams().at(tickets[k].stream).on_completion(awaited);
  }
}

void parking::wait_for_memory(task::record& t, device_driver* driver, const transfer::acquisition& lacking,
                              trace::buffer* events) {
  auto fresh = std::make_unique<memory_parked>();
  fresh->driver = driver;
  fresh->age = t.sequence;
  fresh->owner = this;
  fresh->waiting = &t;
  fresh->wake = [](memory::memory_waiter* self) {
    const std::unique_ptr<memory_parked> done(static_cast<memory_parked*>(self));
    if (done->driver != nullptr) done->driver->end_wait(*done->waiting);
    done->owner->m_setup.resume(*done->waiting);
  };
  if (events != nullptr) trace_park(*events, t, trace::parked_for_memory, lacking.lacking);
  memory_parked* const p = fresh.release();
  if (p->driver != nullptr) p->driver->begin_wait(t);
  if (!m_setup.coherence->space_at(lacking.lacking).waiters().wait(*p, lacking.memory_events)) p->wake(p);
}

task::record* parking::give_up(memory::memory_waiter& waiter) {
  if (waiter.refuse != nullptr) {
    waiter.refuse(&waiter);
    return nullptr;
  }
  const std::unique_ptr<memory_parked> done(static_cast<memory_parked*>(&waiter));
  if (done->driver != nullptr) done->driver->end_wait(*done->waiting);
  return done->waiting;
}

}  // namespace tessera::schedule
