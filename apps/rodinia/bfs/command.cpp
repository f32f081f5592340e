#include <fmt/format.h>

#include <algorithm>

#include "apps/common/application.hpp"
#include "apps/common/value_options.hpp"
#include "apps/rodinia/bfs/kernel.hpp"
#include "apps/rodinia/commands.hpp"

namespace tessera::apps::rodinia {
namespace {

struct bfs_options : application_options {
  std::int64_t size = 1'000'000;
  std::string graph;
  bool scan = false;
};

void load_bfs_edges(application_run& f, const bfs_edges& edges, const array<std::int32_t>& starts,
                    const array<std::int32_t>& targets) {
  load<std::int32_t>(f.model(), f.how(), starts, edges.starts);
  std::vector<std::int32_t> all = edges.targets;
  all.push_back(0);
  load<std::int32_t>(f.model(), f.how(), targets, all);
}

void run_bfs(application_run& f, const bfs_options& o) {
  const bfs_graph graph =
      o.graph.empty() ? make_bfs_graph(static_cast<std::int32_t>(o.size), o.seed) : read_bfs_graph(o.graph);
  const auto edges = static_cast<std::int64_t>(graph.edges.targets.size());
  f.s().require_memory(8.0 * static_cast<double>(edges) + 21.0 * graph.edges.nodes(), "the graph");
  bfs_kernel search(f.model(), f.how(), graph.edges.nodes(), edges);
  load_bfs_edges(f, graph.edges, search.starts, search.targets);
  load_bfs_edges(f, reversed(graph.edges), search.sources_starts, search.sources);
  f.input(fmt::format("{} nodes, {} edges, from node {}, {}", graph.edges.nodes(), edges, graph.source,
                      o.graph.empty() ? fmt::format("seed {}", o.seed) : o.graph));
  search.start(graph.source);
  f.main_part([&] { search.run(!o.scan); });
  const auto levels = search.levels.read();
  std::int64_t sum = 0;
  for (const std::int32_t level : levels) sum += std::max(level, 0);
  const std::vector<std::int64_t> sizes = bfs_level_sizes(levels.elements());
  f.compare_with(bfs_workload(graph.edges, sizes, !o.scan));
  f.checksum("sum of levels", sum);
  f.checksum("levels", static_cast<std::int64_t>(sizes.size()));
  f.checksum("largest level", *std::max_element(sizes.begin(), sizes.end()));
  if (f.verify()) f.check("equal to a serial search", std::ranges::equal(levels.elements(), bfs_serial(graph)));
}

}  // namespace

void add_bfs(command_table& to) {
  auto o = std::make_shared<bfs_options>();
  o->seed = 7;
  command_table& sub = add_application(to,
                                       {"bfs", "Levels of a graph's nodes, seen from one of them",
                                        "tessera bfs --size 1000000 --policy flatten --verify"},
                                       o, [o](application_run& f) { run_bfs(f, *o); });
  sub.add({number_option("--size", o->size, "nodes of a synthetic graph", 1, 300'000'000),
           {"--graph", &o->graph, "FILE", "a graph; instead of --size", {.excludes = {"--size"}}},
           {"--scan", &o->scan, "", "scan all nodes at every level, also where a level is small"}});
}

}  // namespace tessera::apps::rodinia
