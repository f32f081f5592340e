#include "core/schedule/thread_registry.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include "core/base/error.hpp"

namespace tessera::schedule {
namespace {

// Numbers, not state: two registries never share one, nor two threads.
std::atomic<std::uint64_t> next_serial{1}, next_user{1};

}  // namespace

thread_registry::thread_registry(setup with)
    : m_setup(std::move(with)), m_serial(next_serial.fetch_add(1)), m_process(::getpid()) {
  // What a thread knows of its context is looked up again in a child, so that `current` need not ask for forks.
  [[maybe_unused]] static const int once = ::pthread_atfork(nullptr, nullptr, [] { t_known = {}; });
}

void thread_registry::refuse_this_process() const {
  throw error(error_kind::usage,
              fmt::format("the runtime belongs to process {}, and this is process {}, which was forked from it",
                          m_process, ::getpid()),
              {}, "a fork copies no threads: start a runtime in the child, or fork before there is one");
}

/// Contexts that the current thread has in live registries; when the thread ends they become free for other threads.
struct thread_registry::thread_registrations {
  struct entry {
    std::uint64_t serial;
    thread_registry* registry;
    thread_context* thread;
    std::shared_ptr<lifetime> alive;  ///< of the registry
  };
  std::vector<entry> entries;

  /// Null once the thread has ended so far that its thread_local objects are gone; runtimes with static storage end
  /// after that of the main thread.
  static thread_registrations* of_this_thread() {
    static thread_local thread_registrations* known = nullptr;  // both trivial: usable until the thread is no more
    static thread_local bool gone = false;
    if (known == nullptr && !gone) {
      struct owner {
        thread_registrations registrations;
        ~owner() {
          known = nullptr;
          gone = true;
          t_known = {};
        }
      };
      static thread_local owner registered;
      known = &registered.registrations;
    }
    return known;
  }
  ~thread_registrations() {
    for (const entry& e : entries)
      if (const lifetime::visit here = e.alive->enter()) {
        t_known = {e.serial, e.thread};  // for this call
        e.registry->m_setup.thread_ends(*e.thread);
        t_known = {};
        e.thread->in_use.store(false, std::memory_order_release);
        e.registry->m_setup.thread_ended();
      }
  }
  /// Entries of registries that are no more.
  void tidy() {
    std::erase_if(entries, [](const entry& e) { return !e.alive->enter(); });
  }
};

constinit thread_local thread_registry::cached thread_registry::t_known;

thread_context& thread_registry::register_thread(const placement::place* driven) {
  require_this_process();
  thread_registrations* const known = thread_registrations::of_this_thread();
  const std::thread::id self = std::this_thread::get_id();
  if (known != nullptr) {
    for (const auto& e : known->entries)
      if (e.serial == m_serial) {
        t_known = {m_serial, e.thread};
        return *e.thread;
      }
    known->tidy();
  }
  thread_table& threads = *m_setup.threads;
  const std::lock_guard guard(threads.mutex);
  thread_context* thread = nullptr;
  if (known == nullptr)  // what it had before is told by the contexts alone
    for (std::uint32_t k = 0; k < threads.size() && thread == nullptr; ++k)
      if (threads[k].user == self) thread = &threads[k];
  if (thread == nullptr) thread = &make(driven);
  thread->user = known == nullptr ? self : std::thread::id{};
  thread->user_serial = next_user.fetch_add(1);
  if (known != nullptr) known->entries.push_back({m_serial, this, thread, m_alive.shared()});
  t_known = {m_serial, thread};
  attach_this_thread();
  return *thread;
}

void thread_registry::attach_this_thread() const {
  for (const auto& s : m_setup.coherence->streams().all()) s->device().attach_this_thread();
}

void thread_registry::take(thread_context& thread) {
  t_known = {m_serial, &thread};
  attach_this_thread();
  if (auto* const known = thread_registrations::of_this_thread())
    known->entries.push_back({m_serial, this, &thread, m_alive.shared()});
}

thread_context& thread_registry::make_driver(const placement::place& driven) {
  const std::lock_guard guard(m_setup.threads->mutex);
  return make(&driven);
}

thread_context& thread_registry::make(const placement::place* driven) {
  thread_table& threads = *m_setup.threads;
  for (std::uint32_t k = 0; driven == nullptr && k < threads.size(); ++k) {
    thread_context& old = threads[k];
    bool free = false;
    if (old.is_program && old.in_use.compare_exchange_strong(free, true)) return old;
  }
  std::unique_ptr<thread_context> fresh = threads.make();
  if (!fresh)
    throw error(error_kind::usage,
                fmt::format("more than {} threads use one runtime at the same time", thread_table::max_threads));
  fresh->is_driver = driven != nullptr;
  fresh->is_program = driven == nullptr;
  fresh->place = driven != nullptr ? driven->number : 0;
  fresh->location = driven != nullptr ? driven->location : m_setup.places->front()->location;
  if (m_setup.tracer != nullptr)
    fresh->events =
        driven != nullptr
            ? &m_setup.tracer->make_buffer("driver of " + driven->name, trace::thread_role::driver, driven->number)
            : &m_setup.tracer->make_buffer(
                  fmt::format("{} {}", fresh->number == 0 ? "worker" : "thread", fresh->number),
                  trace::thread_role::program, 0);
  return threads.publish(std::move(fresh));
}

thread_context& thread_registry::make_worker(std::uint32_t worker, std::uint32_t place, location::node_id location) {
  thread_table& threads = *m_setup.threads;
  const std::lock_guard guard(threads.mutex);
  std::unique_ptr<thread_context> fresh = threads.make();
  if (!fresh)
    throw error(error_kind::configuration, fmt::format("a runtime has at most {} workers", thread_table::max_threads),
                "runtime.workers");
  fresh->place = place;
  fresh->location = location;
  if (m_setup.tracer != nullptr)
    fresh->events = &m_setup.tracer->make_buffer(fmt::format("worker {}", worker), trace::thread_role::worker, place);
  return threads.publish(std::move(fresh));
}

}  // namespace tessera::schedule
