#include "core/schedule/segments.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "core/operation/kernel_loader.hpp"

namespace tessera::schedule {
namespace {

constexpr std::uint32_t none = segment_plan::none;

std::uint16_t placed(const task::recorded_task& t) noexcept {
  return std::atomic_ref(t.place).load(std::memory_order_relaxed);
}

/// The planner's view of a recording while it works.
class planner {
 public:
  planner(const task::recording& of, std::span<const segment_place> places) : m_of(of), m_places(places) {}

  std::unique_ptr<segment_plan> run() {
    if (!find_eligible()) return nullptr;
    find_levels();
    join_neighbours();
    collect();
    if (m_plan->segments.empty()) return nullptr;
    find_edges();
    return std::move(m_plan);
  }

 private:
  std::uint16_t place_of(std::uint32_t t) const noexcept { return placed(m_of.tasks[t]); }
  double work_of(const task::recorded_task& t) const {
    return t.operation->work != nullptr ? t.operation->work(t.arguments, accesses_of(m_of, t, m_of.blocks)) : 0;
  }

  /// Whether all blocks that tasks use at a place can be in its memory together. If not, tasks of which nobody knows
  /// how long they are wait for copies, which take longer than launches.
  bool all_there(std::uint16_t place) {
    if (m_all_there.empty()) {
      std::vector<std::vector<bool>> used(m_places.size(), std::vector<bool>(m_of.blocks.size()));
      std::vector<std::uint64_t> bytes(m_places.size());
      for (std::uint32_t k = 0; k < m_of.size(); ++k) {
        const std::uint16_t at = place_of(k);
        if (at >= m_places.size() || !m_places[at].captures) continue;
        for (const task::recorded_access& a : m_of.accesses_of(m_of.tasks[k]))
          if (!used[at][a.block]) used[at][a.block] = true, bytes[at] += room_of(a.block, at);
      }
      for (std::size_t at = 0; at < m_places.size(); ++at)
        m_all_there.push_back(bytes[at] <= m_places[at].memory_bytes);
    }
    return m_all_there[place];
  }

  bool find_eligible() {
    const std::size_t count = m_of.size();
    m_eligible.resize(count);
    m_work.resize(count);
    bool any = false;
    for (std::uint32_t k = 0; k < count; ++k) {
      const task::recorded_task& t = m_of.tasks[k];
      const std::uint16_t place = place_of(k);
      if (place >= m_places.size() || !m_places[place].captures) continue;
      // Kernels may have to be compiled, and vendors' own calls may wait: neither is done while a stream records.
      if (t.operation->kernels != nullptr && !t.operation->kernels->only_launches_on(*m_places[place].device)) continue;
      if (t.operation->enqueue == nullptr || t.operation->special != nullptr || t.ends_group || t.access_count == 0)
        continue;
      if (t.operation->workspace != nullptr && t.operation->kernels == nullptr) continue;  // a library's
      if (t.operation->kernels != nullptr && !all_there(place)) continue;
      if (std::ranges::any_of(m_of.accesses_of(t),
                              [](const task::recorded_access& a) { return a.fresh != 0 || a.of_part != 0; }))
        continue;
      m_work[k] = work_of(t);
      if (m_work[k] * m_places[place].ns_per_flop * 1e-9 > segment::longest_task_seconds) continue;
      m_eligible[k] = any = true;
    }
    return any;
  }

  bool neighbours(std::uint32_t a, std::uint32_t b) const noexcept {
    return m_eligible[a] && m_eligible[b] && place_of(a) == place_of(b);
  }

  /// A level grows along every edge but those between neighbours. So no path leaves the tasks of one place and level
  /// and comes back to them, and between pieces that are made of such tasks there is no cycle.
  void find_levels() {
    m_level.assign(m_of.size(), 0);
    for (std::uint32_t t = 0; t < m_of.size(); ++t)  // recorded order: predecessors first
      for (const std::uint32_t s : m_of.successors_of(m_of.tasks[t]))
        m_level[s] = std::max(m_level[s], m_level[t] + (neighbours(t, s) ? 0u : 1u));
  }

  std::uint32_t root(std::uint32_t t) {
    while (m_parent[t] != t) t = m_parent[t] = m_parent[m_parent[t]];
    return t;
  }

  /// Tasks of one level that an edge joins belong together, and so do those that wait for the same and are waited for
  /// by the same: as one, none of them begins later than it would alone. Of those, as many pieces are made as the
  /// device has streams to run them on.
  void join_neighbours() {
    m_parent.resize(m_of.size());
    std::iota(m_parent.begin(), m_parent.end(), 0u);
    const auto inside = [&](std::uint32_t t, std::uint32_t s) { return neighbours(t, s) && m_level[t] == m_level[s]; };
    for (std::uint32_t t = 0; t < m_of.size(); ++t)
      for (const std::uint32_t s : m_of.successors_of(m_of.tasks[t]))
        if (inside(t, s)) m_parent[root(s)] = root(t);
    struct surroundings {
      std::vector<std::uint32_t> before, after;
      bool operator<(const surroundings& other) const {
        if (before != other.before) return std::ranges::lexicographical_compare(before, other.before);
        return std::ranges::lexicographical_compare(after, other.after);
      }
    };
    std::map<std::uint32_t, surroundings> around;  // by root
    for (std::uint32_t t = 0; t < m_of.size(); ++t) {
      if (m_eligible[t] &&
          m_of.tasks[t].boundary != task::recorded_task::inner) {  // the world is before and after them
        around[root(t)].before.push_back(none);
        around[root(t)].after.push_back(none);
      }
      for (const std::uint32_t s : m_of.successors_of(m_of.tasks[t])) {
        if (inside(t, s)) continue;
        if (m_eligible[t]) around[root(t)].after.push_back(s);
        if (m_eligible[s]) around[root(s)].before.push_back(t);
      }
    }
    struct alike {
      std::vector<std::uint32_t> roots;  // one per stream
      std::size_t turn = 0;
    };
    std::map<std::tuple<std::uint16_t, std::uint32_t, surroundings>, alike> same;
    for (auto& [first, of] : around) {
      for (auto* list : {&of.before, &of.after}) {
        std::ranges::sort(*list);
        list->erase(std::unique(list->begin(), list->end()), list->end());
      }
      alike& group = same[{place_of(first), m_level[first], std::move(of)}];
      if (group.roots.size() < m_places[place_of(first)].streams)
        group.roots.push_back(first);
      else
        m_parent[root(first)] = root(group.roots[group.turn++ % group.roots.size()]);
    }
  }

  /// One segment being filled.
  struct draft {
    std::unique_ptr<schedule::segment> segment = std::make_unique<schedule::segment>();
    struct use {
      std::uint32_t index, first_task;
      bool needs, writes, scratch;
    };
    std::unordered_map<std::uint32_t, use> uses;  // by block
    std::uint64_t room = 0;
  };

  std::uint64_t room_of(std::uint32_t block, std::uint16_t place) const noexcept {
    const std::uint64_t granule = m_places[place].granule;
    return (m_of.blocks[block].block->bytes + granule - 1) / granule * granule;
  }

  void collect() {
    m_plan->segment_of.assign(m_of.size(), none);
    std::unordered_map<std::uint32_t, draft> open;  // by root
    for (std::uint32_t t = 0; t < m_of.size(); ++t) {
      if (!m_eligible[t]) continue;
      draft& d = open[root(t)];
      if (!fits(d, t)) {  // what is left begins another one: it comes later in the order of all its tasks
        close(d);
        d = draft{};
      }
      add(d, t);
    }
    for (auto& [first, d] : open) close(d);
  }

  bool fits(const draft& d, std::uint32_t t) const {
    if (d.segment->members.size() == segment::max_tasks) return false;
    std::uint64_t bytes = d.room + std::max(d.segment->workspace, wanted_by(t));
    for (const task::recorded_access& a : m_of.accesses_of(m_of.tasks[t])) {
      const auto known = d.uses.find(a.block);
      if (known == d.uses.end()) bytes += room_of(a.block, place_of(t));
      // Room that is scratch for one task and holds contents for another has no one intent.
      else if (known->second.scratch != (static_cast<intent>(a.intent) == intent::scratch))
        return false;
    }
    return d.segment->members.empty() || bytes <= m_places[place_of(t)].max_bytes;
  }

  std::uint64_t wanted_by(std::uint32_t t) const {
    const task::recorded_task& task = m_of.tasks[t];
    if (task.operation->workspace == nullptr) return 0;
    return task.operation->workspace(*m_places[place_of(t)].device, task.arguments,
                                     accesses_of(m_of, task, m_of.blocks));
  }

  void add(draft& d, std::uint32_t t) {
    segment& s = *d.segment;
    s.workspace = std::max(s.workspace, wanted_by(t));
    const task::recorded_task& task = m_of.tasks[t];
    if (s.members.empty()) s.place = place_of(t), s.priority = task.priority;
    s.members.push_back(t);
    s.priority = std::max(s.priority, task.priority);
    s.work += m_work[t];
    if (task.successor_count == 0) ++s.sinks;
    for (const task::recorded_access& a : m_of.accesses_of(task)) {
      const auto intended = static_cast<intent>(a.intent);
      const std::uint64_t bytes = m_of.blocks[a.block].block->bytes;
      s.bytes_of_tasks += bytes;
      const auto [known, fresh] = d.uses.try_emplace(
          a.block, draft::use{static_cast<std::uint32_t>(s.uses.size()), t, false, false, intended == intent::scratch});
      draft::use& u = known->second;
      if (fresh) {
        s.uses.push_back(a);
        s.bytes_used += bytes;
        d.room += room_of(a.block, s.place);
      }
      s.operands.push_back(u.index);
      if (u.first_task == t) u.needs = u.needs || needs_contents(intended);
      if (intended != intent::read || !u.writes) s.uses[u.index].version = a.version;
      u.writes = u.writes || intended != intent::read;
    }
  }

  void close(draft& d) {
    if (d.segment->members.size() < 2) return;
    for (const auto& [block, u] : d.uses) {
      const intent use = !u.writes   ? intent::read
                         : u.scratch ? intent::scratch
                         : u.needs   ? intent::update
                                     : intent::write;
      d.segment->uses[u.index].intent = static_cast<std::uint32_t>(use) & 7u;
    }
    for (const std::uint32_t t : d.segment->members)
      m_plan->segment_of[t] = static_cast<std::uint32_t>(m_plan->segments.size());
    m_plan->segments.push_back(std::move(d.segment));
  }

  void find_edges() {
    segment_plan& plan = *m_plan;
    plan.predecessors.assign(m_of.size(), 0);
    for (std::uint32_t t = 0; t < m_of.size(); ++t) {
      const std::uint32_t segment_of_task = plan.segment_of[t];
      for (const std::uint32_t s : m_of.successors_of(m_of.tasks[t])) {
        if (segment_of_task == none)
          ++plan.predecessors[s];
        else if (plan.segment_of[s] != segment_of_task)
          plan.segments[segment_of_task]->after.push_back(s);
      }
    }
    for (const auto& s : plan.segments) {
      std::ranges::sort(s->after);
      s->after.erase(std::unique(s->after.begin(), s->after.end()), s->after.end());
      for (const std::uint32_t t : s->after) ++plan.predecessors[t];
    }
    for (const auto& s : plan.segments)
      for (const std::uint32_t t : s->members)
        s->gates += plan.predecessors[t] > 0 || m_of.tasks[t].boundary != task::recorded_task::inner;
  }

  const task::recording& m_of;
  std::span<const segment_place> m_places;
  std::vector<char> m_eligible, m_all_there;  // by task; by place, empty until it is asked
  std::vector<double> m_work;
  std::vector<std::uint32_t> m_level, m_parent;
  std::unique_ptr<segment_plan> m_plan = std::make_unique<segment_plan>();
};

}  // namespace

bool kernels_are_loaded(const task::recording& of, std::span<const segment_place> places) {
  return std::ranges::all_of(of.tasks, [&](const task::recorded_task& t) {
    const std::uint16_t place = placed(t);
    if (t.operation->kernels == nullptr || place >= places.size() || !places[place].captures) return true;
    const operation::kernel_loader& kernels = *t.operation->kernels;
    return !kernels.would_only_launch_on(*places[place].device) || kernels.only_launches_on(*places[place].device);
  });
}

std::unique_ptr<segment_plan> plan_segments(const task::recording& of, std::span<const segment_place> places) {
  return planner(of, places).run();
}

}  // namespace tessera::schedule
