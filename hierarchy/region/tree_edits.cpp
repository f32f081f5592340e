#include "hierarchy/region/tree_edits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/call_site.hpp"
#include "core/base/error.hpp"
#include "core/placement/place.hpp"
#include "core/runtime/program_side.hpp"
#include "core/schedule/recordings.hpp"
#include "core/schedule/view_requests.hpp"
#include "core/schedule/waits.hpp"
#include "hierarchy/region/plan.hpp"

namespace tessera::hierarchy {
namespace {

using location::node_id;

const std::string& name_in(const location::tree& tree, node_id id) { return tree.at(id).properties.name; }

/// Whether it must be the same thing under the same name: it executes, or it keeps what devices or disks have.
bool is_real(const location::properties& is) {
  return is.kind == location::kind::worker || is.kind == location::kind::storage;
}

void require_same(const location::properties& known, const location::properties& wanted) {
  if (is_real(known) != is_real(wanted) || (is_real(known) && known.kind != wanted.kind))
    throw error(error_kind::configuration,
                fmt::format("location '{}' is of kind {} in this run, and would be of kind {}", wanted.name,
                            name_of(known.kind), name_of(wanted.kind)),
                {}, "give the new location another name");
  if (is_real(known) && (known.space != wanted.space || known.device != wanted.device || known.cpus != wanted.cpus))
    throw error(error_kind::configuration,
                fmt::format("location '{}' would be another device, or other cores, than in this run", wanted.name), {},
                "what executes keeps its name while the program runs; groups above it may get new names");
}

/// Of each location of `wanted`, its number among those of `known`, which gets those that are new.
std::map<node_id, node_id> numbers_in(location::tree& known, const location::tree& wanted) {
  std::map<node_id, node_id> numbers{{wanted.root(), known.root()}};
  for (const node_id id : wanted.subtree(wanted.root())) {
    if (id == wanted.root()) continue;
    const location::properties& is = wanted.at(id).properties;
    if (const auto same = known.find(is.name)) {
      require_same(known.at(*same).properties, is);
      numbers[id] = *same;
    } else if (is_real(is)) {
      throw error(error_kind::configuration, fmt::format("there is no '{}' in this run", is.name), {},
                  "devices, cores and disks are those that the program was started with, under the names of then; "
                  "only groups and memories may be new");
    } else {
      location::properties fresh = is;
      fresh.declared_bytes = 0;  // limits are those of the start
      numbers[id] = known.add(known.root(), std::move(fresh));
    }
  }
  return numbers;
}

std::vector<node_id> attached_only_in(const location::tree& one, const location::tree& other) {
  std::vector<node_id> nodes;
  for (node_id id = 0; id < one.known(); ++id)
    if (one.attached(id) && (id >= other.known() || !other.attached(id))) nodes.push_back(id);
  return nodes;
}

/// What executes has no parts.
void require_parent(const location::tree& tree, node_id parent) {
  if (tree.at(parent).properties.kind == location::kind::worker)
    throw error(error_kind::usage,
                fmt::format("location '{}' executes, and can have nothing below it", name_in(tree, parent)), {},
                "name a group or a memory as the parent");
}

}  // namespace

location::tree arranged(const location::tree& now, const location::tree& wanted) {
  location::tree next = now;
  const std::map<node_id, node_id> numbers = numbers_in(next, wanted);
  std::map<node_id, node_id> others;  // of locations that are not wanted, the parent, where it is not wanted either
  const auto is_wanted = [&](node_id id) {
    return std::ranges::any_of(numbers, [&](const auto& pair) { return pair.second == id; });
  };
  for (node_id id = 1; id < next.known(); ++id) {
    const node_id parent = next.at(id).parent;
    if (parent == location::no_node) continue;
    if (!is_wanted(id) && !is_wanted(parent)) others[id] = parent;
    next.detach(id);
  }
  for (const node_id id : wanted.subtree(wanted.root()))  // parents first, so there are no cycles
    if (id != wanted.root()) next.attach(numbers.at(id), numbers.at(wanted.at(id).parent));
  for (const auto& [id, parent] : others) next.attach(id, parent);
  return next;
}

void tree_edits::require_may_wait(std::string_view call, std::source_location site) const {
  const program_side& side = program_side_of(m_runtime);
  const auto refuse = [&](std::string text, std::string hint) {  // only then is the place made to text
    throw error(error_kind::usage, std::move(text), file_and_line(site), std::move(hint));
  };
  if (side.recordings.current() != nullptr)
    refuse(fmt::format("{} inside a recording", call),
           "a recording keeps tasks alone: call it before the recording, or behind a replay");
  if (!side.waits.in_program())
    refuse(fmt::format("{} inside a task", call), "it waits for tasks: call it in the program's own threads");
  if (const std::uint32_t views = side.views.held_here(); views != 0)
    refuse(while_holding_views(call, views), "let views end before: regions may need their arrays");
}

void tree_edits::detach(std::string_view location, std::source_location site) {
  require_may_wait("detach", site);
  edit(site, [&](location::tree& next) {
    const node_id id = m_tree.at(location);
    if (id == next.root())
      throw error(error_kind::usage, fmt::format("'{}' is the root of the tree, which stays", location), {},
                  "detach what is below it");
    next.detach(id);
  });
}

void tree_edits::attach(std::string_view location, std::string_view parent, std::source_location site) {
  require_may_wait("attach", site);
  edit(site, [&](location::tree& next) {
    const auto id = next.find(location);
    if (!id || next.attached(*id)) {
      (void)m_tree.at(location);
      throw error(error_kind::usage, fmt::format("location '{}' is attached already", location), {},
                  "reparent moves it to another parent");
    }
    if (next.at(*id).parent != location::no_node)
      throw error(
          error_kind::usage,
          fmt::format("location '{}' is below '{}', which is detached", location, name_in(next, next.at(*id).parent)),
          {}, "attach that one, or reparent this one to a location that is attached");
    const node_id before = m_tree.parent_before(*id);
    const node_id above = !parent.empty() ? m_tree.at(parent) : before == location::no_node ? next.root() : before;
    if (!next.attached(above))
      throw error(error_kind::usage,
                  fmt::format("location '{}' was below '{}', which is detached", location, name_in(next, above)), {},
                  "attach that one before, or name another parent");
    require_parent(next, above);
    next.attach(*id, above);
  });
}

void tree_edits::reparent(std::string_view location, std::string_view parent, std::source_location site) {
  require_may_wait("reparent", site);
  edit(site, [&](location::tree& next) {
    const node_id above = m_tree.at(parent);
    const auto id = next.find(location);
    if (!id) (void)m_tree.at(location);
    if (*id == next.root())
      throw error(error_kind::usage, fmt::format("'{}' is the root of the tree, which has no parent", location), {},
                  "move what is below it");
    if (next.is_ancestor(*id, above))
      throw error(error_kind::usage,
                  fmt::format("location '{}' cannot go below '{}': that would be a cycle", location, parent), {},
                  fmt::format("the path of '{}' is {}", parent, next.path(above)));
    require_parent(next, above);
    next.reparent(*id, above);
  });
}

void tree_edits::arrange(const location::tree& wanted, std::source_location site) {
  require_may_wait("arrange", site);
  edit(site, [&](location::tree& next) { next = arranged(next, wanted); });
}

void tree_edits::wait_below(std::string_view location, std::source_location site) {
  require_may_wait("fence", site);
  const auto tree = m_tree.now();
  wait_for(tree->subtree(attached_location(*tree, location, file_and_line(site))));
}

void tree_edits::edit(std::source_location site, const change& by) {
  const std::lock_guard one_at_a_time(m_tree.edits());
  const std::shared_ptr<const location::tree> now = m_tree.now();
  location::tree next = *now;
  with_place(site, [&] {
    by(next);
    if (leaves_of_region(next, next.root()).empty())
      throw error(error_kind::usage, "no core of the host would be left to run regions", {},
                  "attach another location with cores before");
  });
  const std::vector<node_id> leaving = attached_only_in(*now, next), added = attached_only_in(next, *now);
  std::vector<node_id> coming = devices_among(added, false);
  if (added.size() > 1)  // with its branch comes also what is lost, and runs nothing; alone it is refused
    std::erase_if(coming, [&](node_id device) { return is_lost(device); });
  std::vector<node_id> gone, come;
  const live_tree::state before = replace(next, site);
  try {
    for (const node_id device : coming) {
      m_runtime.attach(device);
      come.push_back(device);
    }
    for (const node_id device : devices_among(leaving, true)) {
      m_runtime.detach(device);
      gone.push_back(device);
    }
  } catch (...) {
    m_tree.restore(before);
    for (const node_id device : gone) m_runtime.attach(device);
    for (const node_id device : come) m_runtime.detach(device);
    throw;
  }
  wait_for(leaving);
}

/// Arrays that have ended give their memory back with their last tasks.
live_tree::state tree_edits::replace(const location::tree& next, std::source_location site) {
  try {
    return m_tree.replace(next, site);
  } catch (const error&) {
    program_side_of(m_runtime).waits.wait(schedule::wait_request::quietly());
    return m_tree.replace(next, site);
  }
}

/// Those that the runtime knows as devices which compute, and that are there or not.
std::vector<node_id> tree_edits::devices_among(const std::vector<node_id>& nodes, bool attached) const {
  std::vector<node_id> found;
  const location::tree& all = m_runtime.tree();
  for (const node_id id : nodes) {
    if (id >= all.known()) continue;
    const location::properties& is = all.at(id).properties;
    if (is.kind == location::kind::worker && is.space && m_runtime.attached(id) == attached) found.push_back(id);
  }
  return found;
}

bool tree_edits::is_lost(node_id device) const {
  return std::ranges::any_of(program_side_of(m_runtime).places, [&](const auto& place) {
    return !place->is_host && place->state.load() == placement::place_state::lost &&
           m_runtime.tree().is_ancestor(place->location, device);
  });
}

void tree_edits::wait_for(const std::vector<node_id>& leaves) {
  const program_side& side = program_side_of(m_runtime);
  if (m_tree.any_recorded(leaves))
    side.waits.wait(schedule::wait_request::quietly());  // nobody counts the tasks of replays
  side.waits.wait(schedule::wait_request::for_condition([works = m_tree.works_at(leaves)] {
    return std::ranges::all_of(
        works, [](const std::shared_ptr<leaf_work>& w) { return w->under_way.load(std::memory_order_acquire) == 0; });
  }));
}

}  // namespace tessera::hierarchy
