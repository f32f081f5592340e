#include "hierarchy/region/launch_history.hpp"

#include <algorithm>
#include <utility>

namespace tessera::hierarchy {

std::shared_ptr<launch_history::entry> launch_history::of(std::string_view name) const {
  const auto found = m_entries.find(name);
  if (found != m_entries.end()) return found->second;
  auto fresh = std::make_shared<entry>();
  fresh->name = name;
  return fresh;
}

region_leaf_times& launch_history::times(entry& of, location::node_id leaf, const std::string& leaf_name,
                                         const policy& by) {
  const auto [at, fresh] = of.leaves.try_emplace(leaf);
  if (by.kind == policy_kind::automatic && !std::exchange(at->second.asked, true)) {
    if (m_kept == nullptr) m_kept = std::make_unique<kept_rates>(m_runtime);
    at->second.begin_with(m_kept->cost(of.name, leaf_name));
  }
  return at->second;
}

/// Of the region and its arrays those that were made first, which all of them have from now on.
launch_history::common_splits& launch_history::splits_of(entry& of, std::span<const std::uint64_t> arrays) {
  std::shared_ptr<common_splits> first = of.splits;
  const auto take = [&](const std::shared_ptr<common_splits>& one) {
    if (one != nullptr && (first == nullptr || one->number < first->number)) first = one;
  };
  for (const std::uint64_t array : arrays)
    if (const auto known = m_splits.find(array); known != m_splits.end()) take(known->second);
  if (first == nullptr) {
    first = std::make_shared<common_splits>();
    first->number = ++m_split_numbers;
  }
  if (m_splits.size() + arrays.size() > max_arrays) m_splits.clear();
  for (const std::uint64_t array : arrays) m_splits[array] = first;
  of.splits = first;
  return *first;
}

/// What a launch takes is looked at where the one before had the same shares: else it moves arrays first. So does a
/// trial, which costs what it does.
leaf_shares launch_history::shares(entry& of, const wanted_shares& wanted, std::shared_ptr<launch_span>& span) {
  auto& splits = splits_of(of, wanted.arrays).all;
  if (splits.size() >= max_splits) splits.clear();  // a loop whose length changes each time
  seen_split& known = splits[{wanted.iterations, {wanted.leaves.begin(), wanted.leaves.end()}}];
  for (const seen_launches::launch& one : known.seen->take()) known.split.saw(one.region, one.shares, one.seconds);
  leaf_shares chosen = known.split.of(of.name, wanted.iterations, wanted.costs, wanted.moving);
  const leaf_shares without_trial = chosen;
  if (!chosen.empty())
    of.trials.apply(chosen, known.split.guessed(wanted.costs), wanted.moving,
                    [&](const leaf_shares& trial) { return known.split.beyond(of.name, trial); });
  if (!wanted.recorded && !chosen.empty() && (chosen == known.last || chosen != without_trial))
    span = std::make_shared<launch_span>(known.seen, of.name, chosen);
  known.last = chosen;
  return chosen;
}

std::shared_ptr<region_leaf_times> launch_history::times_of(const std::shared_ptr<entry>& of, const piece& p,
                                                            bool learns) {
  if (!learns && !p.on_device) return nullptr;
  region_leaf_times& times = of->leaves[p.leaf];
  if (p.on_device && times.clock == nullptr) {
    std::shared_ptr<device_clock>& clock = m_clocks[p.leaf];
    if (clock == nullptr) clock = std::make_shared<device_clock>();
    times.clock = clock;
  }
  return {of, &times};
}

void launch_history::note(const std::shared_ptr<entry>& of, launch launched) {
  entry& in = *m_entries.try_emplace(of->name, of).first->second;  // another thread may have been faster
  if (in.launches == 0) in.first_number = ++m_numbers;
  in.last = std::move(launched);
  ++in.launches;
  in.last_number = ++m_numbers;
  if (m_entries.size() > max_entries) forget_half();
}

/// Those that were not launched for the longest time.
void launch_history::forget_half() {
  std::vector<std::uint64_t> ages;
  ages.reserve(m_entries.size());
  for (const auto& [name, e] : m_entries) ages.push_back(e->last_number);
  const auto middle = ages.begin() + static_cast<std::ptrdiff_t>(ages.size() / 2);
  std::ranges::nth_element(ages, middle);
  std::erase_if(m_entries, [&](const auto& one) { return one.second->last_number < *middle; });
}

std::vector<region_row> launch_history::rows(const location::tree& tree) const {
  const auto name_of = [&](location::node_id id) { return tree.at(id).properties.name; };
  std::vector<const entry*> known;
  known.reserve(m_entries.size());
  for (const auto& [name, e] : m_entries) known.push_back(e.get());
  std::ranges::sort(known, {}, &entry::first_number);
  std::vector<region_row> all;
  for (const entry* const e : known) {
    region_row& row = all.emplace_back(
        region_row{e->name, name_of(e->last.at), to_text(*e->last.rule), e->launches, e->last.iterations, {}});
    std::map<location::node_id, std::size_t> places;  // a leaf may have several parts, with others between them
    for (const piece& p : e->last.split->pieces) {
      const auto [place, fresh] = places.try_emplace(p.leaf, row.shares.size());
      if (fresh) row.shares.push_back({name_of(p.leaf), 0, 0});
      row.shares[place->second].iterations += p.end - p.begin;
      ++row.shares[place->second].tasks;
    }
  }
  return all;
}

void launch_history::keep(const location::tree& tree) const {
  if (m_kept == nullptr) return;
  std::vector<placement::region_rate> rates;
  for (const auto& [name, of] : m_entries)
    for (const auto& [leaf, times] : of->leaves)
      if (const leaf_cost cost = times.cost(); cost.known() && times.asked)
        rates.push_back({name, tree.at(leaf).properties.name, 1 / cost.per_iteration, cost.fixed});
  m_kept->keep(rates);
}

}  // namespace tessera::hierarchy
