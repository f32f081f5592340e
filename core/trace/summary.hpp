#pragma once
// What a timeline says in figures: who worked, why tasks waited, what moved, what decided the length of the run.
#include <string>
#include <vector>

#include "core/trace/idle.hpp"
#include "core/trace/timeline.hpp"
#include "core/trace/what_if.hpp"

namespace tessera::trace {

/// What tasks did, but for those that failed.
struct work_summary {
  nanoseconds time = 0;  ///< of all of them together
  double flops = 0;      ///< floating-point operations; below 0: not known of all of them
  double bytes = 0;      ///< of blocks, each once per reading and once per writing; below 0: not known of all of them
  /// Nanoseconds that these take at least: where a task ran, each of so many units as the place has at its part of the
  /// rates measured there, at arithmetic or at memory, whichever takes longer. Below 0: not measured where one of them
  /// ran.
  double bound = 0;
};

/// Tasks of one operation.
struct operation_summary {
  std::uint32_t operation = 0;  ///< index into timeline::operations
  std::uint64_t tasks = 0;
  nanoseconds time = 0;  ///< of all of them together
  nanoseconds longest = 0;
  waiting waited;  ///< of all of them together
  work_summary work;
};

/// What one worker or stream did.
struct track_summary {
  std::uint32_t track = 0;  ///< index into timeline::tracks
  std::uint64_t tasks = 0;
  nanoseconds busy = 0;  ///< time in which at least one task ran on it
  idle_time idle;        ///< the rest of the run, by cause
};

/// Copies over one directed pair of spaces.
struct link_summary {
  std::uint32_t from = 0, to = 0;  ///< indices into timeline::spaces
  std::uint64_t transfers = 0, bytes = 0, write_backs = 0;
  nanoseconds busy = 0;  ///< time in which a copy was under way
  double achieved = 0;   ///< bytes per second of that time
  double nominal = 0;    ///< as the device says; 0: unknown
};

/// Use of one memory.
struct space_summary {
  std::uint32_t space = 0;                                         ///< index into timeline::spaces
  std::uint64_t peak = 0, limit = 0;                               ///< bytes; limit ~0: none
  std::uint64_t dropped = 0, written_back = 0, evicted_bytes = 0;  ///< blocks that had to leave
  std::uint64_t slabs = 0, slab_bytes = 0;                         ///< had of its plugin while the run went on
  nanoseconds slab_time = 0;  ///< until it had them: tasks that needed the room waited
};

struct summary {
  nanoseconds length = 0;  ///< from the first submission to the last end
  std::uint64_t tasks = 0, views = 0, failed = 0, transfers = 0, bytes = 0, evictions = 0;
  waiting waited;                             ///< of all tasks together, without views
  std::vector<operation_summary> operations;  ///< without views; most time first
  std::vector<track_summary> tracks;          ///< workers that are part of the machine, and streams
  std::vector<link_summary> links;
  std::vector<space_summary> spaces;
  std::vector<std::uint32_t> critical_path;  ///< tasks, first to last
  nanoseconds critical_time = 0;             ///< of these tasks together
  std::vector<prediction> what_if;
};

/// Throws tessera::error (input) when the dependencies of the timeline run in a circle.
summary summarize(const timeline& of);

/// The longest chain of tasks that depend on each other, by their own times.
std::vector<std::uint32_t> critical_path(const timeline& of);

/// Tasks in an order in which predecessors come first. Throws tessera::error (input) when there is none.
std::vector<std::uint32_t> topological_order(const timeline& of);

/// For the terminal.
std::string to_text(const timeline& of, const summary& s);
/// The same figures as JSON; times in seconds.
std::string to_json(const timeline& of, const summary& s);

}  // namespace tessera::trace
