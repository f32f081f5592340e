#pragma once
// Levels of a graph's nodes as regions. Parts of a region write their own rows alone, so a node that is not reached
// looks for a neighbour in the last level; while that level is small, one leaf goes through it instead.
#include <array>
#include <cstdint>
#include <span>

#include "apps/rodinia/bfs/problem.hpp"
#include "tessera/region.hpp"

namespace tessera::apps::rodinia {

/// A graph, and the levels of its nodes.
class bfs_kernel {
 public:
  bfs_kernel(location_model& model, const region_options& how, std::int32_t nodes, std::int64_t edges)
      : starts(model.make_array<std::int32_t>("starts", {nodes + 1}, {.at = how.at})),
        targets(model.make_array<std::int32_t>("targets", {edges + 1}, {.at = how.at})),
        sources_starts(model.make_array<std::int32_t>("starts of sources", {nodes + 1}, {.at = how.at})),
        sources(model.make_array<std::int32_t>("sources", {edges + 1}, {.at = how.at})),
        levels(model.make_array<std::int32_t>("levels", {nodes}, {.at = how.at})),
        m_frontier(model.make_array<std::uint8_t>("frontier", {nodes}, {.at = how.at})),
        m_lists{model.make_array<std::int32_t>("list", {nodes + 1}, {.at = how.at}),
                model.make_array<std::int32_t>("next list", {nodes + 1}, {.at = how.at})},
        m_found(model.owner(), "found"),
        m_model(model),
        m_how(how),
        m_nodes(nodes) {}

  /// No node is reached but the source.
  void start(std::int32_t source) {
    m_model.region("start", m_how, iterate(0, m_nodes), write(levels), write(m_frontier),
                   [source](auto i, auto level, auto flag) {
                     level[i] = i == source ? 0 : -1;
                     flag[i] = i == source;
                   });
    m_model.region("source", one(), iterate(0, 1), write(m_lists[0], whole), [source](auto, auto list) {
      list[0] = 1;
      list[1] = source;
    });
  }

  /// @param lists  whether small levels are lists, which one leaf goes through
  void run(bool lists) {
    std::int32_t level = 1;
    std::int64_t found = 1;
    for (; lists && found > 0 && found < m_nodes / 16; ++level) found = follow_list(level);
    if (found == 0) return;
    if (level > 1) mark(level - 1);
    for (; scan(level) > 0; ++level) mark(level);
  }

  /// The edges, and as they are seen from their targets; an element more at the end of each list.
  array<std::int32_t> starts, targets, sources_starts, sources;
  array<std::int32_t> levels;

 private:
  region_options one() const { return {.policy = policy::any, .at = m_how.at}; }

  /// The nodes behind the list of the last level. Returns how many.
  std::int64_t follow_list(std::int32_t level) {
    const std::size_t now = static_cast<std::size_t>(level - 1) % 2;
    m_model.region("list", one(), iterate(0, 1), read(starts, whole), read(targets, whole), read(m_lists[now], whole),
                   update(m_lists[1 - now], whole), update(levels, whole), sum(m_found),
                   [level](auto, auto first, auto target, auto from, auto to, auto reached, std::int64_t& count) {
                     std::int32_t n = 0;
                     for (std::int64_t k = 1; k <= from[0]; ++k)
                       for (std::int32_t e = first[from[k]]; e < first[from[k] + 1]; ++e)
                         if (reached[target[e]] < 0) {
                           reached[target[e]] = level;
                           to[++n] = target[e];
                         }
                     to[0] = n;
                     count += n;
                   });
    return m_found.get();
  }
  /// Sets the flags of a level.
  void mark(std::int32_t level) {
    m_model.region("mark", m_how, iterate(0, m_nodes), read(levels), write(m_frontier),
                   TESSERA_BODY((level), (auto i, auto reached, auto flag), { flag[i] = reached[i] == level; }));
  }
  /// Nodes with a neighbour that is marked. Returns how many.
  std::int64_t scan(std::int32_t level) {
    m_model.region("scan", m_how, iterate(0, m_nodes), read(sources_starts, whole), read(sources, whole),
                   read(m_frontier, whole), update(levels), sum(m_found),
                   TESSERA_BODY((level), (auto i, auto first, auto source, auto flag, auto reached, auto& count), {
                     if (reached[i] >= 0) return;
                     for (std::int32_t e = first[i], last = first[i + 1]; e < last; ++e)
                       if (flag[source[e]] != 0) {
                         reached[i] = level;
                         ++count;
                         return;
                       }
                   }));
    return m_found.get();
  }

  array<std::uint8_t> m_frontier;
  std::array<array<std::int32_t>, 2> m_lists;  // how many, then the nodes
  region_result<std::int64_t> m_found;
  location_model& m_model;
  region_options m_how;
  std::int32_t m_nodes;
};

}  // namespace tessera::apps::rodinia
