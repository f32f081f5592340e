#pragma once
// Levels of a graph's nodes: input, reference, local check.
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "apps/common/workload.hpp"

namespace tessera::apps::rodinia {

/// Directed edges, sorted by the node that they leave. Plain data.
struct bfs_edges {
  std::vector<std::int32_t> starts;   ///< of each node's targets; one more at the end
  std::vector<std::int32_t> targets;  ///< nodes
  std::int32_t nodes() const { return static_cast<std::int32_t>(starts.size()) - 1; }
  /// The targets of a node.
  std::span<const std::int32_t> of(std::int32_t node) const {
    const auto i = static_cast<std::size_t>(node);
    return std::span(targets).subspan(static_cast<std::size_t>(starts[i]),
                                      static_cast<std::size_t>(starts[i + 1] - starts[i]));
  }
};
struct bfs_graph {
  bfs_edges edges;
  std::int32_t source = 0;
};

/// The synthetic graph, six edges per node on average, each in both directions; the source is node 0.
bfs_graph make_bfs_graph(std::int32_t nodes, std::uint64_t seed);
/// Reads a graph. Throws tessera::error (input).
bfs_graph read_bfs_graph(const std::filesystem::path& file);
/// Each edge in the other direction.
bfs_edges reversed(const bfs_edges& edges);

/// The level of each node, -1 where it is not reached, by a queue.
std::vector<std::int32_t> bfs_serial(const bfs_graph& graph);
/// How many nodes each level has.
std::vector<std::int64_t> bfs_level_sizes(std::span<const std::int32_t> levels);

/// A level by its list reads each of its nodes twice and the ends of its edges with their levels; a scan reads all
/// levels, and of each node that is not reached its place among the edges, one edge and a flag; before it the flags are
/// made.
/// @param level_sizes  nodes of each level  @param lists  as of bfs_kernel::run
workload bfs_workload(const bfs_edges& edges, std::span<const std::int64_t> level_sizes, bool lists);

}  // namespace tessera::apps::rodinia
