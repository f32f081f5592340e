#pragma once
// What an iteration of LOBPCG in two passes moves between the host and a device that is too small for it: the fewest
// bytes that must, and what a policy of replacement moves when tasks run one by one and nothing else takes memory.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "libraries/sparse/matrix/row_panels.hpp"

namespace bench {

/// The blocks of the iteration, and its tasks in the order in which they run.
class lobpcg_trace {
 public:
  /// A part of the matrix or of a vector that moves as one.
  struct tile {
    double bytes = 0;
  };
  struct step {
    std::vector<std::size_t> reads, writes;  ///< tiles
  };

  enum class form : std::uint8_t {
    forward,      ///< two passes, in one direction
    turning,      ///< the second one goes over the panels backwards
    single_steps  ///< forward, each operation a step of its own that names whole vectors' parts and no neighbours
  };
  lobpcg_trace(const tessera::sparse::csr_matrix& a, const tessera::sparse::row_panels& panels, std::int64_t block,
               int iterations, form how)
      : m_panels(static_cast<std::size_t>(panels.count())) {
    for (std::size_t p = 0; p < m_panels; ++p) {
      const auto k = static_cast<std::int64_t>(p);
      const std::int64_t rows = panels.end(k) - panels.begin(k);
      const std::int64_t entries = a.row_starts[static_cast<std::size_t>(panels.end(k))] -
                                   a.row_starts[static_cast<std::size_t>(panels.begin(k))];
      tiles.push_back({12.0 * static_cast<double>(entries) + 4.0 * static_cast<double>(rows)});
      matrix_bytes += tiles.back().bytes;
    }
    for (int v = 0; v < 6; ++v)
      for (std::size_t p = 0; p < m_panels; ++p) {
        const auto k = static_cast<std::int64_t>(p);
        tiles.push_back({8.0 * static_cast<double>((panels.end(k) - panels.begin(k)) * block)});
      }
    vector_bytes = 8.0 * static_cast<double>(a.rows * block);
    const auto touched = touched_panels(a, panels);
    for (int iteration = 0; iteration < iterations; ++iteration) {
      if (how == form::single_steps) {
        add_single_steps();
        continue;
      }
      for (std::size_t p = 0; p < m_panels; ++p) {
        step s{{p, at(x, p), at(r, p), at(direction, p)}, {at(ar, p)}};
        for (const std::int32_t other : touched[p])
          if (static_cast<std::size_t>(other) != p) s.reads.push_back(at(r, static_cast<std::size_t>(other)));
        steps.push_back(std::move(s));
      }
      for (std::size_t k = 0; k < m_panels; ++k) {
        const std::size_t p = how == form::turning ? m_panels - 1 - k : k;
        steps.push_back({{at(x, p), at(ax, p), at(r, p), at(ar, p), at(direction, p), at(ap, p)},
                         {at(x, p), at(ax, p), at(r, p), at(direction, p), at(ap, p)}});
      }
    }
    steps_of_iteration = steps.size() / static_cast<std::size_t>(iterations);
  }

  double problem() const { return matrix_bytes + 6 * vector_bytes; }
  /// At most a memory full of what a pass reads is there when it begins, and of what it wrote when it ends. The pass
  /// with the matrix reads it, X, R and P and writes AR; the other one reads all six and writes all but AR.
  double bound(double memory) const {
    const auto beyond = [&](double bytes) { return std::max(0.0, bytes - memory); };
    return beyond(matrix_bytes + 3 * vector_bytes) + beyond(vector_bytes) + beyond(6 * vector_bytes) +
           beyond(5 * vector_bytes);
  }

  std::vector<tile> tiles;
  std::vector<step> steps;
  std::size_t steps_of_iteration = 0;
  double matrix_bytes = 0, vector_bytes = 0;

 private:
  enum operand : std::size_t {
    x,
    ax,
    r,
    ar,
    direction,
    ap
  };
  std::size_t at(operand v, std::size_t panel) const { return (1 + v) * m_panels + panel; }
  /// The product and the products of columns; then the new X, P, AX, AP and R.
  void add_single_steps() {
    const auto add = [&](std::initializer_list<std::size_t> reads, std::initializer_list<std::size_t> writes) {
      steps.push_back({reads, writes});
    };
    for (std::size_t p = 0; p < m_panels; ++p) {
      add({p}, {at(ar, p)});
      add({at(x, p), at(ax, p), at(r, p), at(ar, p), at(direction, p), at(ap, p)}, {});
    }
    for (std::size_t p = 0; p < m_panels; ++p) {
      add({at(x, p), at(r, p), at(direction, p)}, {at(x, p)});
      add({at(x, p), at(r, p), at(direction, p)}, {at(direction, p)});
      add({at(ax, p), at(ar, p), at(ap, p)}, {at(ax, p)});
      add({at(ax, p), at(ar, p), at(ap, p)}, {at(ap, p)});
      add({at(ax, p), at(x, p)}, {at(r, p)});
    }
  }
  std::size_t m_panels;
};

/// A device's memory under a policy: "next_use" (the tile whose next use is last leaves, clean before changed ones),
/// "lru", "fifo". Clean tiles are dropped, changed ones written back.
class replacement {
 public:
  replacement(const lobpcg_trace& of, double memory, const std::string& policy)
      : m_trace(of), m_memory(memory), m_policy(policy), m_next(of.steps.size()) {
    std::map<std::size_t, std::size_t> coming;  // from behind: the next step that uses a tile
    for (std::size_t k = of.steps.size(); k-- > 0;)
      for (const std::size_t t : used(of.steps[k])) {
        const auto [found, fresh] = coming.try_emplace(t, never);
        m_next[k].push_back(found->second);
        found->second = k;
      }
  }

  /// Bytes of the last iteration but one, both ways: the uses behind the last one are not known, so that it would keep
  /// what it should write back.
  double moved() {
    for (std::size_t k = 0; k < m_trace.steps.size(); ++k) {
      if (k + m_trace.steps_of_iteration == m_trace.steps.size()) break;
      if (k + 2 * m_trace.steps_of_iteration == m_trace.steps.size()) m_moved = 0;
      const auto tiles = used(m_trace.steps[k]);
      for (const std::size_t t : tiles) {
        auto& here = m_here.try_emplace(t, resident{.arrived = m_clock++}).first->second;
        here.needed_by = k;
      }
      double wanted = 0;
      for (const auto& [t, here] : m_here) wanted += m_trace.tiles[t].bytes;
      while (wanted > m_memory) wanted -= evict(k);
      for (std::size_t i = 0; i < tiles.size(); ++i) {
        resident& here = m_here.at(tiles[i]);
        const bool reads = std::ranges::find(m_trace.steps[k].reads, tiles[i]) != m_trace.steps[k].reads.end();
        if (!here.there && reads) m_moved += m_trace.tiles[tiles[i]].bytes;
        here.there = true;
        here.used = m_clock++;
        here.next = m_next[k][i];
        here.changed =
            here.changed || std::ranges::find(m_trace.steps[k].writes, tiles[i]) != m_trace.steps[k].writes.end();
      }
    }
    return m_moved;
  }

 private:
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
  struct resident {
    std::uint64_t arrived = 0, used = 0;
    std::size_t next = 0, needed_by = never;
    bool there = false, changed = false;
  };
  static std::vector<std::size_t> used(const lobpcg_trace::step& s) {
    std::vector<std::size_t> all = s.reads;
    for (const std::size_t t : s.writes)
      if (std::ranges::find(all, t) == all.end()) all.push_back(t);
    return all;
  }
  double evict(std::size_t step) {
    auto victim = m_here.end();
    const auto leaves_before = [&](const resident& a, const resident& b) {
      if (m_policy == "fifo") return a.arrived < b.arrived;
      if (m_policy == "lru") return a.used < b.used;
      return a.next != b.next ? a.next > b.next : b.changed && !a.changed;
    };
    for (auto t = m_here.begin(); t != m_here.end(); ++t)
      if (t->second.needed_by != step && (victim == m_here.end() || leaves_before(t->second, victim->second)))
        victim = t;
    if (victim == m_here.end()) throw std::runtime_error("the blocks of one task do not fit the memory");
    const double bytes = m_trace.tiles[victim->first].bytes;
    if (victim->second.changed) m_moved += bytes;
    m_here.erase(victim);
    return bytes;
  }

  const lobpcg_trace& m_trace;
  const double m_memory;
  const std::string m_policy;
  std::vector<std::vector<std::size_t>> m_next;  // per step, of each tile it uses: the next step that does
  std::map<std::size_t, resident> m_here;
  std::uint64_t m_clock = 0;
  double m_moved = 0;
};

}  // namespace bench
