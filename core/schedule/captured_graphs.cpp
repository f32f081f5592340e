#include "core/schedule/captured_graphs.hpp"

#include <algorithm>
#include <utility>

#include "core/plugin/device.hpp"

namespace tessera::schedule {

bool graph_key::operator==(const graph_key& other) const noexcept {
  return memory_epoch == other.memory_epoch && patches == other.patches &&
         std::ranges::equal(addresses, other.addresses, [](const tsr_address& a, const tsr_address& b) {
           return a.memory == b.memory && a.offset == b.offset;
         });
}

captured_graphs::~captured_graphs() {
  for (const captured& one : m_kept) destroy(one);
}

void captured_graphs::destroy(const captured& one) noexcept {
  if (plugin::contained("destroy of a graph",
                        [&] { return one.device->graph()->destroy(one.device->handle(), one.graph); }) != TSR_OK)
    plugin::take_error_details();  // the device is lost, and its graphs with it
}

void captured_graphs::forget_other_epochs(const plugin::device& device, std::uint64_t epoch) noexcept {
  std::erase_if(m_kept, [&](const captured& one) {
    if (one.device != &device || one.key.memory_epoch == epoch) return false;
    destroy(one);
    return true;
  });
}

void captured_graphs::enqueue(const operation::context& c, graph_key key, std::size_t tasks, graph_counters& counters,
                              const std::function<bool()>& may_be_captured, const std::function<void()>& enqueue) {
  const auto add = [](std::atomic<std::uint64_t>& to, std::uint64_t amount) {
    to.fetch_add(amount, std::memory_order_relaxed);
  };
  const tsr_graph_table* const table = c.device->graph();
  const auto launch = [&](tsr_graph* graph) {
    c.device->check(table->launch(c.device->handle(), c.stream, graph), "launch of a graph");
    add(counters.launched, 1);
    add(counters.tasks, tasks);
  };
  forget_other_epochs(*c.device, key.memory_epoch);
  const auto known =
      std::ranges::find_if(m_kept, [&](const captured& one) { return one.device == c.device && one.key == key; });
  if (known != m_kept.end()) {
    m_unused_captures = 0;
    std::rotate(m_kept.begin(), known, known + 1);
    launch(m_kept.front().graph);
    return;
  }
  // Blocks that come back to another address each time would have every graph thrown away unused.
  const bool pays = m_unused_captures < max_kept || key == m_last;
  if (table != nullptr && m_failed_on != c.device && pays && may_be_captured()) {
    if (tsr_graph* const graph = capture(c, enqueue)) {
      add(counters.captured, 1);
      if (std::exchange(m_any, true)) add(counters.recaptured, 1);
      ++m_unused_captures;
      if (m_kept.size() == max_kept) {
        destroy(m_kept.back());
        m_kept.pop_back();
      }
      m_kept.insert(m_kept.begin(), {c.device, graph, std::move(key)});
      launch(graph);
      return;
    }
    m_failed_on = c.device;
  }
  m_last = std::move(key);
  add(counters.one_by_one, 1);
  enqueue();
}

tsr_graph* captured_graphs::capture(const operation::context& c, const std::function<void()>& enqueue) {
  const tsr_graph_table& table = *c.device->graph();
  const auto ended = [&](bool keep) -> tsr_graph* {
    tsr_graph* graph = nullptr;
    if (table.capture_end(c.device->handle(), c.stream, &graph) != TSR_OK) {
      plugin::take_error_details();
      return nullptr;
    }
    if (keep) return graph;
    destroy({c.device, graph, {}});
    return nullptr;
  };
  if (plugin::contained("capture_begin", [&] { return table.capture_begin(c.device->handle(), c.stream); }) != TSR_OK) {
    plugin::take_error_details();
    return nullptr;
  }
  try {
    enqueue();
  } catch (...) {
    return ended(false);  // enqueued singly, the same will be thrown again, or it works there
  }
  return ended(true);
}

}  // namespace tessera::schedule
