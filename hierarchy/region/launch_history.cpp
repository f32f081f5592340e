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
launch_history::common_splits& launch_history::splits_of(entry& of, std::span<const void* const> arrays) {
  std::shared_ptr<common_splits> first = of.splits;
  const auto take = [&](const std::shared_ptr<common_splits>& one) {
    if (one != nullptr && (first == nullptr || one->number < first->number)) first = one;
  };
  for (const void* const array : arrays)
    if (const auto known = m_splits.find(array); known != m_splits.end()) take(known->second);
  if (first == nullptr) {
    first = std::make_shared<common_splits>();
    first->number = ++m_split_numbers;
  }
  if (m_splits.size() + arrays.size() > most_arrays) m_splits.clear();
  for (const void* const array : arrays) m_splits[array] = first;
  of.splits = first;
  return *first;
}

leaf_shares launch_history::shares(entry& of, const wanted_shares& wanted) {
  auto& splits = splits_of(of, wanted.arrays).all;
  if (splits.size() >= most_splits) splits.clear();  // a loop whose length changes each time
  common_split& split = splits[{wanted.iterations, {wanted.leaves.begin(), wanted.leaves.end()}}];
  leaf_shares chosen = split.of(of.name, wanted.iterations, wanted.costs, wanted.moving);
  if (!chosen.empty()) of.trials.apply(chosen, split.guessed(wanted.costs), wanted.moving);
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

void launch_history::note(const std::shared_ptr<entry>& of, launch made) {
  entry& in = *m_entries.try_emplace(of->name, of).first->second;  // another thread may have been faster
  if (in.launches == 0) in.first_number = ++m_numbers;
  in.last = std::move(made);
  ++in.launches;
  in.last_number = ++m_numbers;
  if (m_entries.size() > most_entries) forget_half();
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
    for (const piece& p : e->last.split->pieces) {
      if (row.shares.empty() || row.shares.back().leaf != name_of(p.leaf))
        row.shares.push_back({name_of(p.leaf), 0, 0});
      row.shares.back().iterations += p.end - p.begin;
      ++row.shares.back().tasks;
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
