#include <fmt/format.h>

#include "core/config/quote.hpp"
#include "hierarchy/draw/draw.hpp"
#include "hierarchy/draw/facts.hpp"

namespace tessera::hierarchy {
namespace {

using location::kind;
using location::node_id;

std::string style_of(const location::properties& is) {
  switch (is.kind) {
    case kind::machine:
      return "shape=box, style=\"rounded,filled\", fillcolor=\"#eceff1\"";
    case kind::memory:
      return "shape=box, style=\"rounded,filled\", fillcolor=\"#d6e8f7\"";
    case kind::worker:
      return is_core(is) ? "shape=box, style=filled, fillcolor=\"#dcf0dc\""
                         : "shape=box3d, style=filled, fillcolor=\"#fde3c8\"";
    case kind::virtual_group:
      return "shape=box, style=\"rounded,dashed\"";
    case kind::storage:
      return "shape=cylinder, style=filled, fillcolor=\"#f3e6b3\"";
  }
  return {};
}

void add(std::string& text, const location::tree& tree, node_id top, const drawing& what) {
  for (const node_id id : tree.subtree(top)) {
    const location::properties& is = tree.at(id).properties;
    std::string label = is.name;
    for (const std::string& fact : facts(is)) label += "\n" + fact;
    if (what.note)
      if (const std::string note = what.note(id); !note.empty()) label += "\n" + note;
    text += fmt::format("  n{} [label={}, {}];\n", id, config::in_quotes(label), style_of(is));
    if (id != top) text += fmt::format("  n{} -> n{};\n", tree.at(id).parent, id);
  }
}

}  // namespace

std::string to_dot(const location::tree& tree, const drawing& what) {
  std::string text =
      "digraph locations {\n  rankdir=LR;\n  node [fontname=\"sans-serif\", fontsize=10];\n  edge [arrowhead=none];\n";
  add(text, tree, what.from, what);
  if (what.from == tree.root())
    for (const node_id head : detached_heads(tree)) add(text, tree, head, what);
  for (const auto& [link, both_ways] : pairs_of(what.peers))
    text += fmt::format(
        "  n{} -> n{} [constraint=false, style=dashed, dir={}, arrowhead=normal, arrowtail=normal, fontsize=9, "
        "label={}];\n",
        link.from, link.to, both_ways ? "both" : "forward",
        config::in_quotes(link_text(link.bandwidth, link.latency_ns)));
  return text + "}\n";
}

}  // namespace tessera::hierarchy
