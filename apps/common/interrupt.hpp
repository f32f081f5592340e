#pragma once
// Ctrl-C ends a run cleanly, or after a time of grace.
#include <chrono>
#include <functional>
#include <memory>

namespace tessera::apps {

/// While it lives, the first SIGINT or SIGTERM is answered at once on standard error, and `stop` is called on an
/// ordinary thread (not in the signal handler). A second one ends the process at once with exit code 130, and so does
/// the end of the time of grace: a stream or a library that hangs does not keep the process. One per process at a time.
class interrupt_watch {
 public:
  static constexpr std::chrono::seconds usual_grace{10};  ///< documented in docs/commands.md

  /// @param hang_up  called on the watching thread for SIGHUP; where it says no, that is like SIGINT. Empty: SIGHUP is
  /// not watched
  explicit interrupt_watch(std::function<void()> stop, std::chrono::milliseconds grace = usual_grace,
                           std::function<bool()> hang_up = {});
  ~interrupt_watch();  ///< returns when `stop` has returned
  interrupt_watch(const interrupt_watch&) = delete;
  interrupt_watch& operator=(const interrupt_watch&) = delete;

 private:
  struct implementation;
  std::unique_ptr<implementation> m_implementation;
};

}  // namespace tessera::apps
