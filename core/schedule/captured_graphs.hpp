#pragma once
// Graphs of a plugin that were recorded for one piece of work, and when they may be launched again.
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/operation/context.hpp"
#include "core/schedule/statistics.hpp"

namespace tessera::schedule {

/// Counted by the drivers.
struct graph_counters {
  std::atomic<std::uint64_t> captured{0}, recaptured{0}, launched{0}, tasks{0}, one_by_one{0};
  graph_statistics read() const noexcept {
    return {captured.load(), recaptured.load(), launched.load(), tasks.load(), one_by_one.load()};
  }
};

/// What a graph has in it besides code: it may be launched when all is the same. Arguments are compared by address, and
/// kept, so that an address means the same bytes as long as the graph lives. Addresses mean the same memory within an
/// epoch.
struct graph_key {
  std::vector<tsr_address> addresses;
  std::vector<std::shared_ptr<const std::vector<std::byte>>>
      patches;                     ///< that replaced recorded arguments; null: not replaced
  std::uint64_t memory_epoch = 0;  ///< of the space that the addresses are in
  bool operator==(const graph_key& other) const noexcept;
};

/// The graphs of one segment; one thread at a time.
class captured_graphs {
 public:
  captured_graphs() = default;
  captured_graphs(const captured_graphs&) = delete;
  captured_graphs& operator=(const captured_graphs&) = delete;
  ~captured_graphs();

  /// Enqueues on c.stream what `enqueue` enqueues there: as one launch of a graph that was captured under an equal key,
  /// or is captured now, if it may be; singly when the device has no graphs, capturing failed there before, or the key
  /// never comes again.
  /// Graphs of the device's earlier epochs are destroyed: their memory may be gone.
  /// Throws what `enqueue` throws, and tessera::error (device).
  /// @param tasks  that `enqueue` stands for
  void enqueue(const operation::context& c, graph_key key, std::size_t tasks, graph_counters& counters,
               const std::function<bool()>& may_be_captured, const std::function<void()>& enqueue);

 private:
  static constexpr std::size_t max_kept = 4;  // two for buffers that take turns, and some more
  struct captured {
    const plugin::device* device;
    tsr_graph* graph;
    graph_key key;
  };
  tsr_graph* capture(const operation::context& c, const std::function<void()>& enqueue);
  static void destroy(const captured& one) noexcept;
  void forget_other_epochs(const plugin::device& device, std::uint64_t epoch) noexcept;

  std::vector<captured> m_kept;                 // the last used first
  graph_key m_last;                             // when captures do not pay
  std::size_t m_unused_captures = 0;            // since the last one that was used again
  bool m_any = false;                           // captured so far
  const plugin::device* m_failed_on = nullptr;  // capturing; null: nowhere
};

}  // namespace tessera::schedule
