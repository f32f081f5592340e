#pragma once
// What stands behind the streams of a device: events that are used again, points of a timeline backed by them,
// callbacks that are called for certain, and the end of a device that broke.
#include <tessera/plugin.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "plugins/gpu_common/api/runtime.hpp"
#include "plugins/gpu_common/libraries/dense.hpp"
#include "plugins/gpu_common/libraries/sparse.hpp"
#include "plugins/kit/abi/report.hpp"
#include "plugins/kit/abi/stream.hpp"

namespace tessera::gpu {

/// Events of one device that no point uses. Thread-safe.
class event_pool {
 public:
  /// A free event, or a new one. The device is current.
  error_t take(event_t* out);
  void give(event_t event);
  /// Destroys all. Nobody else uses the pool any more.
  void clear();

 private:
  std::mutex m_mutex;
  std::vector<event_t> m_free;
};

/// One stream of the vendor's. `mutex` guards what follows it: whoever asks for progress moves the timeline.
struct stream_state {
  explicit stream_state(stream_t stream) : native(stream) {}
  const stream_t native;
  std::mutex mutex;
  struct point {
    std::uint64_t value;
    event_t event;
  };
  std::deque<point> pending;  ///< recorded and not seen reached, in order
  struct failure {
    std::uint64_t value;  ///< of the first signal after the failed work
    tsr_status status;
    std::string message;
  };
  std::deque<failure> failures;  ///< of host tasks, in order, not passed to the timeline yet
  dense_handles dense;           ///< for the thread that enqueues
  sparse_handles sparse;         ///< likewise
  bool recording = false;        ///< a graph; likewise
};

/// Callbacks that were enqueued and not called. A broken device calls no host functions; the ABI promises that
/// callbacks are called, so what is left is called when the device ends. Thread-safe.
class callback_list {
 public:
  struct entry {
    void (*function)(void*);
    void* argument;
    callback_list* owner;
    std::list<entry>::iterator self;
    bool called = false;
  };
  /// The entry to pass to `call` from the stream. Valid until it was called or clear.
  entry* add(void (*function)(void*), void* argument);
  /// The stream did not take it.
  void drop(entry* one);
  /// The vendor's host function: calls it unless it was called.
  static void call(void* one);
  /// Calls all that were not called. Their entries stay: a stream may still come to them.
  void call_rest();

 private:
  std::mutex m_mutex;
  std::list<entry> m_entries;
};

/// Whether a device is broken. It ends in two steps: once an error shows that it broke, a thread waits until nothing of
/// it runs any more and calls the callbacks that are left; only then it is lost. Until then polls find it unchanged.
class loss {
 public:
  ~loss() { wait(); }
  bool is_lost() const noexcept { return m_lost.load(std::memory_order_acquire); }
  /// The device broke: starts its end unless that has begun. Returns at once.
  void begin(tsr_device* device, error_t error);
  /// Waits for the end that has begun.
  void wait();
  bool has_begun() const noexcept { return m_begun.load(std::memory_order_acquire); }
  const char* reason() const noexcept { return m_reason.c_str(); }

 private:
  std::atomic<bool> m_begun{false}, m_lost{false};
  std::string m_reason;  // written before m_begun
  std::mutex m_mutex;
  std::thread m_thread;
};

/// Moves the timeline over the points that are reached. With the state's mutex held and the device current.
/// The error that broke the device, or success.
error_t advance(event_pool& events, stream_state& state, kit::timeline& line);

}  // namespace tessera::gpu
