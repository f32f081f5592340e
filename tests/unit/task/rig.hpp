#pragma once
// Tasks that are linked but not scheduled: tests run them in whatever order the edges allow.
#include <algorithm>
#include <deque>
#include <initializer_list>
#include <mutex>
#include <utility>
#include <vector>

#include "core/block/accumulation.hpp"
#include "core/block/table.hpp"
#include "core/task/flow.hpp"
#include "core/task/pool.hpp"

namespace tessera::task {

/// Makes tasks in a pool of its own, links them and collects those that are ready.
class rig final : public reduction_source {
 public:
  explicit rig(std::uint16_t owner = 0) : m_pool(owner) {}
  ~rig() {
    for (block::accumulation* group : m_groups) delete group;
  }
  record& make(std::initializer_list<std::pair<block::record*, intent>> uses) {
    return make(std::vector<std::pair<block::record*, intent>>(uses));
  }
  record& make(const std::vector<std::pair<block::record*, intent>>& uses) {
    record& t = m_pool.take();
    t.access_count = static_cast<std::uint8_t>(uses.size());
    if (uses.size() > t.accesses.size()) {
      t.need_more().accesses.resize(uses.size());
      t.flags |= flag_many_accesses;
    }
    for (std::size_t k = 0; k < uses.size(); ++k)
      t.all_accesses()[k] = {.block = uses[k].first, .version = 0, .intent = uses[k].second, .flags = 0, .space = 0};
    return t;
  }
  record& submit(std::initializer_list<std::pair<block::record*, intent>> uses) {
    record& t = make(uses);
    if (link(t, *this)) ready.push_back(&t);
    return t;
  }
  /// Runs one task: its successors may become ready. It is given back unless kept.
  void run(record& t, bool keep = false) {
    std::erase(ready, &t);
    release_successors(t, [&](record& s) { ready.push_back(&s); });
    if (!keep) m_pool.give_back(t, t);
  }
  bool is_ready(const record& t) const { return std::ranges::find(ready, &t) != ready.end(); }
  pool& tasks() { return m_pool; }

  record& make_reduction(block::record& b, block::accumulation& group) override {
    record& t = make({{&b, intent::update}});
    t.flags |= flag_reduction;
    m_groups.push_back(&group);
    reductions.push_back(&t);
    return t;
  }
  void reduction_linked(record& reduction, bool now) override {
    if (now) ready.push_back(&reduction);
  }

  std::deque<record*> ready;
  std::vector<record*> reductions;

 private:
  pool m_pool;
  std::vector<block::accumulation*> m_groups;
};

}  // namespace tessera::task
