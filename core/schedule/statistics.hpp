#pragma once
// What the scheduler has done so far.
#include <cstdint>
#include <string>

namespace tessera::schedule {

/// Tasks per operation and place, for tables.
struct operation_statistics {
  std::string operation;          ///< its name
  std::string place;              ///< "cpu:numa0", or the device's name
  std::uint64_t tasks = 0;        ///< run there
  std::uint64_t nanoseconds = 0;  ///< all of them together; 0: not measured
};

/// What graphs did, over all replays. A snapshot for statistics.
struct graph_statistics {
  std::uint64_t captured = 0;    ///< graphs recorded
  std::uint64_t recaptured = 0;  ///< of these for a segment that had one, since addresses or arguments were others
  std::uint64_t launched = 0;    ///< graphs launched, the fresh ones too
  std::uint64_t tasks = 0;       ///< tasks that ran as part of a launch
  std::uint64_t one_by_one = 0;  ///< times that a segment's tasks were enqueued singly
};

/// What batches did so far. A snapshot for statistics.
struct batch_statistics {
  std::uint64_t launched = 0;  ///< launches of more than one task
  std::uint64_t tasks = 0;     ///< tasks in them
};

}  // namespace tessera::schedule
