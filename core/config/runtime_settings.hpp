#pragma once
// Everything that the core can be told, typed. Filled from [runtime] and [memory] of the configuration.
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::config {

/// Settings of the runtime core. The defaults here are the defaults of the configuration.
struct runtime_settings {
  // [runtime]
  std::uint32_t workers = 0;  ///< threads that run host tasks, the waiting one included; 0: one per CPU allowed
  bool bind = true;           ///< bind workers to CPUs of the inherited set
  std::string placement = "locality";               ///< eager | locality | pinned | cost | plugin:NAME
  std::string history = "auto";                     ///< what cost and policies learn: auto | off | a path of a file
  std::string kernel_cache = "auto";                ///< compiled kernels: auto | off | a path of a folder
  std::uint64_t kernel_cache_limit = 256ull << 20;  ///< bytes that are kept there
  std::uint64_t window_tasks = 2048;  ///< submitted and unfinished tasks above which a submitter helps instead
  std::uint64_t window_bytes = 0;     ///< bytes touched by unfinished tasks; 0: no limit
  std::uint64_t spin_ns = 50000;      ///< how long an idle worker, or a busy device's driver, spins before it sleeps
  std::vector<std::string> plugins = {"host"};  ///< in the order of opening
  std::vector<std::string> plugin_path;         ///< absolute directories; empty: beside the library
  std::vector<std::string> layers;    ///< plugins that wrap others: "layer:wrapped"; the first is the innermost
  std::vector<std::string> detached;  ///< locations whose devices start detached; runtime::attach makes them useful
  std::uint64_t watchdog_ns = 300'000'000'000;  ///< how long a device may take for one piece of work; 0: for ever
  std::uint32_t copy_retries = 3;               ///< how often a failed copy is tried again from one memory
  bool survive_loss = true;                     ///< go on without a device that is lost; else the run is cancelled
  bool checked_copies =
      true;            ///< device tasks start when their copies have arrived well; else only after the first failure
  bool graphs = true;  ///< replays give devices with graphs whole segments of a recording at once
  std::uint64_t batch = 64;    ///< equal ready tasks that a device is given as one launch, at most; 1: each by itself
  bool deterministic = false;  ///< accumulates are summed in the order of their submission
  bool trace = false;          ///< record every task, transfer and wait; see runtime::timeline
  std::uint64_t trace_limit = 512ull << 20;  ///< bytes of events that are kept
  std::string report;                        ///< page that is written when the runtime ends; "": none
  std::string trace_file;                    ///< recording that is written when the runtime ends; "": none
  bool stats = false;                        ///< print statistics to standard error when the runtime ends
  bool validate = false;                     ///< look for mistakes of the program; see docs/validation.md
  std::uint64_t plugin_patience_ns =
      120'000'000'000;  ///< how long one call of a plugin may take while it is opened; 0: without end
  std::uint64_t view_patience_ns =
      30'000'000'000;  ///< how long a thread with views waits for others where only threads without any could help
  // [memory]
  std::uint64_t host_limit = 0;            ///< bytes the host space may hold in blocks; 0: what the machine has
  std::uint64_t slab_bytes = 64ull << 20;  ///< size of a slab asked of a plugin
  std::string eviction = "next_use";       ///< next_use | lru | fifo
  std::uint64_t patience_ns =
      30'000'000'000;                 ///< how long tasks wait for memory that only the program could still make free
  std::uint64_t high_watermark = 95;  ///< percent of a space's limit above which blocks leave in the background
  std::uint64_t low_watermark = 90;   ///< until that much is in use
  std::uint64_t write_ahead = 1;      ///< percent of a full space's limit whose copies are made before they must leave
  std::uint64_t staging_bytes = 16ull << 20;      ///< size of each device's staging ring in host memory
  std::uint64_t registration_limit = 1ull << 30;  ///< bytes of user memory kept registered
  bool huge_pages = true;                         ///< ask the system for huge pages behind host slabs
};

}  // namespace tessera::config
