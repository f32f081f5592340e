#include "tessera/detail/editable_tree.hpp"

#include "core/base/call_site.hpp"
#include "core/base/lifetime.hpp"
#include "core/runtime/program_side.hpp"
#include "hierarchy/region/live_tree.hpp"
#include "hierarchy/region/tree_edits.hpp"

namespace tessera {

editable_tree::editable_tree(runtime& of)
    : m_runtime(&of), m_alive(program_side_of(of).alive), m_live(hierarchy::live_tree::of(of)) {}
editable_tree::~editable_tree() = default;

runtime& editable_tree::owner(std::source_location site) const {
  if (m_alive->ended())
    throw error(error_kind::usage, "the runtime of a location model has ended", file_and_line(site),
                "end models, and use them, while their runtime lives");
  return *m_runtime;
}

hierarchy::tree_edits editable_tree::edits(std::source_location site) const { return {owner(site), *m_live}; }

void editable_tree::detach(std::string_view at, std::source_location site) { edits(site).detach(at, site); }
void editable_tree::attach(std::string_view at, std::string_view parent, std::source_location site) {
  edits(site).attach(at, parent, site);
}
void editable_tree::reparent(std::string_view at, std::string_view parent, std::source_location site) {
  edits(site).reparent(at, parent, site);
}
void editable_tree::arrange(const location::tree& wanted, std::source_location site) {
  edits(site).arrange(wanted, site);
}

bool editable_tree::attached(std::string_view at, std::source_location site) const {
  const std::shared_ptr<const location::tree> now = tree();
  const auto found = now->find(at);
  if (!found) (void)hierarchy::attached_location(*now, at, file_and_line(site));  // which says so
  return now->attached(*found);
}

std::shared_ptr<const location::tree> editable_tree::tree() const { return m_live->now(); }

}  // namespace tessera
