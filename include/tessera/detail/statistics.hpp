#pragma once
// What a runtime has done so far.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/memory/statistics.hpp"
#include "core/placement/crossover.hpp"
#include "core/schedule/statistics.hpp"
#include "core/transfer/statistics.hpp"

namespace tessera {

/// Copies over one directed pair of spaces.
struct link_statistics {
  std::string from;             ///< name of the space the bytes came from
  std::string to;               ///< name of the space they went to
  std::uint64_t transfers = 0;  ///< copies of whole blocks
  std::uint64_t bytes = 0;      ///< bytes of all of them together
};

/// A space with its name.
struct named_space_statistics {
  std::string name;                     ///< as in `tessera topology`
  memory::space_statistics statistics;  ///< bytes in blocks, slabs, allocations, evictions
};

/// What placement cost does beside choosing.
struct placement_statistics {
  std::uint64_t trials = 0;  ///< tasks sent to another place than the best, to learn how fast it is
  double trial_seconds = 0;  ///< that these were expected to be done later for it, all together
  std::uint64_t revisions =
      0;                    ///< measurements that changed an estimate so much that queued tasks were looked at again
  std::uint64_t moved = 0;  ///< tasks that went to another place for that, or because one had nothing to do
  std::uint64_t sizes = 0;  ///< sizes of tasks with measurements, over all operations and places
  std::vector<placement::crossover> crossovers;  ///< from which size on a device beats the host
};

/// A device that ran no task, and what it could run, in words.
struct idle_device {
  std::string name;    ///< "acme0"
  std::string reason;  ///< "runs gemm (f32, f64); no kernels", or why it is no place for tasks
};

/// Devices that left, and those that did nothing.
struct device_statistics {
  std::vector<std::string> detached;   ///< devices that are detached now
  std::uint64_t placed_elsewhere = 0;  ///< tasks that were placed again because their device had left
  std::vector<idle_device> idle;       ///< devices that ran nothing so far, but for the host and storage
};

/// A snapshot; consistent when nothing runs.
struct statistics {
  std::uint64_t tasks_submitted = 0;  ///< the runtime's own (views, frees, reductions) included
  std::uint64_t tasks_retired = 0;    ///< finished, failed or given up
  std::uint64_t steals = 0;           ///< host tasks that a worker took from another one's queue
  /// Per operation and place; times are 0 unless tasks were timed (runtime::time_tasks, or more than one place).
  std::vector<schedule::operation_statistics> operations;
  std::vector<link_statistics> links;          ///< those that were used
  std::vector<named_space_statistics> spaces;  ///< all, host memories first
  transfer::coherence_statistics coherence;    ///< versions, saved fetches, evictions
  schedule::graph_statistics graphs;           ///< launches of plugin graphs by replays
  schedule::batch_statistics batches;          ///< launches of several equal tasks
  std::uint64_t device_launches = 0;           ///< pieces of work given to devices: single tasks, batches, and graphs
  std::optional<placement_statistics> placement;  ///< only with placement cost and more than one place
  device_statistics devices;                      ///< detached ones, and what that moved
  transfer::copy_failure_statistics trouble;      ///< copies that failed
  transfer::loss_statistics losses;               ///< devices that are lost, and blocks with them
  std::uint64_t registered_bytes = 0;             ///< bytes of user memory registered with devices now
  std::uint64_t registration_hits = 0;            ///< uses of user memory that found it registered
  std::uint64_t registration_misses = 0;          ///< uses that had to register it
  /// Bytes over all links together.
  std::uint64_t bytes_transferred() const noexcept {
    std::uint64_t sum = 0;
    for (const link_statistics& l : links) sum += l.bytes;
    return sum;
  }
};

/// The table of `--stats`.
std::string to_text(const statistics& s);

}  // namespace tessera
