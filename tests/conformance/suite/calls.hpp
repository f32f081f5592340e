#pragma once
// Which entries of the plugin are being called, so that one that hangs or crashes can be named.
#include <string>
#include <vector>

#include "core/plugin/loaded_plugin.hpp"

namespace tessera::conformance {

/// Marks a call of an entry by this thread, from the constructor to the destructor. Calls inside of calls count as the
/// innermost one.
class calling {
 public:
  /// `entry` lives as long as the process.
  explicit calling(const char* entry) noexcept;
  ~calling();
  calling(const calling&) = delete;
  calling& operator=(const calling&) = delete;

 private:
  const char* m_outer;
  std::int64_t m_outer_since;
};

/// A call that has not returned.
struct call_under_way {
  const char* entry;
  double seconds;  ///< since it began
};
/// Of all threads, the oldest first.
std::vector<call_under_way> calls_under_way();
/// Calls say(entry) for each. A signal handler may do it, with a `say` that it may call.
void name_calls_under_way(void (*say)(const char* entry)) noexcept;

/// Has every call of the plugin marked from now on: of `open`, and of what the tables hold that open, device_open and
/// extension give. The tables keep their sizes, and what is NULL in them stays NULL. One plugin at a time in a process.
void mark_calls(plugin::loaded_plugin& of);

}  // namespace tessera::conformance
