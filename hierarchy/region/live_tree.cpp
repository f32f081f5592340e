#include "hierarchy/region/live_tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <string>
#include <utility>

#include "core/base/call_site.hpp"
#include "core/base/error.hpp"
#include "core/base/suggest.hpp"
#include "core/base/units.hpp"
#include "hierarchy/region/by_runtime.hpp"
#include "hierarchy/region/place.hpp"
#include "hierarchy/region/storage.hpp"

namespace tessera::hierarchy {

void leaf_work::note_recorded(const std::shared_ptr<const void>& by) {
  std::erase_if(recordings, [](const std::weak_ptr<const void>& r) { return r.expired(); });
  recordings.push_back(by);
}

location::node_id attached_location(const location::tree& tree, std::string_view name, const std::string& where) {
  if (const auto found = tree.find(name); found && tree.attached(*found)) return *found;
  refuse_location(tree, name, where);
}

void refuse_location(const location::tree& tree, std::string_view name, const std::string& where) {
  if (tree.find(name))
    throw error(error_kind::usage, fmt::format("location '{}' is detached", name), where, "attach it first");
  std::vector<std::string> names;
  for (const location::node_id node : tree.subtree(tree.root())) names.push_back(tree.at(node).properties.name);
  const std::string near = suggest(name, names);
  throw error(error_kind::usage, fmt::format("there is no location '{}'", name), where,
              near.empty() ? "`tessera topology` lists them" : fmt::format("did you mean '{}'?", near));
}

std::shared_ptr<live_tree> live_tree::of(runtime& rt) {
  static auto& all = *new by_runtime<live_tree>;  // NOLINT: objects of static storage may end models after it would end
  return all.of(rt, [&] { return std::make_shared<live_tree>(rt.tree()); });
}

std::shared_ptr<const location::tree> live_tree::now() const {
  const std::lock_guard guard(m_mutex);
  return m_now;
}

location::node_id live_tree::at(std::string_view name, const std::string& where) const {
  return attached_location(*now(), name, where);
}

namespace {

std::uintptr_t begin_of(array_storage& array) { return reinterpret_cast<std::uintptr_t>(array.tiles().memory()); }

}  // namespace

void live_tree::enter(array_storage& array, bool foreign, std::source_location site) {
  const std::lock_guard guard(m_mutex);
  if (foreign) check_apart(array, site);
  const bool stays = !foreign && !array.is_remade() && array.bytes() != 0;  // fresh memory may change
  m_arrays.emplace(m_last_number + 1, &array);
  array.note_number(++m_last_number);
  if (stays) m_own.insert_or_assign(begin_of(array) + array.bytes(), &array);
  if (!m_now->attached(array.at())) array.place(m_now->root());  // it left since its name was looked up
}

void live_tree::leave(array_storage& array) noexcept {
  const std::lock_guard guard(m_mutex);
  m_arrays.erase(array.number());
  if (const auto own = m_own.find(begin_of(array) + array.bytes()); own != m_own.end() && own->second == &array)
    m_own.erase(own);
}

std::vector<located_array> live_tree::arrays() const {
  const std::lock_guard guard(m_mutex);
  std::vector<located_array> all;
  all.reserve(m_arrays.size());
  for (const auto& [number, a] : m_arrays) all.push_back({a->name(), a->bytes(), a->at()});
  return all;
}

/// With the lock held. Other memory of the program that arrays have is for adopted_ranges.
void live_tree::check_apart(array_storage& array, std::source_location site) const {
  const std::uintptr_t begin = begin_of(array), end = begin + array.bytes();
  const auto other = m_own.upper_bound(begin);  // the first that ends behind `begin`
  if (other != m_own.end() && begin < end && begin_of(*other->second) < end)
    throw error(error_kind::usage,
                fmt::format("array '{}' would have memory that array '{}' has", array.name(), other->second->name()),
                file_and_line(site), "regions of the two would have no order: use one array, and name rows of it");
}

std::string live_tree::location_of(const array_storage& array) const {
  const std::lock_guard guard(m_mutex);  // it may be at a location that is new
  return m_now->at(array.at()).properties.name;
}

std::shared_ptr<memory_claim> live_tree::claim(const std::string& array, std::uint64_t bytes, location::node_id at,
                                               bool of_file, std::source_location site) {
  auto claimed = std::make_shared<memory_claim>(memory_claim{bytes, at, of_file});
  const std::lock_guard guard(m_mutex);
  m_memory.require_room(*m_now, array, *claimed, site);
  m_memory.add(claimed);
  return claimed;
}

void live_tree::give(const std::shared_ptr<memory_claim>& claimed, array_storage& array) const {
  const std::lock_guard guard(m_mutex);
  array.take(claimed);
}

promised_room live_tree::require_room(const std::vector<std::pair<array_storage*, location::node_id>>& moving,
                                      std::source_location site) {
  promised_room::promises promised;
  promised.reserve(moving.size());
  {
    std::deque<placed_on_trial> all;
    for (const auto& [array, to] : moving) {
      const std::shared_ptr<memory_claim>& claimed = array->claimed();
      if (claimed == nullptr || claimed->of_file) continue;
      if (claimed->at != to) {
        all.emplace_back(*claimed, to);
        m_memory.require_room(*m_now, array->name(), *claimed, site);
      }
      claimed->wanted.reserve(claimed->wanted.size() + 1);
      promised.emplace_back(claimed, to);
    }
  }
  for (const auto& [claimed, to] : promised) claimed->wanted.push_back(to);
  return {*this, std::move(promised)};
}

promised_room::~promised_room() {
  if (m_promised.empty()) return;
  const std::lock_guard guard(m_tree->m_mutex);
  for (const auto& [claimed, to] : m_promised)
    if (const auto noted = std::ranges::find(claimed->wanted, to); noted != claimed->wanted.end())
      claimed->wanted.erase(noted);
}

void live_tree::move(array_storage& array, std::string_view to, std::source_location site) {
  const std::lock_guard guard(m_mutex);
  const std::string where = fmt::format("array '{}', moved at {}:{}", array.name(), site.file_name(), site.line());
  const location::node_id target = attached_location(*m_now, to, where);
  const bool is_there =
      target == array.at() || (array.claimed() != nullptr && array.claimed()->of_file && array.claimed()->at == target);
  if (m_now->at(target).properties.kind == location::kind::storage && !is_there)
    throw error(error_kind::usage,
                fmt::format("'{}' is a storage location, and the array's elements are in memory", to), where,
                "make an array there, which is a file, and copy this one to it");
  if (const std::shared_ptr<memory_claim>& claimed = array.claimed();
      claimed != nullptr && !claimed->of_file && claimed->at != target) {
    const placed_on_trial there(*claimed, target);
    m_memory.require_room(*m_now, array.name(), *claimed, site);
  }
  array.place(target);
}

void live_tree::place(array_storage& array, location::node_id to) const {
  const std::lock_guard guard(m_mutex);
  array.place(m_now->attached(to) ? to : m_now->root());
}

const std::shared_ptr<leaf_work>& live_tree::work_at(location::node_id leaf) {
  if (leaf >= m_work.size()) m_work.resize(leaf + 1);
  std::shared_ptr<leaf_work>& work = m_work[leaf];
  if (work == nullptr) work = std::make_shared<leaf_work>();
  return work;
}

std::vector<std::shared_ptr<leaf_work>> live_tree::works_at(const std::vector<location::node_id>& leaves) const {
  std::vector<std::shared_ptr<leaf_work>> found;
  const std::lock_guard guard(m_mutex);
  for (const location::node_id leaf : leaves)
    if (leaf < m_work.size() && m_work[leaf] != nullptr) found.push_back(m_work[leaf]);
  return found;
}

bool live_tree::any_recorded(const std::vector<location::node_id>& leaves) const {
  const std::lock_guard guard(m_mutex);
  return std::ranges::any_of(leaves, [&](location::node_id leaf) {
    return leaf < m_work.size() && m_work[leaf] != nullptr &&
           std::ranges::any_of(m_work[leaf]->recordings, [](const auto& r) { return !r.expired(); });
  });
}

location::node_id live_tree::parent_before(location::node_id detached) const {
  const std::lock_guard guard(m_mutex);
  const auto found = m_parents.find(detached);
  return found != m_parents.end() ? found->second : location::no_node;
}

/// With the lock held: where something in memory at a location is in the next tree.
location::node_id live_tree::kept_in(const location::tree& next, location::node_id at) const {
  if (next.attached(at)) return at;
  while (at != location::no_node && !next.attached(at)) at = m_now->at(at).parent;
  if (at == location::no_node) at = next.root();  // it has left before, while it was asked for
  return memory_above(next, at);
}

/// With the lock held.
void live_tree::require_room_in(const location::tree& next, std::source_location site) const {
  const auto text = [](std::uint64_t bytes) { return format_bytes(static_cast<double>(bytes)); };
  for (location::node_id id = 0; id < m_now->known(); ++id) {  // those that are new declare nothing
    const location::properties& is = next.at(id).properties;
    if (is.declared_bytes == 0 || !next.attached(id)) continue;
    const auto now_at = [&](location::node_id at) { return kept_in(next, at); };
    const std::uint64_t bytes = m_memory.bytes_at(next, id, now_at);
    if (bytes <= is.declared_bytes || bytes <= m_memory.bytes_at(*m_now, id)) continue;
    constexpr std::size_t max_named = 4;
    std::vector<std::string> coming;
    for (const auto& [number, array] : m_arrays) {
      if (array->claimed() == nullptr || array->claimed()->of_file) continue;
      if (next.is_ancestor(id, now_at(array->at())) && !m_now->is_ancestor(id, array->at()))
        coming.push_back(fmt::format("'{}' ({}, at '{}')", array->name(), text(array->bytes()),
                                     m_now->at(array->at()).properties.name));
    }
    const std::size_t more = coming.size() > max_named ? coming.size() - max_named : 0;
    coming.resize(coming.size() - more);
    throw error(error_kind::memory,
                fmt::format("{}{} would come below location '{}', and of the {} of memory that are declared for it at "
                            "{}, arrays would have {}",
                            coming.empty() ? "arrays that have ended" : fmt::format("{}", fmt::join(coming, ", ")),
                            more != 0 ? fmt::format(" and {} more", more) : "", is.name, text(is.declared_bytes),
                            is.declared_at, text(bytes)),
                file_and_line(site),
                "move these arrays to a location that stays above, let arrays end, or declare more memory for the type "
                "of the location");
  }
}

live_tree::state live_tree::replace(const location::tree& next, std::source_location site) {
  auto fresh = std::make_shared<const location::tree>(next);
  const std::lock_guard guard(m_mutex);
  require_room_in(*fresh, site);
  state before{m_now, {}, {}};
  for (const std::shared_ptr<memory_claim>& c : m_memory.claims())  // also of arrays that have ended
    if (!c->of_file && !fresh->attached(c->at)) {
      before.moved_claims.emplace_back(c, c->at);
      c->at = kept_in(*fresh, c->at);
    }
  for (const auto& [number, array] : m_arrays)
    if (!fresh->attached(array->at())) {
      before.moved.emplace_back(number, array->at());
      array->place(kept_in(*fresh, array->at()));
    }
  for (location::node_id id = 0; id < m_now->known(); ++id)
    if (m_now->at(id).parent != location::no_node && fresh->at(id).parent == location::no_node)
      m_parents[id] = m_now->at(id).parent;
  m_now = std::move(fresh);
  return before;
}

void live_tree::restore(const state& before) {
  const std::lock_guard guard(m_mutex);
  location::tree again = *before.tree;
  for (auto id = static_cast<location::node_id>(again.known()); id < m_now->known(); ++id)
    again.detach(again.add(again.root(), m_now->at(id).properties));  // somebody may have seen its number
  m_now = std::make_shared<const location::tree>(std::move(again));
  for (const auto& [c, at] : before.moved_claims)
    if (const std::shared_ptr<memory_claim> claimed = c.lock()) claimed->at = at;
  for (const auto& [number, at] : before.moved)
    if (const auto array = m_arrays.find(number); array != m_arrays.end()) array->second->place(at);
  for (const auto& [number, array] : m_arrays)
    if (!m_now->attached(array->at())) array->place(m_now->root());
}

}  // namespace tessera::hierarchy
