#include "apps/common/process_memory.hpp"

#include <malloc.h>

#include <fstream>
#include <limits>
#include <string>

namespace tessera::apps {

process_memory memory_of_this_process() {
  process_memory found;
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double* const to = word == "VmRSS:" ? &found.now : word == "VmHWM:" ? &found.peak : nullptr;
    if (to != nullptr && status >> *to) *to *= 1024;  // "kB" means KiB here
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return found;
}

void return_free_memory() noexcept {
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

}  // namespace tessera::apps
