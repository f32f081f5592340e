#pragma once
// A run as it was: tasks, transfers and memory on one axis of time. Made from a recording, or read back from a file.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/tracer.hpp"

namespace tessera::trace {

/// Nanoseconds. Times are counted from the first event of the timeline.
using nanoseconds = std::int64_t;

/// Where an index into a list is wanted and there is none.
inline constexpr std::uint32_t no_index = ~std::uint32_t{0};

/// Why a task that had been submitted was not running yet; the parts add up to the time from submission to start.
struct waiting {
  nanoseconds dependency = 0;  ///< until the last predecessor had ended
  nanoseconds data = 0;        ///< then: blocks were on their way
  nanoseconds memory = 0;      ///< then: no room for its blocks
  nanoseconds slab = 0;        ///< then: a thread of its place asked a plugin for a slab of memory
  nanoseconds worker = 0;      ///< then: every worker, or the device, was busy with others
  nanoseconds total() const noexcept { return dependency + data + memory + slab + worker; }
  waiting& operator+=(const waiting& other) noexcept {
    dependency += other.dependency, data += other.data, memory += other.memory, slab += other.slab,
        worker += other.worker;
    return *this;
  }
};

enum class track_kind : std::uint8_t {
  worker,
  stream,
  program,
  link,
  interpreter  ///< a thread that interprets a program: its statements, done in place
};

/// A row of the timeline: on it, nothing happens twice at the same time.
struct track {
  std::string name;  ///< "worker 1", "sim0 compute 0", "host:numa0 -> sim0:memory"
  track_kind kind = track_kind::worker;
  std::uint32_t place = 0;  ///< of workers and streams: whose tasks it may take
};

inline constexpr double max_flops = 1e30;  ///< of a task, or of a place each second; more is a mistake, and not known
/// The number of operations, or -1 where it is none that a task can have: negative, infinite, not a number.
constexpr double known_flops(double flops) noexcept { return flops >= 0 && flops <= max_flops ? flops : -1; }

/// A task that ran.
struct task {
  std::uint32_t operation = 0;  ///< index into timeline::operations
  std::uint32_t site = 0;       ///< index into timeline::sites: where it was submitted
  std::uint32_t track = 0;
  std::uint32_t submitter = 0;  ///< track of the thread that submitted it
  bool view = false;            ///< no computation: the program held a block
  bool failed = false;
  nanoseconds submitted = 0, started = 0, ended = 0;
  waiting waited;
  std::uint32_t first_predecessor = 0, predecessor_count = 0;  ///< into timeline::predecessors
  std::uint32_t first_use = 0, use_count = 0;                  ///< into timeline::uses; none: its blocks are not known
  double flops = -1;                                           ///< floating-point operations; below 0: not known
  bool single = false;                                         ///< all its blocks are of single precision
};

/// What a task did with a block.
struct use {
  std::uint32_t block = 0;  ///< index into timeline::blocks
  use_kind how = use_kind::read;
  std::uint64_t bytes = 0;  ///< of the block
};

/// A copy of a block.
struct transfer {
  std::uint32_t from = 0, to = 0;  ///< spaces
  std::uint32_t block = 0;         ///< index into timeline::blocks
  std::uint32_t track = 0;
  std::uint64_t bytes = 0;
  nanoseconds issued = 0, started = 0, ended = 0;
  bool write_back = false;  ///< made room in `from`
};

/// From `time` on, `used` bytes of a space were in blocks.
struct memory_sample {
  nanoseconds time = 0;
  std::uint64_t used = 0;
};

/// A block that left a full memory.
struct eviction {
  std::uint32_t space = 0, block = 0;
  std::uint64_t bytes = 0;
  nanoseconds time = 0;
  bool written_back = false;
};

/// A memory had a slab of its plugin; what needed it waited meanwhile.
struct slab {
  std::uint32_t space = 0;
  std::uint64_t bytes = 0;
  nanoseconds started = 0, ended = 0;
};

/// A thread waited for everything submitted.
struct fence {
  std::uint32_t track = 0;
  nanoseconds started = 0, ended = 0;
};

/// A thread of the program waited for something else.
struct program_wait {
  std::uint32_t track = 0;
  nanoseconds started = 0, ended = 0;
  bool barrier = false;  ///< for the other threads of the program; else for a block that it was to read or write
};

struct timeline {
  struct space {
    std::string name;
    std::uint64_t limit = 0;  ///< ~0: none
    std::vector<memory_sample> samples;
  };
  std::string title, machine;
  nanoseconds length = 0;        ///< from the first event to the last
  std::uint64_t dropped = 0;     ///< events that found no room
  std::uint64_t unfinished = 0;  ///< tasks that were submitted and never ran
  std::vector<std::string> operations, sites, blocks;
  std::vector<recording::place> places;
  std::vector<track> tracks;
  std::vector<task> tasks;  ///< in the order of submission
  std::vector<std::uint32_t> predecessors;
  std::vector<use> uses;
  std::vector<space> spaces;
  std::vector<recording::link> links;
  std::vector<transfer> transfers;  ///< by start
  std::vector<eviction> evictions;
  std::vector<slab> slabs;  ///< by start
  std::vector<fence> fences;
  std::vector<program_wait> waits;  ///< by start
};

/// Orders and connects what the threads wrote. The start of work on a device and of a copy is not seen by the host: it
/// is taken as the latest of its enqueueing, the end of what its stream did before, and what it waited for on the
/// device.
timeline build(const recording& from);

}  // namespace tessera::trace
