#pragma once
// An asynchronous stream in host threads: an in-order queue and the thread that works it off.
#include <tessera/plugin.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "plugins/kit/abi/loss.hpp"
#include "plugins/kit/abi/timeline.hpp"

namespace tessera::kit {

/// What a piece of work sees of the stream it runs on.
struct execution {
  std::uint64_t time_ns = 0;  ///< the stream's modelled time; work on a simulated device moves it forward
  std::string message;        ///< set it when the work fails
};

/// A piece of work. Its status, when not TSR_OK, becomes the stream's failure.
using work = std::function<tsr_status(execution&)>;

/// One in-order queue with its thread. The enqueueing functions are for one thread at a time and return at once. The
/// destructor works off what is queued, then joins. Work that answers DEVICE_LOST loses the device, where it has a
/// `loss`; then work is skipped, and signals wait until nothing runs on any of its streams.
class work_queue {
 public:
  /// `name` is cut to the 15 bytes that the operating system keeps. `cpu_mask` as in tsr_host, may be null.
  work_queue(std::shared_ptr<timeline> line, std::string name, const tsr_host* host, device_loss* loss);
  ~work_queue();
  work_queue(const work_queue&) = delete;
  work_queue& operator=(const work_queue&) = delete;

  void run(work function);
  std::uint64_t signal();
  void wait(std::shared_ptr<timeline> other, std::uint64_t value);
  void callback(void (*function)(void*), void* argument);

 private:
  struct item {
    enum class kind : std::uint8_t {
      run,
      signal,
      wait,
      callback
    } type;
    work function = {};                         // run
    std::uint64_t value = 0;                    // signal, wait
    std::shared_ptr<timeline> other = nullptr;  // wait
    void (*called)(void*) = nullptr;            // callback
    void* argument = nullptr;
  };
  void push(item&& entry);
  void loop();
  void perform(item& entry, execution& state);

  const std::shared_ptr<timeline> m_line;
  const std::string m_name;
  const tsr_host* const m_host;
  device_loss* const m_loss;
  std::mutex m_mutex;
  std::condition_variable m_pushed;
  std::vector<item> m_items;  // under m_mutex
  bool m_sleeping = false;    // under m_mutex
  bool m_ending = false;      // under m_mutex
  std::thread m_thread;       // last: starts when everything above exists
};

}  // namespace tessera::kit
