#pragma once
// The contexts of a scheduler's threads, by number.
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/schedule/thread_context.hpp"

namespace tessera::schedule {

/// Grows while others read; contexts never move, and go with the table. Adding needs `mutex`, all else needs nothing.
class thread_table {
 public:
  static constexpr std::uint32_t max_threads = 0xffff;  ///< what task::record::owner can name

  std::mutex mutex;  ///< of who adds contexts, or hands free ones out

  /// Contexts so far; those below it may be read.
  std::uint32_t size() const noexcept { return m_size.load(std::memory_order_acquire); }
  thread_context& operator[](std::uint32_t number) const noexcept {
    return *m_pages[number / page_size].load(std::memory_order_acquire)->threads[number % page_size];
  }
  /// A context that others do not see before publish. Null when there are as many as a number can say.
  std::unique_ptr<thread_context> make() const {
    const std::uint32_t number = size();
    return number < max_threads ? std::make_unique<thread_context>(static_cast<std::uint16_t>(number)) : nullptr;
  }
  /// The context that make gave, complete.
  thread_context& publish(std::unique_ptr<thread_context> fresh) {
    const std::uint32_t number = fresh->number;
    std::atomic<page*>& at = m_pages[number / page_size];
    if (at.load(std::memory_order_relaxed) == nullptr) {
      m_owned.push_back(std::make_unique<page>());
      at.store(m_owned.back().get(), std::memory_order_release);
    }
    std::unique_ptr<thread_context>& slot = at.load(std::memory_order_relaxed)->threads[number % page_size];
    slot = std::move(fresh);
    m_size.store(number + 1, std::memory_order_release);
    return *slot;
  }
  std::uint64_t submitted() const noexcept {  ///< tasks so far
    return sum([](const thread_context& l) { return l.submitted.load(std::memory_order_acquire); });
  }
  std::uint64_t retired() const noexcept {  ///< of them ended
    return sum([](const thread_context& l) { return l.retired.load(std::memory_order_acquire); });
  }
  std::uint64_t steals() const noexcept {  ///< tasks taken from another thread
    return sum([](const thread_context& l) { return l.steals.load(std::memory_order_relaxed); });
  }
  std::uint64_t fast_versions() const noexcept {  ///< committed without coherence
    return sum([](const thread_context& l) { return l.versions.load(std::memory_order_relaxed); });
  }
  /// By `thread`: a finished task is on its way back to its pool. The owner needs records back only from
  /// time to time; one exchange per batch keeps its line quiet.
  void keep_finished(thread_context& thread, task::record& t) {
    if (t.owner == thread.number) return thread.tasks.give_back(t);
    if (t.owner >= thread.finished.size()) [[unlikely]]
      thread.finished.resize(size());
    thread_context::finished_chain& chain = thread.finished[t.owner];
    t.next = chain.first;
    chain.first = &t;
    if (chain.last == nullptr) chain.last = &t;
    if (++chain.count >= 64) [[unlikely]]
      give_back((*this)[t.owner], chain);
  }
  /// Adds up what `of(context)` says of each.
  template <class Function>
  std::uint64_t sum(Function&& of) const noexcept {
    std::uint64_t total = 0;
    for (std::uint32_t k = 0, count = size(); k < count; ++k) total += of((*this)[k]);
    return total;
  }

 private:
  static constexpr std::uint32_t page_size = 64;
  struct page {
    std::array<std::unique_ptr<thread_context>, page_size> threads;
  };
  [[gnu::cold]] static void give_back(thread_context& owner, thread_context::finished_chain& chain) {
    owner.tasks.give_back(*chain.first, *chain.last);
    chain = {};
  }
  std::array<std::atomic<page*>, max_threads / page_size + 1> m_pages{};
  std::vector<std::unique_ptr<page>> m_owned;
  std::atomic<std::uint32_t> m_size{0};
};

}  // namespace tessera::schedule
