#pragma once
// Tasks that wait for memory while nothing is left that could free any.
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/memory/space.hpp"
#include "core/schedule/alarm.hpp"
#include "core/schedule/device/driver_table.hpp"
#include "core/schedule/parking.hpp"
#include "core/schedule/thread_table.hpp"
#include "core/transfer/coherence.hpp"

namespace tessera::schedule {

/// How long threads of the program may do nothing that the runtime sees before it stops counting on them. Thread-safe.
class patience {
 public:
  /// @param wake  called on a thread of its own when the time is over
  patience(std::chrono::nanoseconds time, std::function<void()> wake) : m_time(time), m_wake(std::move(wake)) {}

  /// Whether it is over: the time has passed since the first call that found this progress. Other progress starts the
  /// time again.
  bool over(const std::function<std::uint64_t()>& progress);

 private:
  const std::chrono::nanoseconds m_time;
  const std::function<void()> m_wake;
  std::mutex m_mutex;
  std::uint64_t m_progress = 0;
  std::chrono::steady_clock::time_point m_end;
  std::unique_ptr<alarm> m_alarm;  // made when it is first needed; last: it ends before what it uses
};

/// Finds that no event will ever wake a task that waits for memory, and lets one go on or names one to be given up.
class memory_deadlock {
 public:
  /// What it works with; all outlive it.
  struct setup {
    transfer::coherence* coherence = nullptr;
    const thread_table* threads = nullptr;
    const driver_table* drivers = nullptr;
    const parking* set_aside = nullptr;  ///< tasks that wait for copies
    bool counts_on_program = false;      ///< threads of the program may free memory: a run in real time
    std::chrono::nanoseconds patience{0};
    /// Has private copies in that memory shared, or makes them fewer; false: neither. None: there are none.
    std::function<bool(memory::space_number)> join_copies = nullptr;
    std::function<void()> wake;  ///< called when patience is over: resolve has to be called again
  };
  explicit memory_deadlock(setup with);

  struct finding {
    bool released = false;                      ///< something goes on
    memory::memory_waiter* hopeless = nullptr;  ///< set: this one has been taken from its memory, to be given up
    std::string why;                            ///< that is hopeless
  };
  /// By the last worker that is awake. `single_space`: there is one memory, in which nothing can be evicted.
  finding resolve(bool single_space);
  /// Who could make something go on where nothing moves and no task waits for memory.
  enum class rest : std::uint8_t {
    no,       ///< something moves, or a thread of the program holds a view and does not wait
    program,  ///< a thread of the program that holds no views and does not wait
    all       ///< nobody: all threads of the program wait
  };
  rest at_rest() const;

 private:
  enum class outlook : std::uint8_t {
    none,
    program,
    views
  };
  outlook program_outlook() const noexcept;  // what threads of the program that do not wait may still do
  bool something_moves() const;
  static constexpr std::uint32_t max_doublings = 4;
  bool evict_some(const memory::space& space, std::uint32_t doublings) const;
  memory::space* awaited(std::size_t space) const noexcept;  // null: no task waits for memory in it

  const setup m_setup;
  patience m_patience;
};

}  // namespace tessera::schedule
