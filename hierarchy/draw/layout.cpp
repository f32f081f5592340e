#include "hierarchy/draw/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "hierarchy/draw/facts.hpp"

namespace tessera::hierarchy {
namespace {

using location::node_id;

struct extent {
  int width = 0, height = 0;
};

class arranger {
 public:
  arranger(const location::tree& tree, const drawing& what, const metrics& sizes)
      : m_tree(tree), m_what(what), m_sizes(sizes) {}

  std::vector<box> run() {
    measure(m_what.from);
    place(m_what.from, m_sizes.margin, m_sizes.margin);
    return std::move(m_boxes);
  }

 private:
  struct measured {
    std::vector<std::string> lines;
    extent text, all;
    int row_width = 0;  // children flow into rows of this width
  };
  const location::tree& m_tree;
  const drawing& m_what;
  const metrics& m_sizes;
  std::map<node_id, measured> m_measured;
  std::vector<box> m_boxes;

  std::vector<std::string> lines_of(node_id id) const {
    const location::properties& is = m_tree.at(id).properties;
    std::vector<std::string> lines{is.name};
    // A core says which CPUs it is; its caches are the same as its neighbours' and go into the tooltip.
    const auto more = is_core(is) ? std::vector{cpus_text(is.cpus)} : facts(is);
    lines.insert(lines.end(), more.begin(), more.end());
    for (const peer_link& link : m_what.peers)
      if (link.from == id)
        lines.push_back(
            fmt::format("to {} {}", m_tree.at(link.to).properties.name, link_text(link.bandwidth, link.latency_ns)));
    if (m_what.note)
      if (std::string note = m_what.note(id); !note.empty()) lines.push_back(std::move(note));
    return lines;
  }

  /// Flows the children into rows of at most `width`; calls at(child, x, y) and returns the extent of all.
  template <typename function>
  extent flow(const std::vector<node_id>& children, int width, function&& at) const {
    extent total;
    int x = 0, y = 0, row = 0;
    for (const node_id child : children) {
      const extent size = m_measured.at(child).all;
      if (x > 0 && x + size.width > width) {
        y += row + m_sizes.margin;
        x = row = 0;
      }
      at(child, x, y);
      total.width = std::max(total.width, x + size.width);
      row = std::max(row, size.height);
      x += size.width + m_sizes.margin;
    }
    total.height = y + row;
    return total;
  }

  void measure(node_id id) {
    const auto& children = m_tree.at(id).children;
    for (const node_id child : children) measure(child);
    // Like boxes side by side get the same size: a grid reads better than a wall of bricks.
    extent largest;
    for (const node_id child : children)
      if (is_core(m_tree.at(child).properties)) {
        largest.width = std::max(largest.width, m_measured[child].all.width);
        largest.height = std::max(largest.height, m_measured[child].all.height);
      }
    for (const node_id child : children)
      if (is_core(m_tree.at(child).properties) && m_tree.at(child).children.empty()) m_measured[child].all = largest;

    measured mine;
    mine.lines = lines_of(id);
    for (std::size_t i = 0; i < mine.lines.size(); ++i)
      mine.text.width =
          std::max(mine.text.width, text_width(mine.lines[i], i == 0 ? m_sizes.name_size : m_sizes.fact_size));
    mine.text.height = m_sizes.line * static_cast<int>(mine.lines.size());
    mine.all = {mine.text.width + 2 * m_sizes.margin, mine.text.height + m_sizes.margin + m_sizes.margin / 2};
    if (!children.empty()) {
      const extent inside = best_rows(children, mine);
      mine.all.width = std::max(mine.all.width, inside.width + 2 * m_sizes.margin);
      mine.all.height += inside.height + m_sizes.margin;
    }
    m_measured[id] = std::move(mine);
  }

  /// Width of the widest row when each row has `count` children.
  int width_of_rows(const std::vector<node_id>& children, std::size_t count) const {
    int widest = 0, width = 0;
    for (std::size_t i = 0; i < children.size(); ++i) {
      width = i % count == 0 ? 0 : width + m_sizes.margin;
      width += m_measured.at(children[i]).all.width;
      widest = std::max(widest, width);
    }
    return widest;
  }

  /// Tries every number of children per row; the best shape is nearest to a page turned sideways.
  extent best_rows(const std::vector<node_id>& children, measured& mine) const {
    extent best;
    double best_cost = 0;
    for (std::size_t count = 1; count <= children.size(); ++count) {
      const int candidate = std::max(width_of_rows(children, count), mine.text.width);
      const extent tried = flow(children, candidate, [](node_id, int, int) {});
      const double cost = std::max(tried.width / 1.6, static_cast<double>(tried.height + mine.text.height));
      if (best.width != 0 && cost >= best_cost) continue;
      best = tried;
      best_cost = cost;
      mine.row_width = candidate;
    }
    return best;
  }

  void place(node_id id, int x, int y) {
    const measured& mine = m_measured.at(id);
    m_boxes.push_back({id, x, y, mine.all.width, mine.all.height, mine.lines});
    const int left = x + m_sizes.margin, top = y + mine.text.height + m_sizes.margin + m_sizes.margin / 2;
    std::vector<std::pair<node_id, std::pair<int, int>>> places;
    flow(m_tree.at(id).children, mine.row_width, [&](node_id child, int dx, int dy) {
      places.push_back({child, {left + dx, top + dy}});
    });
    for (const auto& [child, at] : places) place(child, at.first, at.second);
  }
};

}  // namespace

int text_width(const std::string& text, int size) {
  // Two thirds of the size is wider than nearly every letter of the common sans-serif faces. Bytes that continue a
  // UTF-8 sequence take no room.
  const auto letters =
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
  return static_cast<int>(letters) * size * 2 / 3;
}

std::vector<box> layout(const location::tree& tree, const drawing& what, const metrics& sizes) {
  return arranger(tree, what, sizes).run();
}

}  // namespace tessera::hierarchy
