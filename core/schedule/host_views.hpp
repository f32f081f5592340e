#pragma once
// Blocks in the hands of the program.
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/block/record.hpp"
#include "core/schedule/thread_context.hpp"
#include "core/task/record.hpp"

namespace tessera::schedule {

/// One block in the hands of the program.
struct host_access {
  enum class access_step : std::uint8_t {
    waits,      ///< for tasks before it, for memory, for a copy
    due,        ///< the thread that asked goes on with it
    available,  ///< `pointer` or `why` is set
    abandoned   ///< given up by the thread that asked: it is ended instead of handed over when its turn comes
  };
  task::record* held_by = nullptr;  ///< the task in whose place in the order it is held
  thread_context* owner = nullptr;  ///< of the thread that holds it
  void* pointer = nullptr;          ///< the elements, in host memory
  std::atomic<access_step> step{access_step::waits};
  /// Its turn has come. False: it is abandoned.
  bool become_due() noexcept {
    access_step now = step.load(std::memory_order_relaxed);
    while (now != access_step::abandoned)
      if (step.compare_exchange_weak(now, access_step::due, std::memory_order_acq_rel)) return true;
    return false;
  }
  /// By the thread that asked. False: its turn has come meanwhile.
  bool abandon() noexcept {
    access_step expected = access_step::waits;
    return step.compare_exchange_strong(expected, access_step::abandoned, std::memory_order_acq_rel);
  }
  bool ended = false;  ///< by the end of the scheduler; then nothing of it is touched any more
  host_access *next = nullptr, *previous = nullptr;  ///< of the same thread
  std::shared_ptr<const block::failure> why;         ///< set when it cannot be had
  std::uint64_t since = 0;                           ///< when it became available; only while recording
  std::shared_ptr<void> shadow_copies;               ///< its private copy; only while validating

  /// Of a task whose operation is the runtime's "view".
  static host_access& of(const task::record& t) noexcept { return *static_cast<host_access*>(t.extension); }
};

/// How many views there are, and which thread holds which.
class host_views {
 public:
  /// Views that all threads have been granted and have not given back.
  std::uint64_t held(std::memory_order order = std::memory_order_seq_cst) const noexcept { return m_held.load(order); }

  /// By the thread that has brought the block: the view counts, then the thread that asked has it.
  void grant(host_access& view) noexcept {
    m_held.fetch_add(1, std::memory_order_seq_cst);
    view.step.store(host_access::access_step::available, std::memory_order_release);
  }
  /// It cannot be had, and does not count; `why` is set. Behind the retirement of its task.
  static void refuse(host_access& view) noexcept {
    view.step.store(host_access::access_step::available, std::memory_order_release);
  }
  /// It does not count any more. Before the retirement of its task.
  void give_back() noexcept { m_held.fetch_sub(1, std::memory_order_acq_rel); }

  /// By the thread that asked, once it has been granted: the view is in its list.
  static void add(thread_context& thread, host_access& view) noexcept {
    thread.held_views.store(thread.held_views.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    view.next = std::exchange(thread.host_accesses, &view);
    if (view.next != nullptr) view.next->previous = &view;
  }
  static void remove(host_access& view) noexcept {
    thread_context& owner = *view.owner;
    (view.previous != nullptr ? view.previous->next : owner.host_accesses) = view.next;
    if (view.next != nullptr) view.next->previous = view.previous;
    owner.held_views.store(owner.held_views.load(std::memory_order_relaxed) - 1, std::memory_order_release);
  }

 private:
  alignas(64) std::atomic<std::uint64_t> m_held{0};  // a line of its own: what surrounds it is read by every task
};

}  // namespace tessera::schedule
