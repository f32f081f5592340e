#pragma once
// A line on standard error that says how far a run is.
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "tessera/tessera.hpp"

namespace tessera {

/// Where progress is shown.
enum class progress_where : std::uint8_t {
  terminals,
  everywhere,
  nowhere
};

/// When, and how often.
struct progress_rhythm {
  progress_where where = progress_where::terminals;
  std::chrono::milliseconds first{1500};                           ///< after so long
  std::chrono::milliseconds on_terminals{250}, elsewhere{10'000};  ///< and then so often
};

/// While it lives: on a terminal a line that is rewritten, elsewhere a line now and then, without control characters.
/// Short runs print nothing.
class progress {
 public:
  /// Tasks of a runtime: on a terminal five times a second, elsewhere every ten seconds. `expected`: tasks of the whole
  /// run, for the percentage; 0: unknown.
  progress(runtime& rt, std::string what, std::uint64_t expected, bool quiet);
  /// What `line` says, given the seconds since the start; nothing while that is empty. It is called by a thread of its
  /// own.
  progress(std::function<std::string(double)> line, const progress_rhythm& how);
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  /// Takes the line off a terminal, where something else is about to be printed; it comes again.
  void clear();

 private:
  void loop();
  void erase();  // under m_mutex

  std::function<std::string(double)> m_line;
  progress_rhythm m_rhythm;
  bool m_terminal, m_end = false, m_there = false;
  std::mutex m_mutex;
  std::condition_variable m_wake;
  std::thread m_thread;
};

/// 75 -> "1 min 15 s"; "about" is left to the caller.
std::string duration_text(double seconds);

}  // namespace tessera
