#pragma once
// Runs a small case of a lock-free protocol in every way in which the memory model of C++ lets it run.
//
// The headers of the core are compiled against models::atomic (replacement/core/base/atomic.hpp). Each operation on one
// is a point at which another thread may go on, and each load a choice among all stores that its thread may still see.
// README.md says what is modelled and what is not.
#include <atomic>
#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::models {

enum class action : std::uint8_t {
  load,
  store,
  exchange,
  fence,
  wait,
  notify
};

/// Makes one operation of the code weaker than it is written: a planted fault.
struct weakening {
  std::string_view function;  ///< part of the name of the function that it stands in
  action what;                ///< exchange: all read-modify-writes; fence: is left out; else the order becomes relaxed
};

struct settings {
  std::vector<weakening> planted = {};
  std::uint64_t max_executions = 2'000'000;
  bool everything =
      false;  ///< also orders of steps that do not meet, and states that were reached before: to test the explorer
};

struct report {
  std::uint64_t executions = 0;  ///< different ones, up to the order of operations that do not meet
  bool complete = false;         ///< there are no others, and none has failed
  std::uint64_t weakened = 0;    ///< operations that a planted fault has changed
  std::string failure;           ///< empty: none; else what went wrong, and each step that led to it
  explicit operator bool() const noexcept { return complete; }
};

/// What one execution consists of. Made for each execution, so that all start alike.
class scenario {
 public:
  /// One more thread. All see what was done before explore() was given the scenario.
  void thread(std::function<void()> body) { m_threads.push_back(std::move(body)); }
  /// When all threads have ended, and everything that they did is visible.
  void at_the_end(std::function<void()> body) { m_end = std::move(body); }

 private:
  friend class machine;
  std::vector<std::function<void()>> m_threads;
  std::function<void()> m_end;
};

/// All executions of what `make` describes, until one fails.
report explore(const std::function<void(scenario&)>& make, const settings& how = {});

/// Ends the execution as failed unless it holds.
void require(bool holds, std::string_view what, std::source_location at = std::source_location::current());

// What models::atomic is made of. Values are at most 8 bytes, as bits.
struct operation {
  action what = action::load;
  const void* where = nullptr;
  std::uint64_t initial = 0;  ///< what it was constructed with
  std::memory_order order = std::memory_order_seq_cst;
  std::source_location at;
};
std::uint64_t perform_load(operation o);
void perform_store(operation o, std::uint64_t value);
/// Reads, and writes change(old); when `only_if` differs from what it reads, it is a load of the order `otherwise`.
std::uint64_t perform_exchange(operation o, const std::function<std::uint64_t(std::uint64_t)>& change,
                               const std::uint64_t* only_if = nullptr,
                               std::memory_order otherwise = std::memory_order_relaxed);
void perform_wait(operation o, std::uint64_t old);
void perform_notify(operation o, bool all);
void perform_fence(std::memory_order order, std::source_location at = std::source_location::current());
void forget(const void* where) noexcept;  ///< another object may come to lie there
void plain_access(const void* where, bool writes, std::source_location at);

/// Memory that is no atomic: two accesses of which one writes, and neither happens before the other, are a failure.
template <class T>
class plain {
 public:
  plain(T value = {}) : m_value(value) {}
  plain(const plain&) = delete;
  plain& operator=(const plain&) = delete;
  T get(std::source_location at = std::source_location::current()) const {
    plain_access(this, false, at);
    return m_value;
  }
  void set(T value, std::source_location at = std::source_location::current()) {
    plain_access(this, true, at);
    m_value = value;
  }

 private:
  T m_value;
};

}  // namespace tessera::models
