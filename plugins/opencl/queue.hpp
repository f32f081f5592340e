#pragma once
// A stream: an in-order queue of OpenCL, the commands that no event covers yet, and its callbacks.
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "plugins/opencl/device_state.hpp"

namespace tessera::gpu::opencl {

/// A command under way, and what it is ("clEnqueueNDRangeKernel(scale)"); the text lives as long as the process.
struct command {
  cl_event event;
  const char* description;
};

/// A point in a queue. Counts as reached until it is recorded.
struct event {
  device_state* device = nullptr;
  cl_event marker = nullptr;
  std::vector<command> covered;  ///< the commands since the event before, kept to name the one that failed
  ~event() { clear(); }
  event() = default;
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  void clear();
};

/// Callbacks of one queue, called one after the other in their order. Drivers may report events in any order and late,
/// so the line is shared with them.
class callback_line : public std::enable_shared_from_this<callback_line> {
 public:
  /// Reserves the next place. `fire` with its number lets this one, and those before it, be called.
  std::uint64_t add(void (*function)(void*), void* argument);
  void fire(std::uint64_t number) noexcept;
  /// The driver did not take the last one.
  void drop_last();
  /// Returns once all were called.
  void wait();
  /// Those that were not called never are.
  void abandon();

 private:
  struct entry {
    void (*function)(void*);
    void* argument;
  };
  std::mutex m_mutex;
  std::condition_variable m_empty;
  std::deque<entry> m_entries;
  std::uint64_t m_first = 0, m_fired = 0;  // the number of the front; all below m_fired may be called
  bool m_calling = false;
};

/// One thread at a time, but for `finish`.
class queue {
 public:
  queue(device_state& device, cl_command_queue native) : m_device(device), m_native(native) {}
  ~queue();
  queue(const queue&) = delete;
  queue& operator=(const queue&) = delete;

  device_state& device() const noexcept { return m_device; }
  cl_command_queue native() const noexcept { return m_native; }

  /// Enqueues a command by enqueue(&event), which answers a code; fails on a device that has ended. `what`: see
  /// command.
  template <class Enqueue>
  error_t enqueue(const char* what, Enqueue&& enqueue_command) {
    const std::shared_lock lock(m_device.work);
    if (m_device.ended) return {CL_DEVICE_NOT_AVAILABLE, what};
    cl_event event = nullptr;
    const cl_int code = enqueue_command(&event);
    return code == CL_SUCCESS ? keep(event, what) : error_t(code, what);
  }
  error_t record(event& into);
  error_t wait(const event& point);
  error_t call_back(void (*function)(void*), void* argument);
  /// Waits for commands, then for callbacks.
  error_t finish();
  /// Callbacks that are left are never called.
  void abandon() { m_callbacks->abandon(); }

 private:
  /// Until an event covers it.
  error_t keep(cl_event event, const char* what);
  device_state& m_device;
  const cl_command_queue m_native;
  std::vector<command> m_commands;  // since the last recorded event
  const std::shared_ptr<callback_line> m_callbacks = std::make_shared<callback_line>();
};

}  // namespace tessera::gpu::opencl
