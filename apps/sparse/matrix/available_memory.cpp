#include "apps/sparse/matrix/available_memory.hpp"

#include <fstream>
#include <string>

namespace tessera::sparse {

std::int64_t available_memory() {
  std::ifstream lines("/proc/meminfo");
  std::string word;
  while (lines >> word)
    if (std::int64_t kibibytes = 0; word == "MemAvailable:" && lines >> kibibytes) return kibibytes << 10;
  return std::int64_t{1} << 62;
}

}  // namespace tessera::sparse
