#include "core/trace/what_if.hpp"

#include <algorithm>
#include <queue>

namespace tessera::trace {

const char* const model_text =
    "The model replays the recorded tasks by list scheduling: each task keeps its place (the workers of one memory, or "
    "one device), its measured time and its predecessors, and repeats its measured waits for data and memory unless "
    "they are assumed away; what its start was late without any such reason (noticing takes time, and threads wait for "
    "the system) stays with the task as long as workers are bounded. Among ready tasks of a place the one that became "
    "ready first goes first. Submission keeps its measured pace between fences and views. Contention for links and "
    "caches is in the measured times only: it does not change with the assumptions, so that predictions with more "
    "workers are optimistic. Compare \"as recorded\" with the measured time: their distance is the error of the model.";

namespace {

/// A task, or a point at which a program waited (a fence); what others are counted from.
struct node {
  nanoseconds duration = 0;
  nanoseconds delay = 0;           ///< after its predecessors, before it may take a place
  std::uint32_t place = no_index;  ///< no_index: needs no unit
  std::uint32_t missing = 0;       ///< predecessors that have not ended
  nanoseconds ready = 0;
};

/// `after` may start `lag` behind the end of the node it belongs to, or behind its start.
struct arc {
  std::uint32_t after;
  nanoseconds lag;
  bool from_start = false;
};

class replayer {
 public:
  replayer(const timeline& of, const assumption& what) : m_of(of), m_what(what) {}

  nanoseconds run() {
    make_nodes();
    if (!m_what.unlimited_workers) add_latencies();
    anchor_submissions();
    return simulate();
  }

 private:
  void make_nodes() {
    const std::size_t tasks = m_of.tasks.size();
    m_nodes.resize(tasks + m_of.fences.size());
    m_arcs.resize(m_nodes.size());
    for (std::uint32_t k = 0; k < tasks; ++k) {
      const task& t = m_of.tasks[k];
      node& n = m_nodes[k];
      n.duration = t.ended - t.started;
      n.delay =
          (m_what.infinite_link ? 0 : t.waited.data) + (m_what.infinite_memory ? 0 : t.waited.memory + t.waited.slab);
      if (!t.view && !m_what.unlimited_workers) n.place = m_of.tracks[t.track].place;
      for (std::uint32_t p = 0; p < t.predecessor_count; ++p) add(m_of.predecessors[t.first_predecessor + p], k, 0);
    }
  }

  /// What nothing above explains: a worker or stream was free and the task had all it needed, and yet it started later.
  /// It took that long to notice, or the system ran another thread. That stays with the task, on its unit.
  void add_latencies() {
    std::vector<std::vector<std::uint32_t>> rows(m_of.tracks.size());
    for (std::uint32_t k = 0; k < m_of.tasks.size(); ++k)
      if (!m_of.tasks[k].view) rows[m_of.tasks[k].track].push_back(k);
    for (auto& row : rows) {
      std::ranges::sort(row, {}, [&](std::uint32_t k) { return m_of.tasks[k].started; });
      nanoseconds free_since = 0;
      for (const std::uint32_t k : row) {
        const task& t = m_of.tasks[k];
        const nanoseconds ready = t.submitted + t.waited.dependency + t.waited.data + t.waited.memory + t.waited.slab;
        m_nodes[k].duration += std::max<nanoseconds>(t.started - std::max(free_since, ready), 0);
        free_since = t.ended;
      }
    }
  }

  void add(std::uint32_t before, std::uint32_t after, nanoseconds lag, bool from_start = false) {
    m_arcs[before].push_back({after, lag, from_start});
    ++m_nodes[after].missing;
  }

  /// Submissions are counted from what their thread last waited for, without the time in which it ran tasks itself.
  void anchor_submissions() {
    struct moment {
      nanoseconds time;
      enum what : std::uint8_t {
        ran,
        submitted,
        waited
      } kind;
      std::uint32_t node;
      nanoseconds length;
    };
    std::vector<std::vector<moment>> threads(m_of.tracks.size());
    for (std::uint32_t k = 0; k < m_of.tasks.size(); ++k) {
      const task& t = m_of.tasks[k];
      threads[t.submitter].push_back({t.submitted, moment::submitted, k, 0});
      if (t.view)
        threads[t.submitter].push_back({t.started, moment::waited, k, 0});
      else
        threads[t.track].push_back({t.ended, moment::ran, k, t.ended - t.started});
    }
    const auto first_fence = static_cast<std::uint32_t>(m_of.tasks.size());
    for (std::uint32_t f = 0; f < m_of.fences.size(); ++f)
      threads[m_of.fences[f].track].push_back({m_of.fences[f].ended, moment::waited, first_fence + f, 0});

    // A fence waits for every task submitted before it began.
    std::vector<std::uint32_t> order(m_of.tasks.size());
    for (std::uint32_t k = 0; k < order.size(); ++k) order[k] = k;
    std::ranges::sort(order, {}, [&](std::uint32_t k) { return m_of.tasks[k].submitted; });
    std::size_t next = 0;
    for (std::uint32_t f = 0; f < m_of.fences.size(); ++f) {
      if (f > 0) add(first_fence + f - 1, first_fence + f, 0);
      for (; next < order.size() && m_of.tasks[order[next]].submitted <= m_of.fences[f].started; ++next)
        if (m_of.tasks[order[next]].ended <= m_of.fences[f].ended) add(order[next], first_fence + f, 0);
    }

    for (auto& thread : threads) {
      std::ranges::stable_sort(thread, {}, [](const moment& m) { return std::pair(m.time, m.kind); });
      std::uint32_t anchor = no_index;
      nanoseconds since = 0, own = 0;
      for (const moment& m : thread) {
        if (m.kind == moment::ran) {
          own += m_of.tasks[m.node].started >= since ? m.length : std::max<nanoseconds>(m.time - since, 0);
        } else if (m.kind == moment::waited) {
          anchor = m.node, since = m.time, own = 0;
        } else {
          const nanoseconds lag = std::max<nanoseconds>(m.time - since - own, 0);
          if (anchor == no_index)
            m_nodes[m.node].ready = std::max(m_nodes[m.node].ready, lag);
          else
            add(anchor, m.node, lag, anchor < m_of.tasks.size());  // a view may be held while the thread goes on
        }
      }
    }
  }

  nanoseconds simulate() {
    // Two kinds of events in one queue: a node becomes ready, a node ends.
    struct happening {
      nanoseconds time;
      bool ends;
      std::uint32_t node;
      bool operator>(const happening& other) const noexcept {
        return time != other.time ? time > other.time : ends != other.ends ? ends < other.ends : node > other.node;
      }
    };
    std::priority_queue<happening, std::vector<happening>, std::greater<>> queue;
    std::vector<std::uint32_t> free;
    for (const auto& p : m_of.places)
      free.push_back(std::max<std::uint32_t>(p.is_host && m_what.cores != 0 ? m_what.cores : p.parallelism, 1));
    std::vector<std::queue<std::uint32_t>> waiting(free.size());
    nanoseconds last = 0;
    const auto go_on = [&](std::uint32_t from, nanoseconds now, bool at_start) {
      for (const arc& a : m_arcs[from]) {
        if (a.from_start != at_start) continue;
        node& n = m_nodes[a.after];
        n.ready = std::max(n.ready, now + a.lag);
        if (--n.missing == 0) queue.push({std::max(n.ready + n.delay, now), false, a.after});
      }
    };
    const auto start = [&](std::uint32_t n, nanoseconds now) {
      queue.push({now + m_nodes[n].duration, true, n});
      go_on(n, now, true);
    };
    for (std::uint32_t n = 0; n < m_nodes.size(); ++n)
      if (m_nodes[n].missing == 0) queue.push({m_nodes[n].ready + m_nodes[n].delay, false, n});
    while (!queue.empty()) {
      const happening now = queue.top();
      queue.pop();
      const std::uint32_t place = m_nodes[now.node].place;
      const bool bound = place < free.size();
      if (!now.ends) {
        if (bound && free[place] == 0) {
          waiting[place].push(now.node);
          continue;
        }
        if (bound) --free[place];
        start(now.node, now.time);
        continue;
      }
      last = std::max(last, now.time);
      if (bound && !waiting[place].empty()) {
        start(waiting[place].front(), now.time);
        waiting[place].pop();
      } else if (bound) {
        ++free[place];
      }
      go_on(now.node, now.time, false);
    }
    return last;
  }

  const timeline& m_of;
  assumption m_what;
  std::vector<node> m_nodes;
  std::vector<std::vector<arc>> m_arcs;
};

}  // namespace

nanoseconds replay(const timeline& of, const assumption& what) { return replayer(of, what).run(); }

std::vector<prediction> predict(const timeline& of) {
  return {{"as recorded", replay(of, {})},
          {"infinite link", replay(of, {.infinite_link = true})},
          {"infinite memory", replay(of, {.infinite_memory = true})},
          {"unlimited workers", replay(of, {.unlimited_workers = true})},
          {"all of these", replay(of, {.infinite_link = true, .infinite_memory = true, .unlimited_workers = true})}};
}

}  // namespace tessera::trace
