#include "hierarchy/region/picture.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "core/base/units.hpp"
#include "hierarchy/draw/draw.hpp"

namespace tessera::hierarchy {
namespace {

/// Items of one kind, of which the first few are named.
class named_items {
 public:
  void add(std::string item) {
    ++m_count;
    if (m_count > most) return;
    if (!m_text.empty()) m_text += ", ";
    m_text += std::move(item);
  }
  std::string text() const { return m_count > most ? fmt::format("{} and {} more", m_text, m_count - most) : m_text; }

 private:
  static constexpr std::size_t most = 4;
  std::size_t m_count = 0;
  std::string m_text;
};

struct location_facts {
  named_items arrays, shares;
};

using facts_by_location = std::map<location::node_id, location_facts>;

/// Several pieces of one leaf are one share.
void add_shares(facts_by_location& to, const location::tree& tree, const region_row& region) {
  if (region.iterations == 0) return;
  std::map<location::node_id, std::uint64_t> shares;
  for (const region_share& s : region.shares)
    if (const auto leaf = tree.find(s.leaf)) shares[*leaf] += static_cast<std::uint64_t>(s.iterations);
  for (const auto& [leaf, iterations] : shares)
    to[leaf].shares.add(fmt::format("{} {:.3g} %", region.name,
                                    100.0 * static_cast<double>(iterations) / static_cast<double>(region.iterations)));
}

}  // namespace

std::string picture(const location::tree& tree, std::span<const located_array> arrays,
                    std::span<const region_row> regions, tree_form form) {
  facts_by_location facts;
  for (const located_array& a : arrays)
    facts[a.at].arrays.add(fmt::format("{} {}", a.name, format_bytes(static_cast<double>(a.bytes))));
  for (const region_row& r : regions) add_shares(facts, tree, r);
  const drawing what{.note = [&](location::node_id id) {
    const auto found = facts.find(id);
    if (found == facts.end()) return std::string();
    const std::string here = found->second.arrays.text(), shares = found->second.shares.text();
    return here + (here.empty() || shares.empty() ? "" : "; ") + shares;
  }};
  switch (form) {
    case tree_form::svg:
      return to_svg(tree, what);
    case tree_form::dot:
      return to_dot(tree, what);
    case tree_form::json:
      return to_json(tree, what);
    case tree_form::text:
      break;
  }
  return to_text(tree, what);
}

}  // namespace tessera::hierarchy
