#pragma once
// What a runtime has done so far.
#include <cstdint>
#include <string>
#include <vector>

#include "core/memory/space.hpp"
#include "core/schedule/scheduler.hpp"
#include "core/transfer/coherence.hpp"

namespace tessera {

/// Copies over one directed pair of spaces.
struct link_statistics {
  std::string from, to;
  std::uint64_t transfers = 0, bytes = 0;
};

/// A space with its name.
struct named_space_statistics {
  std::string name;
  memory::space_statistics is;
};

/// A snapshot; consistent when nothing runs.
struct statistics {
  std::uint64_t tasks_submitted = 0, tasks_retired = 0, steals = 0;
  std::vector<schedule::operation_statistics> operations;
  std::vector<link_statistics> links;  ///< those that were used
  std::vector<named_space_statistics> spaces;
  transfer::coherence_statistics coherence;
  std::uint64_t registered_bytes = 0, registration_hits = 0, registration_misses = 0;
  std::uint64_t bytes_transferred() const noexcept {
    std::uint64_t sum = 0;
    for (const link_statistics& l : links) sum += l.bytes;
    return sum;
  }
};

/// The table of `--stats`.
std::string to_text(const statistics& s);

}  // namespace tessera
