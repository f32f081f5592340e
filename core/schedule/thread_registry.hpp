#pragma once
// Which context belongs to which thread.
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/lifetime.hpp"
#include "core/placement/place.hpp"
#include "core/schedule/thread_context.hpp"
#include "core/schedule/thread_table.hpp"
#include "core/trace/tracer.hpp"
#include "core/transfer/coherence.hpp"

namespace tessera::schedule {

/// Gives a thread its context when it first comes, and a context whose thread has ended to another one. Any thread.
class thread_registry {
 public:
  /// What it works with; all outlive it.
  struct setup {
    thread_table* threads = nullptr;
    const std::vector<std::unique_ptr<placement::place>>* places = nullptr;  ///< filled before the first thread comes
    transfer::coherence* coherence = nullptr;                                ///< threads are attached to its devices
    trace::tracer* tracer = nullptr;                                         ///< null: nothing is recorded
    std::function<void(thread_context&)> thread_ends;  ///< by one that has a context, as its last call, while alive
    std::function<void()> thread_ended;                ///< the context is free
  };
  explicit thread_registry(setup with);
  thread_registry(const thread_registry&) = delete;
  thread_registry& operator=(const thread_registry&) = delete;

  /// The calling thread's. Throws usage in a child that was forked while the registry was there.
  thread_context& current() {
    const cached& known = t_known;  // one look-up of the thread's memory
    if (known.serial == m_serial) return *known.thread;
    return register_thread(nullptr);
  }
  /// The calling thread's, which may be new. `driven`: it drives this device; null: it submits, or works on the host.
  thread_context& register_thread(const placement::place* driven);
  /// A context of a driver that has no thread, in a run in virtual time.
  thread_context& make_driver(const placement::place& driven);
  /// The context of a worker that is yet to be started, and which then calls take.
  thread_context& make_worker(std::uint32_t worker, std::uint32_t place, location::node_id location);
  void take(thread_context& thread);  ///< the calling thread has it, also after it has used another registry
  void play(
      thread_context& as) const noexcept {  ///< the calling thread takes that context's part, until it plays another
    t_known = {m_serial, &as};
  }

  /// Ends with close; for what may outlive the scheduler.
  const std::shared_ptr<lifetime>& alive() const noexcept { return m_alive.shared(); }
  void close() noexcept { m_alive.end(); }
  /// Throws usage in a child that was forked while the registry was there: the threads are in the parent.
  void require_this_process() const {
    if (m_alive.shared()->left_behind()) refuse_this_process();
  }

 private:
  [[noreturn]] void refuse_this_process() const;
  struct thread_registrations;
  thread_context& make(const placement::place* driven);  // with the table's mutex held, not yet the calling thread's
  void attach_this_thread() const;                       // to all devices, as plugins ask

  struct cached {
    std::uint64_t serial = 0;
    thread_context* thread = nullptr;
  };
  static constinit thread_local cached t_known;

  const setup m_setup;
  const std::uint64_t m_serial;  // tells the registries of one process apart
  const int m_process;           // its number, as the system has it
  living m_alive;
};

}  // namespace tessera::schedule
