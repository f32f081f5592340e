#pragma once
// Where events are written: one buffer per thread, in chunks, up to a limit.
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "core/base/huge_pages.hpp"
#include "core/trace/clock.hpp"
#include "core/trace/event.hpp"

namespace tessera::trace {

class tracer;

/// Whose events a buffer holds.
enum class thread_role : std::uint8_t {
  worker,       ///< runs host tasks
  program,      ///< submits, and runs tasks while it waits
  driver,       ///< feeds a device
  interpreter,  ///< interprets a program, and does in place what is too short to be a task
  other         ///< a plugin's thread that noticed a completion
};

struct free_chunk {
  void operator()(std::uint64_t* words) const noexcept { unmap_huge_pages(words, huge_page_bytes); }
};
using chunk_memory = std::unique_ptr<std::uint64_t[], free_chunk>;  ///< of one huge page

/// Events of one thread. Written by that thread without locks, read by any thread through tracer::take. An event takes
/// three words (what it is, when, of which task) and those of its own that are in use: what recording costs is mostly
/// the first touch of its memory.
class buffer {
 public:
  static constexpr std::size_t chunk_bytes = huge_page_bytes;

  buffer(tracer& owner, std::string name, thread_role role, std::uint32_t place);
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;

  std::uint64_t now() const noexcept { return m_clock.now(); }
  /// Keeps a copy of the event, or counts it as dropped when the tracer's limit is reached. By the owning thread.
  void add(const event& e) noexcept {
    const std::size_t own = words_of(e.kind, e.count);
    if (m_used + head_words + own > chunk_words && !grow()) {
      m_dropped.store(m_dropped.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return;
    }
    std::uint64_t* const to = m_current->words.get() + m_used;
    to[0] = std::uint64_t{e.number} << 32 | std::uint64_t{e.small} << 16 | std::uint64_t{e.count} << 8 |
            static_cast<std::uint64_t>(e.kind);
    to[1] = e.time;
    to[2] = e.task;
    for (std::size_t k = 0; k < own; ++k) to[head_words + k] = e.words[k];
    m_used += head_words + own;
    m_current->used.store(m_used, std::memory_order_release);  // a thread that sees the count sees the event
  }

 private:
  friend class tracer;
  static constexpr std::size_t chunk_words = chunk_bytes / sizeof(std::uint64_t), head_words = 3;
  struct chunk {
    chunk_memory words;
    std::atomic<std::size_t> used{0};
  };
  bool grow() noexcept;
  void append_to(std::vector<event>& out) const;

  tracer& m_owner;
  std::string m_name;
  thread_role m_role;
  std::uint32_t m_place;
  tick_clock m_clock;
  chunk* m_current = nullptr;
  std::size_t m_used = chunk_words;  ///< of the current chunk; full: there is none yet
  std::atomic<std::uint64_t> m_dropped{0};
  mutable std::mutex m_chunks_mutex;  ///< the list, not the events
  std::vector<std::unique_ptr<chunk>> m_chunks;
};

/// What a tracer holds, in nanoseconds, and the names that make it readable. The names are filled in by the runtime.
struct recording {
  struct thread {
    std::string name;
    thread_role role = thread_role::other;
    std::uint32_t place = 0;    ///< index into places; of workers and drivers
    std::vector<event> events;  ///< in the order of writing; times in nanoseconds since the tracer was made
  };
  struct place {
    std::string name;  ///< "cpu:numa0", "sim0"
    bool is_host = true;
    std::uint32_t parallelism = 1;  ///< workers, or compute streams
    double flops = 0;      ///< floating-point operations of double precision per second of a unit; 0: not measured
    double bandwidth = 0;  ///< bytes per second of its memory, a unit's part; 0: not measured
  };
  struct space {
    std::string name;
    std::uint64_t limit = 0;  ///< bytes; ~0: none
  };
  struct link {
    std::uint32_t from = 0, to = 0;
    double bandwidth = 0;  ///< bytes per second, as the device says; 0: unknown
  };
  struct stream {
    std::uint32_t number = 0;
    std::uint32_t place = 0;
    std::string name;  ///< "sim0 compute 0"
  };
  std::vector<thread> threads;
  std::vector<std::string> block_names;  ///< by number
  std::uint64_t dropped = 0;
  std::vector<std::string> operations;  ///< by number
  std::vector<place> places;
  std::vector<space> spaces;
  std::vector<link> links;
  std::vector<stream> streams;  ///< that compute
  std::string title;            ///< one line: what ran
  std::string machine;          ///< one line: where
};

/// Owns the buffers of one runtime. Thread-safe. It must outlive the threads that write.
class tracer {
 public:
  /// @param limit_bytes  of all events together; beyond it events are dropped and counted
  /// @param virtual_now  of a simulated run: where its clock shows nanoseconds; null: real time
  explicit tracer(std::uint64_t limit_bytes, const std::uint64_t* virtual_now = nullptr);

  /// A buffer for one thread at a time. `place`: number of the place it works for.
  buffer& make_buffer(std::string name, thread_role role, std::uint32_t place);
  /// The buffer of the calling thread, for those who know no better; made at its first use.
  buffer& local();
  /// A number for a name; the same for the same name.
  std::uint64_t name(std::string_view text);
  /// A copy of everything so far; may be called while others write.
  recording take() const;

 private:
  friend class buffer;
  /// Memory that is touched before anything runs: 32 MiB hold about 240,000 tasks, and take some 20 ms of the start.
  static constexpr std::uint64_t prepared_chunks = 16;
  /// Memory of one chunk, or null when there is none or the limit is reached.
  chunk_memory take_chunk() noexcept;

  std::uint64_t m_serial;
  std::uint64_t m_limit;
  tick_clock m_clock;
  std::uint64_t m_first_tick;
  std::int64_t m_first_ns;
  std::atomic<std::uint64_t> m_bytes{0};  ///< of chunks in use
  std::mutex m_prepared_mutex;
  std::vector<chunk_memory> m_prepared;
  mutable std::mutex m_mutex;
  std::vector<std::unique_ptr<buffer>> m_buffers;
  std::unordered_map<std::thread::id, buffer*> m_locals;
  std::unordered_map<std::string, std::uint64_t> m_numbers;
  std::vector<std::string> m_names;
};

}  // namespace tessera::trace
