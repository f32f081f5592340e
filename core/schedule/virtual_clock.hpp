#pragma once
// Time that passes when nothing is left to do at the present moment: the clock of a simulated run.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/trace/clock.hpp"

namespace tessera::schedule {

/// Nanoseconds since the run began, and what is due later. Events at one time happen in the order in which they were
/// entered, so that two runs of one program are the same run. For one thread.
class virtual_clock {
 public:
  using action = void (*)(void* object, std::uint64_t value);
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  std::uint64_t now() const noexcept { return m_now; }
  /// For those who note times without knowing that they are not real.
  const std::uint64_t* source() const noexcept { return &m_now; }
  /// When the next event is due; `never` when there is none.
  std::uint64_t next() const noexcept { return m_events.empty() ? never : m_events.front().time; }

  /// run(object, value) is called when the clock shows `time`; a time that has passed is now.
  void at(std::uint64_t time, action run, void* object, std::uint64_t value = 0) {
    const meter counted(*this);
    m_events.push_back({std::max(time, m_now), ++m_entered, run, object, value});
    std::ranges::push_heap(m_events, later);
  }
  /// Goes to the next event and runs all that are due then, if that is not after `limit`. False: nothing is due until
  /// then.
  bool advance(std::uint64_t limit = never - 1) {
    if (next() > limit) return false;
    m_now = next();
    while (next() == m_now) {
      const event due = take();
      ++m_happened;
      due.run(due.object, due.value);
    }
    return true;
  }
  /// Goes on to a time at which nothing happens.
  void pass_to(std::uint64_t time) noexcept { m_now = std::max(m_now, std::min(time, next())); }

  /// Work that is done inside a call, on the thread that calls: it takes `ns` of that thread.
  void charge(std::uint64_t ns) noexcept { m_charge += ns; }
  /// What was charged since the last call.
  std::uint64_t take_charge() noexcept { return std::exchange(m_charge, 0); }

  /// While it lives, real time counts as that of the model, not of the runtime that is being simulated. The outermost
  /// counts.
  class meter {
   public:
    explicit meter(virtual_clock& of) noexcept : m_of(of), m_began(of.m_depth++ == 0 ? of.m_ticks.now() : 0) {}
    ~meter() {
      if (--m_of.m_depth != 0) return;
      m_of.m_model_ticks += m_of.m_ticks.now() - m_began;
      ++m_of.m_metered;
    }
    meter(const meter&) = delete;
    meter& operator=(const meter&) = delete;

   private:
    virtual_clock& m_of;
    std::uint64_t m_began;
  };
  std::uint64_t tick() const noexcept { return m_ticks.now(); }         ///< in the unit of model_ticks
  std::uint64_t model_ticks() const noexcept { return m_model_ticks; }  ///< real time spent in meters
  std::uint64_t metered() const noexcept { return m_metered; }          ///< how many meters there were
  std::uint64_t events() const noexcept { return m_happened; }          ///< that have happened

 private:
  struct event {
    std::uint64_t time, order;
    action run;
    void* object;
    std::uint64_t value;
  };
  static bool later(const event& a, const event& b) noexcept {
    return a.time != b.time ? a.time > b.time : a.order > b.order;
  }
  event take() {
    const meter counted(*this);
    std::ranges::pop_heap(m_events, later);
    const event first = m_events.back();
    m_events.pop_back();
    return first;
  }

  std::uint64_t m_now = 0, m_entered = 0, m_happened = 0, m_charge = 0;
  std::uint64_t m_model_ticks = 0, m_metered = 0, m_depth = 0;
  trace::tick_clock m_ticks;
  std::vector<event> m_events;  // heap, the next one on top
};

/// What a scheduler is told that runs in virtual time: no threads are started, one thread plays all of them, and
/// nothing is computed. Operations are handed to the devices' tables as ever; what they enqueue takes time on `clock`.
/// Functions of the program are not called.
struct simulation {
  virtual_clock clock;
  // What the runtime itself costs on the machine that is imagined, in nanoseconds.
  std::uint64_t submit_ns = 0;       ///< of the submitting thread, per task
  std::uint64_t host_task_ns = 0;    ///< of a worker, per task, beside the task's own time
  std::uint64_t device_task_ns = 0;  ///< of a device's thread, per task that it enqueues
};

}  // namespace tessera::schedule
