#pragma once
// What is written down while a runtime works: plain records of one size, to be understood later (build.cpp).
#include <array>
#include <cstdint>

namespace tessera::trace {

/// What an event says. Tasks are named by their references (task/flow.hpp: address and generation), which name
/// predecessors that have long been retired, too. Points on a device's timeline are `point_of(stream, value)`.
enum class event_kind : std::uint8_t {
  submitted,     ///< time: begin of the submission; small: operation; number: line; words[0]: file name (static text);
                 ///< words[1..4]: `count` predecessors
  predecessors,  ///< `count` more predecessors of the task submitted before, in words
  ran,           ///< on the host; time: start; words[0]: end; small: run_flags
  enqueued,      ///< on a device; time: begin of the enqueueing; words[0]: seen to be complete; words[1]: its point;
                 ///< words[2]: enqueued; small: run_flags
  waits,         ///< before it was enqueued; words: `count` points that the device waits for
  parked,        ///< set aside; small: park_reason; number: space that lacks memory
  resumed,       ///< queued again
  transfer,      ///< time: enqueued; words[0]: seen to be complete; words[1]: bytes; words[2]: its point; words[3],
                 ///< words[4]: points that it waits for on the device, or 0; small: from space, number: to space; task:
                 ///< block name; count: 1 for a write-back
  memory,        ///< number: space; words[0]: bytes in use from now on
  evicted,       ///< number: space; words[0]: bytes; task: block name; count: 1 when it was written back first
  fence,         ///< a thread waited for everything; time: begin; words[0]: end; count: 1 for a barrier of a program's
                 ///< threads
  slab,   ///< a memory asked its plugin for a slab, and had it; number: space; time: begin; words[0]: end; words[1]:
          ///< bytes
  step,   ///< a front end did it in place, without a task; time: begin; words[0]: end; task: name of what it did;
          ///< words[1]: name of the file; words[2]: floating-point operations, a double's bits; below 0: not known;
          ///< number: line
  block,  ///< a block came to be; number: slot; task: its name, or `nameless`; words[0]: bytes; count: 1 for numbers of
          ///< single precision
  uses    ///< what a task submitted at this time does; number: floating-point operations, a float's bits; below 0: not
          ///< known; words: `count` uses of blocks, two in a word
};

/// What a task does with a block.
enum class use_kind : std::uint8_t {
  read,
  write,
  update,
  accumulate,
  scratch,
  commute
};
inline constexpr std::uint64_t nameless = ~std::uint64_t{0};  ///< a block of no array

/// One use of a block, in half a word; slots are below 2^29.
constexpr std::uint32_t pack_use(std::uint32_t slot, use_kind how) noexcept {
  return slot << 3 | static_cast<std::uint32_t>(how);
}
constexpr std::uint32_t slot_of(std::uint32_t use) noexcept { return use >> 3; }
constexpr use_kind kind_of(std::uint32_t use) noexcept { return static_cast<use_kind>(use & 7); }

// `small` of ran and enqueued: bits.
inline constexpr std::uint16_t run_failed = 1u << 0;  ///< it threw, or its device reported a failure
inline constexpr std::uint16_t run_view = 1u << 1;    ///< a view: the block was in the hands of the program
// `small` of parked.
inline constexpr std::uint16_t parked_for_data = 0, parked_for_memory = 1;

/// 64 bytes where it is read; a buffer keeps the words in use alone (words_of).
struct alignas(64) event {
  event_kind kind;
  std::uint8_t count = 0;
  std::uint16_t small = 0;
  std::uint32_t number = 0;
  std::uint64_t time = 0;  ///< ticks
  std::uint64_t task = 0;
  std::array<std::uint64_t, 5> words{};
};
static_assert(sizeof(event) == 64);

/// How many of an event's words are in use.
constexpr std::size_t words_of(event_kind kind, std::uint8_t count) noexcept {
  switch (kind) {
    case event_kind::submitted:
      return std::size_t{1} + count;
    case event_kind::predecessors:
    case event_kind::waits:
      return count;
    case event_kind::ran:
    case event_kind::memory:
    case event_kind::evicted:
    case event_kind::fence:
    case event_kind::block:
      return 1;
    case event_kind::slab:
      return 2;
    case event_kind::enqueued:
    case event_kind::step:
      return 3;
    case event_kind::uses:
      return (std::size_t{count} + 1) / 2;
    case event_kind::transfer:
      return 5;
    case event_kind::parked:
    case event_kind::resumed:
      return 0;
  }
  return 0;
}

/// A point on the timeline of a stream, in one word.
constexpr std::uint64_t point_of(std::uint32_t stream, std::uint64_t value) noexcept {
  return std::uint64_t{stream} << 48 | (value & ((std::uint64_t{1} << 48) - 1));
}
constexpr std::uint32_t stream_of(std::uint64_t point) noexcept { return static_cast<std::uint32_t>(point >> 48); }

}  // namespace tessera::trace
