#include "libraries/sparse/program/task_graph.hpp"

#include <algorithm>
#include <functional>

#include "libraries/sparse/program/fusion.hpp"
#include "tessera/machine.hpp"

namespace tessera::sparse {

task_graph::task_graph(const graph_shape& shape, std::vector<operation> operations)
    : m_runtime(shape.rt),
      m_turns(shape.on_devices != nullptr && shape.rt.settings().eviction != "next_use"),
      m_operations(std::move(operations)),
      m_work(counted_work::of(m_operations)) {
  for (const pass& p : fuse(m_operations)) {
    m_small.push_back(p.small);
    std::vector<const operation*> members;
    for (const std::size_t member : p.panels) members.push_back(&m_operations[member]);
    m_passes.push_back(members.empty() ? nullptr : std::make_unique<panel_pass>(shape, members));
  }
}

void task_graph::submit_small(const operation& o) {
  // Sources, then destinations; a matrix that is both is one block.
  std::vector<block_access> used;
  std::vector<std::size_t> from, to;
  for (const auto& m : o.small_from) {
    const bool written = std::ranges::find(o.small_to, m) != o.small_to.end();
    const auto known = std::ranges::find(used, m->block->tiles()[0].record, &block_access::block);
    from.push_back(static_cast<std::size_t>(known - used.begin()));
    if (known == used.end()) used.push_back(m->use(written ? intent::update : intent::read));
  }
  for (const auto& m : o.small_to) {
    const auto known = std::ranges::find(used, m->block->tiles()[0].record, &block_access::block);
    to.push_back(static_cast<std::size_t>(known - used.begin()));
    if (known == used.end()) used.push_back(m->use(intent::write));
  }
  // Tasks of one std::function type keep their own names, those of a lambda have the first.
  const std::function<void(task_blocks)> run = [&o, from = std::move(from), to = std::move(to),
                                                used](task_blocks blocks) {
    const auto seen = [&](std::size_t k, const small_data& m) {
      return small_view{used[k].intent == intent::read ? const_cast<double*>(blocks.get<const double>(k).data())
                                                       : blocks.get<double>(k).data(),
                        m.rows, m.columns};
    };
    std::vector<small_view> sources, destinations;
    for (std::size_t k = 0; k < from.size(); ++k) sources.push_back(seen(from[k], *o.small_from[k]));
    for (std::size_t k = 0; k < to.size(); ++k) destinations.push_back(seen(to[k], *o.small_to[k]));
    o.function(sources, destinations);
  };
  m_runtime.submit(task_name(o.name, o.site), {.priority = 1}, run, used);
}

void task_graph::submit() {
  bool backwards = false;
  for (std::size_t k = 0; k < m_passes.size(); ++k) {
    for (const std::size_t small : m_small[k]) submit_small(m_operations[small]);
    if (m_passes[k] == nullptr) continue;
    m_passes[k]->submit(m_runtime, backwards);
    backwards = m_turns && !backwards;
  }
}

std::int64_t task_graph::passes() const noexcept {
  return std::ranges::count_if(m_passes, [](const auto& p) { return p != nullptr; });
}

std::int64_t task_graph::tasks() const noexcept {
  std::int64_t count = 0;
  for (const auto& p : m_passes) count += p != nullptr ? p->tasks() : 0;
  for (const auto& s : m_small) count += std::ssize(s);
  return count;
}

}  // namespace tessera::sparse
