#pragma once
// What one thread owns while it works with a runtime.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/spin_lock.hpp"
#include "core/operation/catalog.hpp"
#include "core/operation/context.hpp"
#include "core/schedule/host_scratch.hpp"
#include "core/schedule/kept_task.hpp"
#include "core/schedule/ready_ring.hpp"
#include "core/task/pool.hpp"
#include "core/task/queues.hpp"
#include "core/task/recording.hpp"
#include "core/trace/tracer.hpp"
#include "core/transfer/coherence.hpp"
#include "core/transfer/use_log.hpp"

namespace tessera::schedule {

struct host_access;

/// Per operation: how many tasks a thread ran, how long they took (only when timing is on). Written by the thread
/// itself, read by any thread at any time.
class operation_counters {
 public:
  struct counter {
    std::atomic<std::uint64_t> tasks{0}, nanoseconds{0};
  };
  /// By the thread itself. `number` is below operation::catalog::max_operations.
  counter& of(std::uint32_t number) {
    page* const p = m_pages[number / page_size].load(std::memory_order_relaxed);
    return (p != nullptr ? *p : add_page(number))[number % page_size];
  }
  static void add(std::atomic<std::uint64_t>& to, std::uint64_t amount) noexcept {  // one writer: no locked instruction
    to.store(to.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  /// By any thread; null when the thread never ran the operation.
  const counter* find(std::uint32_t number) const noexcept {
    const page* p = m_pages[number / page_size].load(std::memory_order_acquire);
    return p == nullptr ? nullptr : &(*p)[number % page_size];
  }

 private:
  static constexpr std::size_t page_size = 64;
  using page = std::array<counter, page_size>;
  [[gnu::cold]] page& add_page(std::uint32_t number) {
    m_owned.push_back(std::make_unique<page>());
    m_pages[number / page_size].store(m_owned.back().get(), std::memory_order_release);
    return *m_owned.back();
  }
  std::array<std::atomic<page*>, operation::catalog::max_operations / page_size> m_pages{};
  std::vector<std::unique_ptr<page>> m_owned;
};

/// Tasks in a row that a thread ran while nothing else was ready there: each was made ready by the one before.
struct lone_chain {
  static constexpr std::uint32_t first_length = 64, longest = 1u << 20;
  std::uint32_t tasks = 0;
  std::uint32_t length = first_length;  ///< so many tasks, and the next one may be given back
  std::uint64_t submitted = 0;          ///< by who submits them, at the last look; by this one, at its last ready task
};

/// A thread that keeps a task, as another one has seen it.
struct kept_watch {
  std::uint32_t at = 0;           ///< its place in steal_order
  std::uint16_t thread = 0xffff;  ///< its number; 0xffff: none was seen
  std::uint16_t same = 0;         ///< looks in which it had submitted nothing more
  std::uint16_t rest = 0,
                next = 0;       ///< calls without a look; and the next time. So that a far thread is not slowed down
  std::uint64_t submitted = 0;  ///< what it had submitted at the last look
};

/// Every thread that submits or runs tasks has one. Written by its thread only, except where marked.
struct thread_context {
  explicit thread_context(std::uint16_t n) : number(n), tasks(n) {}

  std::uint16_t number;
  std::uint32_t place = 0;  ///< host: whose workers it belongs to; a driver's: its device's
  bool is_driver = false;
  location::node_id location = location::no_node;
  task::pool tasks;                       ///< give_back is for all threads
  ready_ring ready;                       ///< others steal from it
  alignas(64) task::spill_queue spilled;  ///< what did not fit into the ring; others steal from it too
  kept_task kept;  ///< the only ready task of a thread that submits; others take it when that does something else
  alignas(64) task::record* next_task = nullptr;  ///< runs before the ring: the successor whose data are still in cache
  std::uint32_t ticks = 0;
  lone_chain chain;                          ///< that it runs
  kept_watch watched;                        ///< whose kept task it has seen
  std::uint64_t age = 0;                     ///< of the task that it submitted last
  std::uint64_t known_age = 0;               ///< what of that other threads know
  host_access* host_accesses = nullptr;      ///< host views not yet released by this thread, the youngest first
  std::uint32_t views = 0;                   ///< that were asked for
  std::uint32_t unbounded = 0;               ///< scopes in which its submissions do not wait
  std::uint32_t runtime_scopes = 0;          ///< see runtime_scope
  task::graph_recorder* recorder = nullptr;  ///< set: tasks are taken down instead of submitted

  // Finished tasks on their way back to their pools, in one chain per owner, as far as it has finished any of that
  // thread.
  struct alignas(32) finished_chain {  // a power of two: the number of a vector's elements is a shift
    task::record *first = nullptr, *last = nullptr;
    std::uint32_t count = 0;
  };
  std::vector<finished_chain> finished;

  // Tasks that this thread has to give up because others failed: one after the other, since each may bring more.
  struct given_up {
    task::record* t = nullptr;
    std::shared_ptr<const block::failure> why;
  };
  std::vector<given_up> to_give_up;
  bool works = false;     ///< see task_scope
  bool gives_up = false;  ///< a call further out on the stack empties the list

  transfer::acquisition acquisition;  ///< scratch
  std::vector<operation::operand> operands;
  host_scratch scratch;                             ///< workspace of tasks that run here
  std::unique_ptr<transfer::stream> inline_stream;  ///< of the host device; made at first use
  std::vector<std::uint16_t> steal_order;           ///< other threads, nearest first
  std::uint32_t steal_order_size = 0;               ///< number of threads when that list was made

  operation_counters counters;
  std::unique_ptr<transfer::use_log> uses;  ///< what it has submitted; null while eviction does not go by next use
  trace::buffer* events = nullptr;          ///< null: nothing is recorded

  // Read by all threads, written by this one: a line of its own.
  alignas(64) std::atomic<std::uint64_t> submitted{0};
  std::atomic<std::uint64_t> retired{0}, submitted_bytes{0}, retired_bytes{0}, steals{0};
  std::atomic<std::uint64_t> versions{0};  ///< committed on the fast path of a single space
  std::atomic<bool> in_use{true};
  std::atomic<bool> waits{false};             ///< the thread waits in the runtime
  std::atomic<std::uint32_t> held_views{0};   ///< host views not yet released by this thread
  std::atomic<bool> asks{false};              ///< it holds host views, or is in a task, and waits for others
  std::atomic<bool> wait_is_hopeless{false};  ///< set by another thread: none is left that could end this wait
  std::atomic<bool> releases{false};          ///< it gives a view back at this moment
  bool is_program = false;                    ///< of a thread of the program, not one that the scheduler started
  std::uint64_t user_serial = 0;  ///< by its thread: no two threads have the same, though they may have one context
  std::thread::id user;  ///< under the table's mutex: the thread that has it, where the thread itself cannot remember

  /// Where this thread announces the blocks of tasks that it submits.
  transfer::use_log& announced_uses() {
    if (!uses) uses = std::make_unique<transfer::use_log>();
    return *uses;
  }

  /// Around everything that the thread does for the scheduler: it runs a task, or ends what one has left.
  class runtime_scope {
   public:
    explicit runtime_scope(thread_context& of) noexcept : m_of(of) { ++m_of.runtime_scopes; }
    ~runtime_scope() { --m_of.runtime_scopes; }
    runtime_scope(const runtime_scope&) = delete;
    runtime_scope& operator=(const runtime_scope&) = delete;

   private:
    thread_context& m_of;
  };
  /// While the thread looks for tasks and runs them; nests.
  class task_scope {
   public:
    explicit task_scope(thread_context& of) noexcept : m_of(of), m_before(std::exchange(of.works, true)) {}
    ~task_scope() { m_of.works = m_before; }
    task_scope(const task_scope&) = delete;
    task_scope& operator=(const task_scope&) = delete;

   private:
    thread_context& m_of;
    bool m_before;
  };
  /// Whether the thread is in the program's own code, outside of any task: then it may wait, and do what it asks for
  /// itself.
  bool in_program() const noexcept { return runtime_scopes == 0 && !is_driver; }
};

}  // namespace tessera::schedule
