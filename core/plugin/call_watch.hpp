#pragma once
// Names a plugin whose code does not return.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace tessera::plugin {

/// While one lives, the calls that its thread makes into plugins (call_plugin) are looked at from another one: a call
/// that takes longer than `told_after` is told once, as a line of the log at level 2; one that takes longer than
/// `patience` is given up: what when_given_up (registry.hpp) was given is called. Nobody can end a call of foreign code
/// but by ending the process.
class call_watch {
 public:
  using clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds usual_told_after{10};

  /// @param patience  0: without end
  call_watch(clock::duration patience, std::function<void(int level, const std::string& line)> log,
             clock::duration told_after = usual_told_after);
  ~call_watch();
  call_watch(const call_watch&) = delete;
  call_watch& operator=(const call_watch&) = delete;

  /// One call by this thread, from the constructor to the destructor. Calls inside of calls count as their outermost
  /// one.
  class call {
   public:
    call(const std::filesystem::path& plugin, const char* entry);
    ~call();
    call(const call&) = delete;
    call& operator=(const call&) = delete;

   private:
    call_watch* m_watch;
  };

 private:
  void look();
  std::string told(clock::duration after) const;

  const clock::duration m_patience, m_told_after;
  const std::function<void(int, const std::string&)> m_log;
  call_watch* const m_outer;  ///< of the same thread
  std::mutex m_mutex;
  std::condition_variable m_changed;
  const std::filesystem::path* m_plugin = nullptr;  ///< of the call under way; null: none
  const char* m_entry = nullptr;
  clock::time_point m_since;
  std::uint64_t m_calls = 0;
  bool m_over = false;
  std::thread m_thread;  ///< last: it uses all above
};

}  // namespace tessera::plugin
