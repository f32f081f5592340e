#pragma once
// What this process has of the machine's memory.

namespace tessera::apps {

/// In bytes; 0 where the system does not say.
struct process_memory {
  double now = 0;   ///< resident
  double peak = 0;  ///< the most since the process began
};
process_memory memory_of_this_process();

/// Gives freed pieces of the heap back to the system, where the C library can.
void return_free_memory() noexcept;

}  // namespace tessera::apps
