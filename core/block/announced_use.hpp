#pragma once
// A use of a block that is to come.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "core/block/record.hpp"

namespace tessera::block {

/// Which tasks of one submitter have their blocks, or were given up: of the last `capacity` ages. Any thread.
class begun_tasks {
 public:
  static constexpr std::uint64_t capacity = 1 << 18;
  begun_tasks()
      : m_by_age(static_cast<std::atomic<std::uint64_t>*>(std::calloc(capacity, sizeof(std::atomic<std::uint64_t>)))) {
    if (m_by_age == nullptr) throw std::bad_alloc();
  }
  void note(std::uint64_t age) noexcept { m_by_age[age % capacity].store(age, std::memory_order_relaxed); }
  bool has(std::uint64_t age) const noexcept { return m_by_age[age % capacity].load(std::memory_order_relaxed) >= age; }

 private:
  struct give_back {
    void operator()(std::atomic<std::uint64_t>* p) const noexcept { std::free(p); }
  };
  // Zeros that take no memory before they are touched; by age, that of the last task there that has begun.
  std::unique_ptr<std::atomic<std::uint64_t>[], give_back> m_by_age;
};

/// A task of age `sequence` will use `block`, or is expected to: no task has been submitted yet. The uses of a block
/// form a chain in the order in which they were announced, from `record::next_use`, which the evicting thread moves on,
/// to `flow_record::last_announced`. Entries live in logs and are used again: one that says another block now has been
/// forgotten.
struct announced_use {
  std::atomic<const record*> block{nullptr};
  std::atomic<std::uint64_t> age_and_intent{0};  ///< sequence * 4, and 2 when it is expected, and 1 when it will write
  std::atomic<announced_use*> next{nullptr};
  const begun_tasks* begun = nullptr;  ///< of its submitter
};

}  // namespace tessera::block
