#pragma once
// Ctrl-C ends a run cleanly.
#include <functional>
#include <memory>

namespace tessera::apps {

/// While it lives, the first SIGINT or SIGTERM calls `stop` on an ordinary thread (not in the signal handler); the
/// second ends the process at once. One per process at a time.
class interrupt_watch {
 public:
  explicit interrupt_watch(std::function<void()> stop);
  ~interrupt_watch();
  interrupt_watch(const interrupt_watch&) = delete;
  interrupt_watch& operator=(const interrupt_watch&) = delete;

 private:
  struct implementation;
  std::unique_ptr<implementation> m_implementation;
};

}  // namespace tessera::apps
