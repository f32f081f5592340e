#include <fmt/format.h>

#include <algorithm>

#include "hierarchy/draw/draw.hpp"
#include "hierarchy/draw/facts.hpp"

namespace tessera::hierarchy {
namespace {

using location::node_id;

std::string line_of(const location::tree& tree, node_id id, const drawing& what) {
  const location::properties& is = tree.at(id).properties;
  std::string text = fmt::format("{}  {}", is.name, location::name_of(is.kind));
  for (const std::string& fact : facts(is)) text += ", " + fact;
  if (what.note)
    if (const std::string note = what.note(id); !note.empty()) text += " | " + note;
  return text;
}

class printer {
 public:
  printer(const location::tree& tree, const drawing& what) : m_tree(tree), m_what(what) {}

  std::string run(node_id id) {
    m_text = line_of(m_tree, id, m_what) + "\n";
    below(id, "");
    return std::move(m_text);
  }

 private:
  const location::tree& m_tree;
  const drawing& m_what;
  std::string m_text;

  bool alike(node_id a, node_id b) const {
    const location::node &x = m_tree.at(a), &y = m_tree.at(b);
    const bool noted = m_what.note && (!m_what.note(a).empty() || !m_what.note(b).empty());
    return is_core(x.properties) && is_core(y.properties) && x.children.empty() && y.children.empty() &&
           x.properties.type == y.properties.type && x.properties.cpus.size() == y.properties.cpus.size() && !noted;
  }

  void below(node_id id, const std::string& indent) {
    const auto& children = m_tree.at(id).children;
    for (std::size_t i = 0; i < children.size();) {
      std::size_t end = i + 1;
      while (end < children.size() && alike(children[i], children[end])) ++end;
      if (end - i <= 4) end = i + 1;
      const bool last = end == children.size();
      const std::string branch = indent + (last ? "└── " : "├── ");
      if (end - i == 1) {
        m_text += branch + line_of(m_tree, children[i], m_what) + "\n";
        below(children[i], indent + (last ? "    " : "│   "));
      } else {
        std::vector<std::uint32_t> cpus;
        for (std::size_t k = i; k < end; ++k) {
          const auto& of = m_tree.at(children[k]).properties.cpus;
          cpus.insert(cpus.end(), of.begin(), of.end());
        }
        std::ranges::sort(cpus);
        const location::properties &first = m_tree.at(children[i]).properties,
                                   &final = m_tree.at(children[end - 1]).properties;
        m_text += fmt::format("{}{} … {}  {} workers, each {}, {}\n", branch, first.name, final.name, end - i,
                              first.type.empty() ? "a core" : first.type, cpus_text(cpus));
      }
      i = end;
    }
  }
};

}  // namespace

std::string to_text(const location::tree& tree, const drawing& what) {
  std::string text = printer(tree, what).run(what.from);
  if (what.from == tree.root())
    for (const node_id head : detached_heads(tree)) text += "\ndetached:\n" + printer(tree, what).run(head);
  if (!what.peers.empty()) text += "\nlinks between devices:\n";
  for (const auto& [link, both_ways] : pairs_of(what.peers))
    text += fmt::format("{} {} {}  {}\n", tree.at(link.from).properties.name, both_ways ? "<->" : "->",
                        tree.at(link.to).properties.name, link_text(link.bandwidth, link.latency_ns));
  return text;
}

}  // namespace tessera::hierarchy
