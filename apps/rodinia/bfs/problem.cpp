#include "apps/rodinia/bfs/problem.hpp"

#include <fmt/format.h>

#include <utility>

#include "apps/common/text_input.hpp"
#include "apps/rodinia/common/random_stream.hpp"

namespace tessera::apps::rodinia {
namespace {

/// Edges (from, to), in the order in which each node's targets are wanted.
bfs_edges bfs_sorted(std::int32_t nodes, const std::vector<std::pair<std::int32_t, std::int32_t>>& edges) {
  bfs_edges sorted;
  sorted.starts.assign(static_cast<std::size_t>(nodes) + 1, 0);
  for (const auto& [from, to] : edges) ++sorted.starts[static_cast<std::size_t>(from) + 1];
  for (std::size_t i = 1; i < sorted.starts.size(); ++i) sorted.starts[i] += sorted.starts[i - 1];
  sorted.targets.resize(edges.size());
  std::vector<std::int32_t> next(sorted.starts.begin(), sorted.starts.end() - 1);
  for (const auto& [from, to] : edges)
    sorted.targets[static_cast<std::size_t>(next[static_cast<std::size_t>(from)]++)] = to;
  return sorted;
}

constexpr std::int64_t max_bfs_edges = 2'000'000'000;

}  // namespace

bfs_graph make_bfs_graph(std::int32_t nodes, std::uint64_t seed) {
  random_stream from(seed);
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;
  edges.reserve(static_cast<std::size_t>(nodes) * 7);
  for (std::int32_t i = 0; i < nodes; ++i)
    for (std::int64_t k = 2 + from.draw() % 3; k > 0; --k) {
      const auto target = static_cast<std::int32_t>(from.draw() % nodes);
      from.draw();  // the weight
      edges.emplace_back(i, target);
      edges.emplace_back(target, i);
    }
  return {bfs_sorted(nodes, edges), 0};
}

bfs_graph read_bfs_graph(const std::filesystem::path& file) {
  text_input in(file);
  bfs_graph read;
  const std::int64_t nodes = in.integer("the number of nodes", 1, 300'000'000);
  std::vector<std::int32_t> starts, degrees;
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < nodes; ++i) {
    starts.push_back(static_cast<std::int32_t>(in.integer("the first edge of a node", 0, max_bfs_edges)));
    degrees.push_back(static_cast<std::int32_t>(in.integer("the degree of a node", 0, max_bfs_edges)));
    if (starts.back() != sum) in.refuse(fmt::format("the edges of node {} should begin at {}", i, sum));
    if ((sum += degrees.back()) > max_bfs_edges) in.refuse("there are more than 2,000,000,000 edges");
  }
  read.source = static_cast<std::int32_t>(in.integer("the source", 0, nodes - 1));
  const std::int64_t edges = in.integer("the number of edges", 0, max_bfs_edges);
  if (edges != sum) in.refuse(fmt::format("there are {} edges, and the degrees add up to {}", edges, sum));
  for (std::int64_t k = 0; k < edges; ++k) {
    read.edges.targets.push_back(static_cast<std::int32_t>(in.integer("the target of an edge", 0, nodes - 1)));
    in.number("the weight of an edge");
  }
  in.expect_end();
  read.edges.starts = std::move(starts);
  read.edges.starts.push_back(static_cast<std::int32_t>(sum));
  return read;
}

bfs_edges reversed(const bfs_edges& edges) {
  std::vector<std::pair<std::int32_t, std::int32_t>> all;
  all.reserve(edges.targets.size());
  for (std::int32_t i = 0; i < edges.nodes(); ++i)
    for (const std::int32_t to : edges.of(i)) all.emplace_back(to, i);
  return bfs_sorted(edges.nodes(), all);
}

std::vector<std::int32_t> bfs_serial(const bfs_graph& graph) {
  std::vector<std::int32_t> levels(graph.edges.starts.size() - 1, -1), queue{graph.source};
  levels[static_cast<std::size_t>(graph.source)] = 0;
  for (std::size_t k = 0; k < queue.size(); ++k)
    for (const std::int32_t to : graph.edges.of(queue[k]))
      if (std::int32_t& level = levels[static_cast<std::size_t>(to)]; level < 0) {
        level = levels[static_cast<std::size_t>(queue[k])] + 1;
        queue.push_back(to);
      }
  return levels;
}

std::vector<std::int64_t> bfs_level_sizes(std::span<const std::int32_t> levels) {
  std::vector<std::int64_t> sizes;
  for (const std::int32_t level : levels) {
    if (level < 0) continue;
    if (static_cast<std::size_t>(level) >= sizes.size()) sizes.resize(static_cast<std::size_t>(level) + 1);
    ++sizes[static_cast<std::size_t>(level)];
  }
  return sizes;
}

workload bfs_workload(const bfs_edges& edges, std::span<const std::int64_t> level_sizes, bool lists) {
  constexpr double number = sizeof(std::int32_t), flag = sizeof(std::uint8_t);
  const auto nodes = static_cast<double>(edges.nodes()), all = static_cast<double>(edges.targets.size());
  region_work list{.region = "list"}, mark{.region = "mark"}, scan{.region = "scan"};
  double reached = 1;
  bool scans = !lists;
  for (std::size_t level = 0; level < level_sizes.size(); ++level) {  // looks for the next one
    const auto here = static_cast<double>(level_sizes[level]),
               next = level + 1 < level_sizes.size() ? static_cast<double>(level_sizes[level + 1]) : 0;
    scans = scans || level_sizes[level] >= edges.nodes() / 16;
    if (scans) {
      if (level > 0) mark.bytes += nodes * (number + flag);
      scan.bytes += nodes * number + (nodes - reached) * (2 * number + flag) + next * number;
    } else {
      list.bytes += here * 3 * number + here * all / nodes * 2 * number + next * 2 * number;
    }
    reached += next;
  }
  return {(3 * nodes + 2 * all) * number + nodes * flag, {list, mark, scan}};
}

}  // namespace tessera::apps::rodinia
