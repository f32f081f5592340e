#include "core/trace/dot.hpp"

#include <algorithm>
#include <ostream>
#include <unordered_set>

#include "core/base/units.hpp"
#include "core/trace/json_text.hpp"
#include "core/trace/summary.hpp"

namespace tessera::trace {
namespace {

constexpr const char* colours[] = {"#8dd3c7", "#ffffb3", "#bebada", "#fb8072", "#80b1d3",
                                   "#fdb462", "#b3de69", "#fccde5", "#d9d9d9", "#bc80bd"};

/// In quotes, as Graphviz reads it.
std::string quoted(const std::string& text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    if (c == '\n')
      made += "\\n";
    else
      made += c;
  }
  return made + "\"";
}

}  // namespace

void write_dot(std::ostream& to, const timeline& of, std::size_t most) {
  const std::size_t count = std::min(most, of.tasks.size());
  const std::vector<std::uint32_t> path = critical_path(of);
  const std::unordered_set<std::uint32_t> on_path(path.begin(), path.end());
  std::string label = of.title;
  if (count < of.tasks.size()) label += fmt::format(" (the first {} of {} tasks)", count, of.tasks.size());
  to << "digraph run {\n  label=" << quoted(label)
     << ";\n  labelloc=t;\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n";
  for (std::uint32_t k = 0; k < count; ++k) {
    const task& t = of.tasks[k];
    const std::string words =
        fmt::format("{}\n{}\n{}, {}", of.operations[t.operation], of.sites[t.site], of.tracks[t.track].name,
                    format_seconds(static_cast<double>(t.ended - t.started) * 1e-9));
    to << fmt::format("  t{} [label={}, fillcolor=\"{}\"{}];\n", k, quoted(words),
                      t.view ? "white" : colours[t.operation % std::size(colours)],
                      on_path.contains(k) ? ", penwidth=3" : "");
  }
  for (std::uint32_t k = 0; k < count; ++k)
    for (std::uint32_t p = 0; p < of.tasks[k].predecessor_count; ++p) {
      const std::uint32_t before = of.predecessors[of.tasks[k].first_predecessor + p];
      if (before >= count) continue;
      to << fmt::format("  t{} -> t{}{};\n", before, k,
                        on_path.contains(before) && on_path.contains(k) ? " [penwidth=3]" : "");
    }
  to << "}\n";
}

std::string graph_json(const timeline& of, std::size_t most) {
  using json = nlohmann::ordered_json;
  const std::size_t count = std::min(most, of.tasks.size());
  const std::vector<std::uint32_t> path = critical_path(of);
  const std::unordered_set<std::uint32_t> on_path(path.begin(), path.end());
  const auto seconds = [](nanoseconds ns) { return static_cast<double>(ns) * 1e-9; };
  json made = {{"title", of.title}, {"all_tasks", of.tasks.size()}, {"tasks", json::array()}};
  for (std::uint32_t k = 0; k < count; ++k) {
    const task& t = of.tasks[k];
    json after = json::array();
    for (std::uint32_t p = 0; p < t.predecessor_count; ++p)
      if (const std::uint32_t before = of.predecessors[t.first_predecessor + p]; before < count)
        after.push_back(before);
    made["tasks"].push_back({{"operation", of.operations[t.operation]},
                             {"site", of.sites[t.site]},
                             {"location", of.tracks[t.track].name},
                             {"start", seconds(t.started)},
                             {"seconds", seconds(t.ended - t.started)},
                             {"after", std::move(after)},
                             {"critical", on_path.contains(k)}});
  }
  return made.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace tessera::trace
