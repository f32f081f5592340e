#include "apps/sparse/matrix/available_memory.hpp"

#include <fmt/format.h>

#include <fstream>
#include <string>

#include "core/base/error.hpp"
#include "core/base/units.hpp"

namespace tessera::sparse {

std::int64_t available_memory() {
  std::ifstream lines("/proc/meminfo");
  std::string word;
  while (lines >> word)
    if (std::int64_t kibibytes = 0; word == "MemAvailable:" && lines >> kibibytes) return kibibytes << 10;
  return std::int64_t{1} << 62;
}

void require_memory(const std::string& where, std::int64_t rows, std::int64_t entries, double bytes,
                    std::int64_t memory, const char* how) {
  if (bytes > static_cast<double>(memory))
    throw error(error_kind::memory,
                fmt::format("a matrix of {} rows and {} entries takes {} while it is {}, and there are {}", rows,
                            entries, format_bytes(bytes), how, format_bytes(static_cast<double>(memory))),
                where, "a machine with more memory, or a smaller matrix");
}

}  // namespace tessera::sparse
