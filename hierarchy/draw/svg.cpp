#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "hierarchy/draw/draw.hpp"
#include "hierarchy/draw/facts.hpp"
#include "hierarchy/draw/layout.hpp"

namespace tessera::hierarchy {
namespace {

using location::kind;

struct look {
  const char* word;
  const char* fill;
  const char* border;
  bool dashed;
};
constexpr std::array<look, 6> looks{{{"machine", "#f4f6f7", "#90a4ae", false},
                                     {"group", "#ffffff", "#90a4ae", true},
                                     {"memory", "#e3effa", "#5b8fc0", false},
                                     {"core", "#dff2df", "#6aa56a", false},
                                     {"device", "#fdebd7", "#d08a3c", false},
                                     {"storage", "#f6efd2", "#b59f45", false}}};

const look& look_of(const location::properties& is) {
  switch (is.kind) {
    case kind::machine:
      return looks[0];
    case kind::virtual_group:
      return looks[1];
    case kind::memory:
      return looks[2];
    case kind::worker:
      return looks[is_core(is) ? 3 : 4];
    case kind::storage:
      return looks[5];
  }
  return looks[0];
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;  // control characters are not XML
    }
  }
  return out;
}

std::string rectangle(int x, int y, int width, int height, const look& l) {
  return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"5\" fill=\"{}\" stroke=\"{}\"{}/>", x, y,
                     width, height, l.fill, l.border, l.dashed ? " stroke-dasharray=\"5 3\"" : "");
}

}  // namespace

std::string to_svg(const location::tree& tree, const drawing& what) {
  const metrics sizes;
  const std::vector<box> boxes = layout(tree, what, sizes);
  const box& outer = boxes.front();
  const int legend_item = 80, legend_width = legend_item * static_cast<int>(looks.size());
  const int width = std::max(outer.width, legend_width) + 2 * sizes.margin;
  const int legend_y = outer.y + outer.height + sizes.margin;
  const int height = legend_y + 14 + sizes.margin;

  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"DejaVu Sans, Verdana, Arial, sans-serif\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
      width, height);
  for (const box& b : boxes) {
    const location::properties& is = tree.at(b.id).properties;
    std::string tip = tree.path(b.id);
    for (const std::string& fact : facts(is)) tip += ", " + fact;
    text += fmt::format("<g><title>{}</title>{}\n", escaped(tip), rectangle(b.x, b.y, b.width, b.height, look_of(is)));
    for (std::size_t i = 0; i < b.lines.size(); ++i)
      text += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\"{}>{}</text>\n", b.x + sizes.margin,
                          b.y + sizes.margin / 2 + sizes.line * static_cast<int>(i + 1) - 3,
                          i == 0 ? sizes.name_size - (is_core(is) ? 2 : 0) : sizes.fact_size,
                          i == 0 ? " font-weight=\"bold\" fill=\"#263238\"" : " fill=\"#546e7a\"", escaped(b.lines[i]));
    text += "</g>\n";
  }
  int x = sizes.margin;
  for (const look& l : looks) {
    text += rectangle(x, legend_y, 14, 14, l);
    text += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"#546e7a\">{}</text>\n", x + 20, legend_y + 11,
                        sizes.fact_size, l.word);
    x += legend_item;
  }
  return text + "</svg>\n";
}

}  // namespace tessera::hierarchy
