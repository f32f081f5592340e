#include "core/placement/placer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "core/base/units.hpp"
#include "core/operation/tensor.hpp"
#include "core/operation/types_in_words.hpp"
#include "core/task/block_names.hpp"
#include "core/task/replay.hpp"

namespace tessera::placement {

/// The places that could run a task, and what is known of the task.
struct placer::candidates {
  boost::container::small_vector<candidate, 16> all;
  boost::container::small_vector<memory::space_number, 16> spaces;  // of each
  std::uint64_t bytes = 0;
  double work = 0;  // where there is no model
  history::profile* profile = nullptr;
  task_size size;
  bool any_hinted = false;
};

placer::placer(placer_setup setup, std::string_view policy) : m_setup(setup), m_policy(parse_placement(policy)) {}

void placer::begin(const std::vector<std::unique_ptr<place>>& places) {
  m_places = places;
  measure_distances();
  // With one place alone cost has nothing to choose, but what it learns can be asked: by simulations, by later runs
  // with more.
  if (m_policy == placement_policy::cost || (m_setup.plugin != nullptr && m_places.size() > 1)) make_history();
}

void placer::measure_distances() {
  const location::tree& tree = *m_setup.tree;
  m_distances.resize(tree.known() * m_places.size());
  for (location::node_id node = 0; node < tree.known(); ++node)
    for (const auto& e : m_places)
      if (tree.attached(node) && tree.attached(e->location))
        m_distances[node * m_places.size() + e->number] = static_cast<std::uint16_t>(tree.distance(node, e->location));
}

std::uint32_t placer::distance(location::node_id from, const place& to) const noexcept {
  const std::size_t at = std::size_t{from} * m_places.size() + to.number;
  return at < m_distances.size() ? m_distances[at] : 0;
}

bool placer::offers(const place& e, task::record& t) const {
  if (m_segment != nullptr && t.operation == m_segment) return m_offers_segment(e, t);
  const auto accesses = t.all_accesses();
  const element_type type = accesses.empty() ? element_type::none : accesses[0].block->type;
  if (!t.operation->runs_on(*e.device, type, e.is_host)) return false;
  return (t.flags & task::flag_accumulates) == 0 || operation::can_zero(*e.device, type);  // its private copy
}

bool placer::obeys_hint(const place& e, const task::record& t) const {
  const location::tree& tree = *m_setup.tree;
  if (t.hint == location::no_node) return false;
  // A core below a memory is served by the workers of that memory; a device that hangs below it is not.
  return tree.is_ancestor(t.hint, e.location) ||
         std::ranges::any_of(e.cpus, [&](location::node_id cpu) { return tree.is_ancestor(t.hint, cpu); });
}

std::uint64_t placer::workspace_at(const place& e, task::record& t) {
  if (e.is_host || t.operation->workspace == nullptr) return 0;
  return t.operation->workspace(*e.device, t.argument_bytes(), t.all_accesses());
}

std::uint64_t placer::allocated_size_in(const place& e, task::record& t, std::uint64_t workspace) const {
  const memory::space& space = m_setup.coherence->space_at(e.space);
  if (workspace > std::min(space.limit(), space.largest())) return ~std::uint64_t{0};  // sums may begin from 0 again
  std::uint64_t bytes = workspace == 0 ? 0 : space.allocated_size(workspace);
  for (const block::access& a : t.all_accesses()) {
    if (m_setup.coherence->adopted().is_home(*a.block, e.space)) continue;  // it takes nothing there
    if (a.block->bytes > space.largest()) return ~std::uint64_t{0};
    bytes += space.allocated_size(a.block->bytes);
  }
  return bytes;
}

bool placer::fits(const place& e, task::record& t, std::uint64_t bytes) const {
  const memory::space& space = m_setup.coherence->space_at(e.space);
  const std::uint64_t limit = space.limit(), workspace = workspace_at(e, t);
  const std::uint64_t most =
      bytes + workspace + (t.all_accesses().size() + 1) * e.granule;  // each block is rounded up by less than a granule
  return (workspace <= limit && most <= std::min(limit, space.largest())) ||
         allocated_size_in(e, t, workspace) <= limit;
}

void placer::gather(candidates& found, task::record& t, place_state wanted, location::node_id from) const {
  std::uint32_t known_kind = ~std::uint32_t{0};  // places of one kind follow each other and take equally long
  double known_seconds = 0;
  const auto learnt_seconds = [&](std::uint32_t kind) {
    if (kind != known_kind) known_seconds = m_history->seconds(found.profile, known_kind = kind, found.size.amount);
    return known_seconds;
  };
  for (const auto& e : m_places) {
    if (e->state.load(std::memory_order_relaxed) != wanted || !offers(*e, t) || !fits(*e, t, found.bytes)) continue;
    found.spaces.push_back(e->space);
    found.all.push_back({.place = e->number,
                         .location = e->location,
                         .queue_seconds = m_history != nullptr ? e->wait_seconds() : e->queue_seconds(),
                         .execute_seconds = m_history != nullptr
                                                ? learnt_seconds(e->kind)
                                                : found.work * e->ns_per_flop.load(std::memory_order_relaxed) * 1e-9,
                         .distance = distance(from, *e),
                         .hinted = obeys_hint(*e, t)});
    found.any_hinted = found.any_hinted || found.all.back().hinted;
  }
}

void placer::add_transfer_costs(candidates& found, task::record& t) const {
  boost::container::small_vector<transfer::transfer_estimate, 16> costs(found.spaces.size());
  m_setup.coherence->costs_of(t.all_accesses(), {found.spaces.data(), found.spaces.size()},
                              {costs.data(), costs.size()});
  for (std::size_t k = 0; k < costs.size(); ++k) {
    found.all[k].transfer_seconds = costs[k].seconds;
    found.all[k].resident_bytes = costs[k].resident_bytes;
    found.all[k].missing_bytes = costs[k].missing_bytes;
  }
}

std::uint32_t placer::choose(task::record& t, location::node_id from) {
  if (m_places.size() == 1 && t.hint == location::no_node) return 0;
  const auto accesses = t.all_accesses();
  candidates found;
  if (m_history != nullptr)
    found.size = look_up(t, found.profile);
  else if (t.operation->work != nullptr)
    found.work = t.operation->work(t.argument_bytes(), accesses);
  for (const block::access& a : accesses) found.bytes += a.block->bytes;
  gather(found, t, place_state::attached, from);
  // What only a device on its way out can run goes there nevertheless, and keeps it from leaving.
  if (found.all.empty() || (!found.any_hinted && must_obey(t))) gather(found, t, place_state::draining, from);
  if (found.all.empty() || (!found.any_hinted && must_obey(t))) return no_place;
  add_transfer_costs(found, t);
  if (found.any_hinted)
    found.all.erase(std::remove_if(found.all.begin(), found.all.end(), [](const candidate& c) { return !c.hinted; }),
                    found.all.end());
  const std::span<const candidate> plan(found.all.data(), found.all.size());
  const std::size_t best =
      m_setup.plugin != nullptr ? choose_place(*m_setup.plugin, t.operation->name, plan) : choose_place(m_policy, plan);
  const bool learnt = m_policy == placement_policy::cost && found.profile != nullptr;
  const std::size_t chosen = learnt ? decide(*found.profile, found.size, plan, best) : best;
  charge(t, *m_places[plan[chosen].place], plan[chosen].execute_seconds, chosen != best);
  return plan[chosen].place;
}

block::failure placer::why_no_place(task::record& t) const {
  if (std::ranges::none_of(m_places, [&](const auto& e) { return offers(*e, t); })) {
    const auto accesses = t.all_accesses();
    const element_type type = accesses.empty() ? element_type::none : accesses[0].block->type;
    const auto somewhere = [&](element_type one) {
      return std::ranges::any_of(m_places,
                                 [&](const auto& e) { return t.operation->runs_on(*e->device, one, e->is_host); });
    };
    return {fmt::format(
                "no location can run it: no device here {} '{}' for elements of type {}{}",
                somewhere(type) ? "can set to zero what is added up by" : "offers", t.operation->name, name_of(type),
                somewhere(type) ? "" : fmt::format("; there is one for {}", operation::types_in_words(somewhere))),
            {},
            error_kind::usage};
  }
  // What is away is not asked for its workspace.
  const auto would = [&](const place& e) {
    return offers(e, t) && allocated_size_in(e, t, e.attached() ? workspace_at(e, t) : 0) <=
                               m_setup.coherence->space_at(e.space).limit();
  };
  const auto gone = [](const place& e) { return e.state.load() == place_state::lost ? "lost" : "detached"; };
  std::string away;  // devices that could, were they there
  for (const auto& e : m_places)
    if (!e->attached() && would(*e) && (!must_obey(t) || obeys_hint(*e, t)))
      away += fmt::format("{}{} is {}", away.empty() ? "" : ", ", e->name, gone(*e));
  if (!away.empty())
    return {must_obey(t) ? fmt::format("it must run at '{}', and {}", m_setup.tree->at(t.hint).properties.name, away)
                         : fmt::format("no location can run it: {}", away),
            {},
            error_kind::device};
  for (const auto& e : m_places)
    if (must_obey(t) && e->attached() && obeys_hint(*e, t) && offers(*e, t) && !would(*e)) {
      const memory::space& space = m_setup.coherence->space_at(e->space);
      const std::uint64_t workspace = workspace_at(*e, t);
      const std::string beside =
          workspace > 0 ? fmt::format(" and a workspace of {}", format_bytes(static_cast<double>(workspace))) : "";
      return {fmt::format("it must run at '{}': its blocks{} need more than {} holds ({}): {}",
                          m_setup.tree->at(t.hint).properties.name, beside, space.name(),
                          format_bytes(static_cast<double>(space.limit())), task::names_of_blocks(t)),
              {},
              error_kind::memory};
    }
  if (std::ranges::any_of(m_places, [&](const auto& e) { return would(*e); })) {
    std::string there;
    for (const auto& e : m_places)
      if (obeys_hint(*e, t)) there += (there.empty() ? "" : ", ") + e->name;
    return {fmt::format("it must run at '{}', where nothing can run it (runtime.placement = \"pinned\" makes hints "
                        "orders): {}",
                        m_setup.tree->at(t.hint).properties.name,
                        there.empty() ? "no place for tasks is there, as a place has workers and a memory of its own"
                                      : fmt::format("'{}' has no form for {} and the type of its blocks",
                                                    t.operation->name, there)),
            {},
            error_kind::usage};
  }
  std::uint64_t bytes = 0, workspace = 0;
  for (const block::access& a : t.all_accesses()) bytes += a.block->bytes;
  for (const auto& e : m_places)
    if (e->attached() && offers(*e, t)) workspace = std::max(workspace, workspace_at(*e, t));
  return {fmt::format("no location that offers it can hold its blocks{}: they take {} bytes: {}",
                      workspace > 0 ? " and its workspace" : "", bytes + workspace, task::names_of_blocks(t)),
          {},
          error_kind::memory};
}

}  // namespace tessera::placement
