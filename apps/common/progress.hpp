#pragma once
// A line on standard error that says how far a run is.
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "core/runtime/runtime.hpp"

namespace tessera::apps {

/// While it lives: on a terminal a line that is rewritten five times a second, elsewhere a line every ten seconds; short
/// runs print nothing. `expected`: tasks of the whole run, for the percentage; 0: unknown.
class progress {
 public:
  progress(runtime& rt, std::string what, std::uint64_t expected, bool quiet);
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

 private:
  void loop();

  runtime& m_runtime;
  std::string m_what;
  std::uint64_t m_expected, m_before;
  bool m_terminal, m_end = false, m_printed = false;
  std::mutex m_mutex;
  std::condition_variable m_wake;
  std::thread m_thread;
};

}  // namespace tessera::apps
