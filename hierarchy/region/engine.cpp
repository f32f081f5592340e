#include "hierarchy/region/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "core/runtime/inside.hpp"
#include "hierarchy/region/cuts.hpp"
#include "hierarchy/region/place.hpp"
#include "tessera/front_end.hpp"

namespace tessera::hierarchy {
namespace {

using kind = access_pattern::kind;

std::int64_t index_at(const loop_bounds& over, std::uint64_t ordinal) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(over.begin) +
                                   ordinal * static_cast<std::uint64_t>(over.step));
}

/// The rows from the first index of a piece to that of the next one; of the last piece, to its own last index. So
/// neighbours do not leave rows between them.
row_interval rows_of(const loop_bounds& over, const piece& p, std::uint64_t count) {
  const std::int64_t first = index_at(over, p.begin), last = index_at(over, p.end - 1);
  if (over.step > 0) return {first, p.end == count ? last + 1 : index_at(over, p.end)};
  return {p.end == count ? last : index_at(over, p.end) + 1, first + 1};
}

/// Locks in the order of addresses, so that two regions never wait for each other.
template <class Storage>
std::vector<std::unique_lock<Storage>> all_locked(std::vector<Storage*> which) {
  std::ranges::sort(which, std::less<>());
  std::vector<std::unique_lock<Storage>> held;
  held.reserve(which.size());
  for (Storage* const one : which) held.emplace_back(*one);
  return held;
}

/// Elements of a result's part.
std::int64_t part_elements(const piece& p, const detail::region_code& code) {
  return p.on_device ? region_kernels::groups_for(p.end - p.begin, code.kernel->inside) : 1;
}

block_access access(block::record& block, intent how) {
  return {.block = &block, .version = 0, .intent = how, .flags = 0, .space = 0};
}

}  // namespace

/// A call of location_model::region.
struct region_engine::call {
  const task_name& name;
  const region_options& options;
  const loop_bounds& over;
  std::span<const detail::region_demand> demands;
  const detail::region_code& code;
  std::uint64_t count = 0;

  std::string who() const { return fmt::format("'{}' at {}:{}", name.text, name.site.file_name(), name.site.line()); }
  /// Iterations of the split loop. Throws usage for a step of 0.
  std::uint64_t count_iterations() const {
    if (over.step == 0) refuse("its loop has a step of 0");
    const auto begin = static_cast<std::uint64_t>(over.begin), end = static_cast<std::uint64_t>(over.end);
    if (over.step > 0 ? over.begin >= over.end : over.begin <= over.end) return 0;
    const std::uint64_t length = over.step > 0 ? end - begin : begin - end,
                        step = over.step > 0 ? static_cast<std::uint64_t>(over.step)
                                             : 0 - static_cast<std::uint64_t>(over.step);
    return (length - 1) / step + 1;
  }
  [[noreturn]] void refuse(std::string text, std::string hint = {}) const {
    throw error(error_kind::usage, std::move(text), "region " + who(), std::move(hint));
  }

  void check_owner(const runtime& of) const {
    for (const detail::region_demand& d : demands)
      if ((d.array != nullptr ? &d.array->tiles().owner() : &d.result->owner()) != &of)
        refuse(fmt::format("'{}' belongs to another runtime", d.array != nullptr ? d.array->name() : d.result->name()));
  }

  /// Whether the tiles of an array may be changed for what a task writes. Throws where they may not.
  void check_cut(const array_storage& array, bool recorded) const {
    if (array.keeps_tiles())
      refuse(fmt::format("array '{}' would be split in another way, and a recording uses it", array.name()),
             "an array that a recording uses keeps its split: use another array, or the same loop and policy");
    if (recorded)
      refuse(fmt::format("array '{}' would be split in another way inside a recording", array.name()),
             "run what is recorded once before: its arrays are then split as it wants them");
  }

  void check_once() const {
    for (std::size_t k = 0; k < demands.size(); ++k)
      for (std::size_t j = 0; j < k; ++j) {
        if (demands[k].array != nullptr && demands[k].array == demands[j].array)
          refuse(fmt::format("it names array '{}' twice", demands[k].array->name()),
                 "name it once, with inout where it is read and written; an iteration that reads rows which others "
                 "write needs a second array");
        if (demands[k].result != nullptr && demands[k].result == demands[j].result)
          refuse(fmt::format("it names result '{}' twice", demands[k].result->name()));
      }
  }

  void check_rows(const detail::region_demand& d) const {
    const std::int64_t rows = d.array->extents().rows;
    const access_pattern& p = d.pattern;
    if (p.which == kind::rows) {
      if (p.first < 0 || p.last < p.first || p.last > rows)
        refuse(fmt::format("it uses rows {} to {} of array '{}', which has {} rows", p.first, p.last, d.array->name(),
                           rows));
      return;
    }
    if (p.which == kind::halo && (p.last < 0 || p.last >= std::max<std::int64_t>(rows, 1)))
      refuse(
          fmt::format("its halo of {} rows does not fit array '{}', which has {} rows", p.last, d.array->name(), rows));
    if (p.which == kind::whole || count == 0) return;
    const std::int64_t first = index_at(over, 0), last = index_at(over, count - 1), low = std::min(first, last),
                       high = std::max(first, last);
    if (low < 0 || high >= rows)
      refuse(fmt::format("iteration {} has no row in array '{}', which has {} rows", low < 0 ? low : high,
                         d.array->name(), rows),
             "the index of the first loop is the row of arrays that are used by chunk or halo; `whole` takes any row");
  }

  void check_writes(const detail::region_demand& d, std::size_t pieces) const {
    if (d.how == intent::read || d.pattern.which == kind::chunk) return;
    if (d.pattern.which == kind::whole && pieces <= 1) return;
    refuse(d.pattern.which == kind::whole
               ? fmt::format("each of its {} parts would write all of array '{}'", pieces, d.array->name())
               : fmt::format("iterations would write rows of array '{}' that others use", d.array->name()),
           d.pattern.which == kind::whole ? "write by chunk, or give the whole loop to one leaf with the policy \"any\""
                                          : "write by chunk: halo and rows are for what is read");
  }

  static bool by_part(const detail::region_demand& d) noexcept {
    return d.array != nullptr && (d.pattern.which == kind::chunk || d.pattern.which == kind::halo);
  }
  /// What each task uses of arrays that are used by chunk or halo, without the halo. Where there is none, the indices
  /// need not be rows.
  std::vector<row_interval> parts_of(const plan& planned) const {
    std::vector<row_interval> parts;
    if (std::ranges::none_of(demands, by_part)) return parts;
    parts.reserve(planned.pieces.size());
    for (const piece& p : planned.pieces) parts.push_back(rows_of(over, p, count));
    return parts;
  }
  /// What a task uses of an array.
  static row_interval used_rows(const detail::region_demand& d, std::span<const row_interval> parts, std::size_t k) {
    const std::int64_t rows = d.array->extents().rows, halo = d.pattern.last;
    switch (d.pattern.which) {
      case kind::whole:
        return {0, rows};
      case kind::rows:
        return {d.pattern.first, d.pattern.last};
      case kind::halo:
        return {std::max<std::int64_t>(parts[k].begin - halo, 0), std::min(parts[k].end + halo, rows)};
      case kind::chunk:
        break;
    }
    return parts[k];
  }
  /// Of each task. Of a halo also the parts beside its own count, which are tiles where they are in the same memory.
  memory_need memory_need_of() const {
    memory_need need;
    const auto bytes = [](std::uint64_t rows, const detail::region_demand& d) {
      return rows * static_cast<std::uint64_t>(d.array->extents().row_elements()) * size_of(d.array->tiles().type());
    };
    const auto step = static_cast<std::uint64_t>(over.step);
    const std::uint64_t rows = over.step < 0 ? 0 - step : step;  // of an iteration
    for (const detail::region_demand& d : demands) {
      if (d.array == nullptr) continue;
      const access_pattern& p = d.pattern;
      if (p.which == kind::whole) need.of_all += bytes(static_cast<std::uint64_t>(d.array->extents().rows), d);
      if (p.which == kind::rows) need.of_all += bytes(static_cast<std::uint64_t>(p.last - p.first), d);
      if (p.which == kind::halo) need.of_all += bytes(2 * static_cast<std::uint64_t>(p.last), d);
      if (by_part(d)) need.per_iteration += bytes(p.which == kind::halo && p.last > 0 ? 3 * rows : rows, d);
    }
    return need;
  }
  /// Of an array that is read with a halo: the rows where tiles should end so that no more than the halo moves from one
  /// memory to another.
  static std::vector<std::int64_t> edges(const detail::region_demand& d, const plan& split,
                                         std::span<const row_interval> parts) {
    std::vector<std::int64_t> rows;
    if (d.pattern.which != kind::halo || d.pattern.last == 0) return rows;
    for (std::size_t k = 0; k + 1 < parts.size(); ++k) {
      if (split.pieces[k].memory == split.pieces[k + 1].memory) continue;
      const std::int64_t border = std::max(parts[k].begin, parts[k + 1].begin);
      for (const std::int64_t row : {border - d.pattern.last, border + d.pattern.last})
        if (row > 0 && row < d.array->extents().rows) rows.push_back(row);
    }
    return rows;
  }
  /// Of an array that is read beyond the tasks' own parts: what all of them read together, where one of them would name
  /// more tiles than it should; else nothing.
  static row_interval crowded_rows(const detail::region_demand& d, std::span<const row_interval> parts) {
    const std::span<const tiled_memory::tile> tiles = d.array->tiles().tiles();
    if (tiles.size() <= most_tiles_shared) return {};
    row_interval all = used_rows(d, parts, 0);
    std::size_t most = tiles_with(tiles, all).count;
    for (std::size_t k = 1; d.pattern.which == kind::halo && k < parts.size(); ++k) {
      const row_interval used = used_rows(d, parts, k);
      most = std::max(most, tiles_with(tiles, used).count);
      all = {std::min(all.begin, used.begin), std::max(all.end, used.end)};
    }
    return most > most_tiles_shared ? all : row_interval{};
  }

  /// What the body declares, weakened where its loop does not go over every element.
  intent how(const detail::region_demand& d) const {
    const bool all = d.pattern.which == kind::chunk && (over.step == 1 || over.step == -1);
    return d.how == intent::write && !all ? intent::update : d.how;
  }
};

region_engine::region_engine(runtime& of) : m_runtime(of), m_kernels(of) {}

location::node_id region_engine::place(const call& c) const {
  std::vector<placed_array> arrays;
  for (const detail::region_demand& d : c.demands)
    if (d.array != nullptr) arrays.push_back({d.array->name(), d.array->at()});
  const auto elsewhere = [&](const placed_array& a) { return a.at != arrays.front().at; };
  if (c.options.at.empty() && !arrays.empty() && std::ranges::none_of(arrays, elsewhere)) return arrays.front().at;
  std::optional<location::node_id> at;
  if (!c.options.at.empty()) at = m_runtime.at(c.options.at);
  return place_of_region(m_runtime.tree(), arrays, at, c.who());
}

std::shared_ptr<const policy> region_engine::parsed(const call& c) {
  const auto found = m_policies.find(c.options.policy);
  if (found != m_policies.end()) return found->second;
  auto made = std::make_shared<const policy>(resolve(policy::parse(c.options.policy, "region " + c.who()),
                                                     m_runtime.inside().machine.region_policy,
                                                     "region.policy, for region " + c.who()));
  if (m_policies.size() >= most_policies) m_policies.clear();  // a program that makes up a text each time
  m_policies.emplace(std::string(c.options.policy), made);
  return made;
}

std::shared_ptr<region_engine::history> region_engine::history_of(std::string_view name) const {
  const auto found = m_histories.find(name);
  if (found != m_histories.end()) return found->second;
  auto fresh = std::make_shared<history>();
  fresh->name = name;
  return fresh;
}

std::shared_ptr<const plan> region_engine::planned(const call& c, const std::shared_ptr<const policy>& by,
                                                   location::node_id at, const executors& who, history& of) {
  if (by->kind == policy_kind::any || by->kind == policy_kind::automatic) {  // as things are now
    std::vector<leaf_state> states;
    for (const location::node_id leaf : leaves_of_region(m_runtime.tree(), at, who)) {
      const region_leaf_times& t = of.leaves[leaf];
      const double rate = t.rate.load(std::memory_order_relaxed);
      const auto ahead = t.under_way.load(std::memory_order_relaxed);
      const double cores =
          is_team(m_runtime.tree(), leaf) ? static_cast<double>(m_runtime.tree().at(leaf).children.size()) : 1;
      states.push_back({.idle = ahead == 0,
                        .expected_finish = rate > 0 ? (ahead + 1) / (rate * cores) : ahead + 1.0,
                        .throughput = rate * cores});
    }
    return std::make_shared<const plan>(plan_region(*by, c.count, m_runtime.tree(), at, c.who(), states, who));
  }
  const auto key = plan_key{by, c.count, at, who.devices, who.without.data()};
  const auto found = m_plans.find(key);
  if (found != m_plans.end()) return found->second;
  if (m_plans.size() >= most_plans) m_plans.clear();  // a loop whose length changes each time
  return m_plans
      .emplace(key, std::make_shared<const plan>(plan_region(*by, c.count, m_runtime.tree(), at, c.who(), {}, who)))
      .first->second;
}

/// Nothing that it changes is seen by anybody before note_launch.
region_engine::launch_plan region_engine::plan_launch(const call& c, location::node_id at) {
  launch_plan made;
  made.at = at;
  made.recorded = m_runtime.inside().scheduler->is_recording();
  const std::lock_guard guard(m_mutex);
  made.by = parsed(c);
  made.of = history_of(c.name.text);
  made.split = planned(c, made.by, at, m_kernels.who_runs(c.code.kernel, c.demands, at), *made.of);
  made.devices = std::ranges::any_of(made.split->pieces, &piece::on_device);
  if (made.devices)
    made.split = fitted(std::move(made.split), c.memory_need_of(),
                        [&](location::node_id device) { return m_kernels.memory_limit(device); });
  for (const detail::region_demand& d : c.demands)
    if (d.array != nullptr) c.check_writes(d, made.split->pieces.size());
  // Not of recordings: a task is counted once, and may run often. On devices in any case: what another region has there
  // is not its own time.
  const bool learns = made.by->kind == policy_kind::any || made.by->kind == policy_kind::automatic;
  if ((learns || made.devices) && !made.recorded)
    for (const piece& p : made.split->pieces) made.times.push_back(times_of(made.of, p, learns));
  return made;
}

std::shared_ptr<region_leaf_times> region_engine::times_of(const std::shared_ptr<history>& of, const piece& p,
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

/// After the submission.
void region_engine::note_launch(const call& c, const launch_plan& made) {
  const std::lock_guard guard(m_mutex);
  history& of = *m_histories.try_emplace(made.of->name, made.of).first->second;  // another thread may have been faster
  if (of.launches == 0) of.first = ++m_launches;
  of.at = made.at, of.by = made.by, of.iterations = c.count, of.planned = made.split;
  ++of.launches;
  of.last = ++m_launches;
  if (m_histories.size() > most_histories) forget_histories();
}

/// Those that were not launched for the longest time, half of all.
void region_engine::forget_histories() {
  std::vector<std::uint64_t> ages;
  ages.reserve(m_histories.size());
  for (const auto& [name, h] : m_histories) ages.push_back(h->last);
  const auto middle = ages.begin() + static_cast<std::ptrdiff_t>(ages.size() / 2);
  std::ranges::nth_element(ages, middle);
  std::erase_if(m_histories, [&](const auto& entry) { return entry.second->last < *middle; });
}

void region_engine::launch(const task_name& name, const region_options& options, const loop_bounds& over,
                           std::span<const detail::region_demand> demands, const detail::region_code& code) {
  call c{name, options, over, demands, code};
  c.count = c.count_iterations();
  c.check_owner(m_runtime);
  c.check_once();
  for (const detail::region_demand& d : demands)
    if (d.array != nullptr) c.check_rows(d);
  const launch_plan made = plan_launch(c, place(c));
  {
    std::vector<array_storage*> arrays;
    std::vector<reduction_storage*> results;
    for (const detail::region_demand& d : demands) {
      if (d.array != nullptr) arrays.push_back(d.array);
      if (d.result != nullptr) results.push_back(d.result);
    }
    const runtime::no_waiting no_waiting(m_runtime);  // tasks may submit regions of the same arrays
    const auto hold_arrays = all_locked(std::move(arrays));
    const auto hold_results = all_locked(std::move(results));
    submit(c, made);
  }
  note_launch(c, made);
  front_end(m_runtime).wait_for_window();
}

/// With the arrays locked. Whatever may be refused, or thrown by the program, comes before the first change.
void region_engine::submit(const call& c, const launch_plan& made) {
  const std::vector<row_interval> parts = c.parts_of(*made.split);
  const std::vector<wanted_cut> cuts = wanted_cuts(c, made, parts);
  std::vector<detail::made_piece> pieces = make_pieces(c, made, kernels_of(c, made, parts, cuts));
  std::vector<detail::submission> joins;
  joins.reserve(c.code.joins.size());
  for (const detail::make_join join : c.code.joins) joins.push_back(join(m_runtime, c.name.text, c.name.site));
  for (const detail::region_demand& d : c.demands)
    for (std::size_t k = 0; d.result != nullptr && k < pieces.size(); ++k)
      (void)d.result->part(k, part_elements(made.split->pieces[k], c.code), c.name.site);

  for (const wanted_cut& cut : cuts) cut.array->tiles().cut(cut.ends, c.name.site);
  name_blocks(c, *made.split, parts, pieces, joins);
  if (made.recorded)
    for (const detail::region_demand& d : c.demands)
      if (d.array != nullptr) m_runtime.inside().scheduler->keep_with_recording(d.array->keep_tiles());
  for (detail::made_piece& p : pieces) p.task.commit();
  for (detail::submission& join : joins) join.commit();
}

/// The tiles that the tasks need: what one writes is one tile of its own, and what one reads are not too many. Where
/// tiles must stay as they are, what is read is read from those that there are.
std::vector<region_engine::wanted_cut> region_engine::wanted_cuts(const call& c, const launch_plan& made,
                                                                  std::span<const row_interval> parts) const {
  std::vector<wanted_cut> cuts;
  if (made.split->pieces.empty()) return cuts;
  if (made.devices) return cuts_between_memories(c, made, parts);
  for (const detail::region_demand& d : c.demands) {
    if (d.array == nullptr) continue;
    const std::span<const tiled_memory::tile> tiles = d.array->tiles().tiles();
    const bool writes = d.how != intent::read;
    if (!writes && (made.recorded || d.array->keeps_tiles())) continue;
    if (c.by_part(d) && !cuts_fit(tiles, parts, writes)) {
      if (writes) c.check_cut(*d.array, made.recorded);
      cuts.push_back({d.array, fitting_cuts(tiles, parts, writes)});
    }
    if (d.pattern.which == kind::chunk) continue;
    if (writes) {  // one task, which sees all of it as one block
      if (tiles.size() <= 1) continue;
      c.check_cut(*d.array, made.recorded);
      cuts.push_back({d.array, {d.array->extents().rows}});
    } else if (const row_interval crowded = c.crowded_rows(d, parts); crowded.begin < crowded.end) {
      if (!cuts.empty() && cuts.back().array == d.array) cuts.pop_back();  // they are joined all the same
      cuts.push_back({d.array, joined_cuts(tiles, crowded)});
    }
  }
  return cuts;
}

/// The same where tasks run in several memories. Tiles that one task writes stay several, so that rows which others
/// read of it are tiles of their own, and only they move; what all read is a few tiles.
std::vector<region_engine::wanted_cut> region_engine::cuts_between_memories(const call& c, const launch_plan& made,
                                                                            std::span<const row_interval> parts) const {
  std::vector<wanted_cut> cuts;
  for (const detail::region_demand& d : c.demands) {
    if (d.array == nullptr) continue;
    const std::span<const tiled_memory::tile> tiles = d.array->tiles().tiles();
    const bool writes = d.how != intent::read;
    std::vector<std::int64_t> ends;
    if (c.by_part(d)) {
      ends = edged_cuts(tiles, parts, c.edges(d, *made.split, parts));
    } else if (writes ? tiles.size() > 1 : tiles_with(tiles, c.used_rows(d, parts, 0)).count > most_tiles_read) {
      ends = joined_cuts(tiles, c.used_rows(d, parts, 0));
    }
    if (ends.empty()) continue;
    c.check_cut(*d.array, made.recorded);
    cuts.push_back({d.array, std::move(ends)});
  }
  return cuts;
}

/// The operations of the pieces that run as kernels, null for the others; none at all where there is no kernel. The
/// tiles are those that there will be after the cuts.
std::vector<const operation::definition*> region_engine::kernels_of(const call& c, const launch_plan& made,
                                                                    std::span<const row_interval> parts,
                                                                    std::span<const wanted_cut> cuts) {
  std::vector<const operation::definition*> kernels;
  if (!made.devices && !m_kernels.compares(c.code.kernel, {})) return kernels;
  std::vector<std::vector<std::int64_t>> ends(c.demands.size());
  for (std::size_t u = 0; u < c.demands.size(); ++u) {
    array_storage* const array = c.demands[u].array;
    if (array == nullptr) continue;
    const auto cut = std::find_if(cuts.rbegin(), cuts.rend(), [&](const wanted_cut& w) { return w.array == array; });
    if (cut != cuts.rend())
      ends[u] = cut->ends;
    else
      for (const tiled_memory::tile& t : array->tiles().tiles()) ends[u].push_back(t.end);
  }
  std::vector<std::size_t> tiles(c.demands.size(), 1);
  for (std::size_t k = 0; k < made.split->pieces.size(); ++k) {
    kernels.push_back(nullptr);
    if (!made.split->pieces[k].on_device && !m_kernels.compares(c.code.kernel, {})) continue;
    for (std::size_t u = 0; u < c.demands.size(); ++u) {
      if (c.demands[u].array == nullptr) continue;
      const row_interval used = c.used_rows(c.demands[u], parts, k);
      const auto first = std::ranges::upper_bound(ends[u], used.begin),
                 last = std::ranges::lower_bound(ends[u], used.end);
      tiles[u] = used.begin < used.end ? static_cast<std::size_t>(last - first) + 1 : 1;
    }
    if (made.split->pieces[k].on_device || m_kernels.compares(c.code.kernel, tiles))
      kernels.back() = &m_kernels.operation_for(c.name, *c.code.kernel, c.demands, tiles);
  }
  return kernels;
}

std::vector<detail::made_piece> region_engine::make_pieces(const call& c, const launch_plan& made,
                                                           std::span<const operation::definition* const> kernels) {
  std::vector<detail::made_piece> pieces;
  pieces.reserve(made.split->pieces.size());
  for (std::size_t k = 0; k < made.split->pieces.size(); ++k) {
    const piece& p = made.split->pieces[k];
    pieces.push_back(c.code.piece(c.code.call, {p.begin, p.end}, made.times.empty() ? nullptr : made.times[k],
                                  kernels.empty() ? nullptr : kernels[k], {.location = p.at}));
  }
  return pieces;
}

/// Of the tasks, with the tiles as they are now, and of those that join their results.
void region_engine::name_blocks(const call& c, const plan& split, std::span<const row_interval> parts,
                                std::span<detail::made_piece> pieces, std::span<detail::submission> joins) {
  std::vector<block_access> blocks;
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    blocks.clear();
    for (std::size_t u = 0; u < c.demands.size(); ++u) {
      const detail::region_demand& d = c.demands[u];
      detail::region_operand& operand = pieces[k].operands[u];
      operand = {static_cast<std::uint32_t>(blocks.size()), 1, 0};
      if (d.result != nullptr) {
        blocks.push_back(access(d.result->part(k, part_elements(split.pieces[k], c.code), c.name.site), intent::write));
        continue;
      }
      const std::span<const tiled_memory::tile> tiles = d.array->tiles().tiles();
      const tile_range in = tiles_with(tiles, c.used_rows(d, parts, k));
      operand.count = static_cast<std::uint32_t>(in.count);
      if (in.count > 0) operand.row = tiles[in.first].begin;
      for (const tiled_memory::tile& t : tiles.subspan(in.first, in.count))
        blocks.push_back(access(*t.record, c.how(d)));
    }
    m_runtime.inside().check_working_set(c.name.text, blocks);
    pieces[k].task.name_blocks(blocks);
  }
  std::size_t join = 0;
  for (const detail::region_demand& d : c.demands) {
    if (d.result == nullptr) continue;
    blocks.assign(1, access(d.result->value(), intent::write));
    for (std::size_t k = 0; k < pieces.size(); ++k)
      blocks.push_back(access(d.result->part(k, part_elements(split.pieces[k], c.code), c.name.site), intent::read));
    joins[join++].name_blocks(blocks);
  }
}

std::vector<region_row> region_engine::rows() const {
  const std::lock_guard guard(m_mutex);
  const auto name_of = [&](location::node_id id) { return m_runtime.tree().at(id).properties.name; };
  std::vector<const history*> known;
  known.reserve(m_histories.size());
  for (const auto& [name, h] : m_histories) known.push_back(h.get());
  std::ranges::sort(known, {}, &history::first);
  std::vector<region_row> all;
  for (const history* const h : known) {
    region_row& row =
        all.emplace_back(region_row{h->name, name_of(h->at), to_text(*h->by), h->launches, h->iterations, {}});
    for (const piece& p : h->planned->pieces) {
      if (row.shares.empty() || row.shares.back().leaf != name_of(p.leaf))
        row.shares.push_back({name_of(p.leaf), 0, 0});
      row.shares.back().iterations += p.end - p.begin;
      ++row.shares.back().tasks;
    }
  }
  return all;
}

void region_engine::keep_file(const std::shared_ptr<array_memory>& memory) {
  const std::lock_guard guard(m_mutex);
  std::erase_if(m_files, [](const std::weak_ptr<array_memory>& f) { return f.expired(); });
  m_files.push_back(memory);
}

bool region_engine::has_files() const {
  const std::lock_guard guard(m_mutex);
  return std::ranges::any_of(m_files, [](const std::weak_ptr<array_memory>& f) { return !f.expired(); });
}

void region_engine::flush_files() const {
  std::vector<std::shared_ptr<array_memory>> there;
  {
    const std::lock_guard guard(m_mutex);
    for (const std::weak_ptr<array_memory>& f : m_files)
      if (auto memory = f.lock()) there.push_back(std::move(memory));
  }
  for (const auto& memory : there) memory->flush();
}

}  // namespace tessera::hierarchy

namespace tessera::detail {

void begin_piece(hierarchy::region_leaf_times& on) noexcept { on.under_way.fetch_add(1, std::memory_order_relaxed); }
void end_piece(hierarchy::region_leaf_times& on) noexcept { on.under_way.fetch_sub(1, std::memory_order_relaxed); }

void note_piece(hierarchy::region_leaf_times& on, std::uint64_t iterations, double seconds) noexcept {
  if (seconds <= 0) return;
  const double now = static_cast<double>(iterations) / seconds, before = on.rate.load(std::memory_order_relaxed);
  on.rate.store(before == 0 ? now : 0.5 * (before + now), std::memory_order_relaxed);
}

void note_kernel(hierarchy::region_leaf_times& on, std::uint64_t iterations,
                 std::chrono::steady_clock::time_point launched) noexcept {
  const auto nanoseconds = [](std::chrono::steady_clock::time_point at) {
    return std::int64_t{std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count()};
  };
  const std::int64_t end = nanoseconds(std::chrono::steady_clock::now()),
                     last = on.clock->last_end.exchange(end, std::memory_order_relaxed),
                     took = std::max<std::int64_t>(end - std::max(nanoseconds(launched), last), 1);
  const double now = static_cast<double>(iterations) * 1e9 / static_cast<double>(took),
               before = on.rate.load(std::memory_order_relaxed);
  // The mean of the times, not of the rates: of two kernels side by side the second one seems to take no time.
  on.rate.store(before == 0 ? now : 2 / (1 / before + 1 / now), std::memory_order_relaxed);
}

}  // namespace tessera::detail
