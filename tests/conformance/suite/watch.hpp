#pragma once
// What is said when a plugin does not come back from a check, or takes the process with it.
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace tessera::conformance {

/// What the running check is about to do, for the words about a crash; it lives as long as the process, or until the
/// next call. "": nothing in particular.
void now_trying(const char* words) noexcept;
/// The same words.
const char* what_is_tried() noexcept;

/// The descriptor that gets the words about a crash: standard error's, unless a check has something else there.
void tell_crashes_at(int descriptor) noexcept;

/// Knows which check runs. One at a time in a process. When a signal ends the process meanwhile (a crash, an abort, an
/// exception that leaves the plugin), standard error gets the name of the check first, and those of the entries that
/// are being called.
class watch {
 public:
  /// `overdue(name)` is called on a thread of the watch when a check takes longer than `limit` (0: never). What hangs
  /// cannot be ended alone, so it ends the process.
  watch(std::chrono::seconds limit, std::function<void(const std::string& name)> overdue);
  ~watch();
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;

  /// `more_behind`: other checks run when it has ended.
  void begins(const char* check, bool more_behind = false);
  void ends();

 private:
  void look(std::chrono::seconds limit);

  std::function<void(const std::string&)> m_overdue;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  const char* m_check = nullptr;  // that runs; under m_mutex, as what follows
  std::uint64_t m_number = 0;
  bool m_over = false;
  std::thread m_thread;
};

}  // namespace tessera::conformance
