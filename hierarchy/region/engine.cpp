#include "hierarchy/region/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "core/runtime/inside.hpp"
#include "hierarchy/region/cuts.hpp"
#include "hierarchy/region/place.hpp"
#include "tessera/front_end.hpp"

namespace tessera::hierarchy {
namespace {

using kind = access_pattern::kind;

/// Iterations of a loop. Throws usage for a step of 0.
std::uint64_t count_of(const loop_bounds& over, const std::string& region) {
  if (over.step == 0) throw error(error_kind::usage, "its loop has a step of 0", "region " + region);
  const auto begin = static_cast<std::uint64_t>(over.begin), end = static_cast<std::uint64_t>(over.end);
  if (over.step > 0 ? over.begin >= over.end : over.begin <= over.end) return 0;
  const std::uint64_t length = over.step > 0 ? end - begin : begin - end,
                      step = over.step > 0 ? static_cast<std::uint64_t>(over.step)
                                           : 0 - static_cast<std::uint64_t>(over.step);
  return (length - 1) / step + 1;
}

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

/// Takes locks in the order of addresses, so that two regions never wait for each other.
template <class Storage>
class all_locked {
 public:
  explicit all_locked(std::vector<Storage*> which) : m_which(std::move(which)) {
    std::ranges::sort(m_which, std::less<>());
    for (; m_held < m_which.size(); ++m_held) m_which[m_held]->lock();
  }
  ~all_locked() {
    while (m_held > 0) m_which[--m_held]->unlock();
  }
  all_locked(const all_locked&) = delete;
  all_locked& operator=(const all_locked&) = delete;

 private:
  std::vector<Storage*> m_which;
  std::size_t m_held = 0;
};

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
  std::string who = fmt::format("'{}' at {}:{}", name.text, name.site.file_name(), name.site.line());
  std::uint64_t count = count_of(over, who);

  [[noreturn]] void refuse(std::string text, std::string hint = {}) const {
    throw error(error_kind::usage, std::move(text), "region " + who, std::move(hint));
  }

  void check_owner(const runtime& of) const {
    for (const detail::region_demand& d : demands)
      if ((d.array != nullptr ? &d.array->tiles().owner() : &d.result->owner()) != &of)
        refuse(fmt::format("'{}' belongs to another runtime", d.array != nullptr ? d.array->name() : d.result->name()));
  }

  /// Makes the tiles of an array end at these rows.
  void cut(array_storage& array, std::span<const std::int64_t> ends) const {
    if (array.keeps_tiles())
      refuse(fmt::format("array '{}' would be split in another way, and a recording uses it", array.name()),
             "an array that a recording uses keeps its split: use another array, or the same loop and policy");
    array.tiles().cut(ends, name.site);
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

  /// What a task uses of an array that is used by chunk or halo, without the halo.
  row_interval rows(const piece& p) const { return rows_of(over, p, count); }

  /// What the body declares, weakened where its loop does not go over every element.
  intent how(const detail::region_demand& d) const {
    const bool all = d.pattern.which == kind::chunk && (over.step == 1 || over.step == -1);
    return d.how == intent::write && !all ? intent::update : d.how;
  }
};

region_engine::region_engine(runtime& of) : m_runtime(of) {}

location::node_id region_engine::place(const call& c) const {
  std::vector<placed_array> arrays;
  for (const detail::region_demand& d : c.demands)
    if (d.array != nullptr) arrays.push_back({d.array->name(), d.array->at()});
  std::optional<location::node_id> at;
  if (!c.options.at.empty()) at = m_runtime.at(c.options.at);
  return place_of_region(m_runtime.tree(), arrays, at, c.who);
}

const policy& region_engine::parsed(std::string_view text, const call& c) {
  const auto found = m_policies.find(text);
  if (found != m_policies.end()) return found->second;
  policy made = resolve(policy::parse(text, "region " + c.who), m_runtime.inside().machine.region_policy,
                        "region.policy, for region " + c.who);
  return m_policies.emplace(std::string(text), std::move(made)).first->second;
}

region_engine::history& region_engine::history_of(std::string_view name) {
  const auto found = m_by_name.find(name);
  if (found != m_by_name.end()) return *found->second;
  history& fresh = m_histories.emplace_back();
  fresh.name = name;
  m_by_name.emplace(std::string(name), &fresh);
  return fresh;
}

std::shared_ptr<const plan> region_engine::planned(const call& c, const policy& by, location::node_id at, history& of) {
  if (by.kind == policy_kind::any || by.kind == policy_kind::automatic) {  // as things are now
    std::vector<leaf_state> states;
    for (const location::node_id leaf : leaves_of_region(m_runtime.tree(), at)) {
      const region_leaf_times& t = of.leaves[leaf];
      const double rate = t.rate.load(std::memory_order_relaxed);
      const auto ahead = t.under_way.load(std::memory_order_relaxed);
      const double cores =
          is_team(m_runtime.tree(), leaf) ? static_cast<double>(m_runtime.tree().at(leaf).children.size()) : 1;
      states.push_back({.idle = ahead == 0,
                        .expected_finish = rate > 0 ? (ahead + 1) / (rate * cores) : ahead + 1.0,
                        .throughput = rate * cores});
    }
    return std::make_shared<const plan>(plan_region(by, c.count, m_runtime.tree(), at, c.who, states));
  }
  const auto key = plan_key{to_text(by), c.count, at};
  const auto found = m_plans.find(key);
  if (found != m_plans.end()) return found->second;
  if (m_plans.size() >= 4096) m_plans.clear();  // a loop whose length changes each time
  return m_plans.emplace(key, std::make_shared<const plan>(plan_region(by, c.count, m_runtime.tree(), at, c.who)))
      .first->second;
}

void region_engine::launch(const task_name& name, const region_options& options, const loop_bounds& over,
                           std::span<const detail::region_demand> demands, const detail::region_code& code) {
  const call c{name, options, over, demands, code};
  c.check_owner(m_runtime);
  c.check_once();
  for (const detail::region_demand& d : demands)
    if (d.array != nullptr) c.check_rows(d);
  const location::node_id at = place(c);
  const bool recorded = m_runtime.inside().scheduler->is_recording();
  std::shared_ptr<const plan> split;
  std::vector<region_leaf_times*> times;  // of each piece; none: nobody wants to know
  {
    const std::lock_guard guard(m_mutex);
    const policy& by = parsed(options.policy, c);
    history& of = history_of(name.text);
    split = planned(c, by, at, of);
    for (const detail::region_demand& d : demands)
      if (d.array != nullptr) c.check_writes(d, split->pieces.size());
    of.at = at, of.by = &by, of.iterations = c.count, of.planned = split;
    ++of.launches;
    if ((by.kind == policy_kind::any || by.kind == policy_kind::automatic) && !recorded)  // replays may outlive this
      for (const piece& p : split->pieces) times.push_back(&of.leaves[p.leaf]);
  }
  {
    std::vector<array_storage*> arrays;
    std::vector<reduction_storage*> results;
    for (const detail::region_demand& d : demands) {
      if (d.array != nullptr) arrays.push_back(d.array);
      if (d.result != nullptr) results.push_back(d.result);
    }
    const runtime::no_waiting no_waiting(m_runtime);  // tasks may submit regions of the same arrays
    const all_locked hold_arrays(std::move(arrays));
    const all_locked hold_results(std::move(results));
    submit(c, *split, times);
    if (recorded)
      for (const detail::region_demand& d : demands)
        if (d.array != nullptr) d.array->keep_tiles();
    submit_joins(c, split->pieces.size());
  }
  front_end(m_runtime).wait_for_window();
}

/// With the arrays locked: cuts them as the tasks want them, then submits the tasks.
void region_engine::submit(const call& c, const plan& planned, std::span<region_leaf_times* const> times) {
  std::vector<row_interval> parts;
  for (const piece& p : planned.pieces) parts.push_back(c.rows(p));
  for (const detail::region_demand& d : c.demands) {
    if (d.array == nullptr || parts.empty() || (d.pattern.which != kind::chunk && d.pattern.which != kind::halo))
      continue;
    tiled_memory& tiles = d.array->tiles();
    const bool exact = d.how != intent::read;
    if (!cuts_fit(tiles.tiles(), parts, exact)) c.cut(*d.array, fitting_cuts(tiles.tiles(), parts, exact));
  }
  for (const detail::region_demand& d : c.demands)  // a task that writes all of an array sees it as one block
    if (d.array != nullptr && d.how != intent::read && d.pattern.which == kind::whole &&
        d.array->tiles().tiles().size() > 1)
      c.cut(*d.array, std::array{d.array->extents().rows});

  std::vector<detail::region_operand> operands(c.demands.size());
  std::vector<block_access> blocks;
  for (std::size_t k = 0; k < planned.pieces.size(); ++k) {
    blocks.clear();
    for (std::size_t u = 0; u < c.demands.size(); ++u) {
      const detail::region_demand& d = c.demands[u];
      operands[u] = {static_cast<std::uint32_t>(blocks.size()), 1, 0};
      if (d.result != nullptr) {
        blocks.push_back(access(d.result->part(k, c.name.site), intent::write));
        continue;
      }
      const std::int64_t rows = d.array->extents().rows;
      row_interval used = parts[k];
      if (d.pattern.which == kind::whole) used = {0, rows};
      if (d.pattern.which == kind::rows) used = {d.pattern.first, d.pattern.last};
      if (d.pattern.which == kind::halo)
        used = {std::max<std::int64_t>(used.begin - d.pattern.last, 0), std::min(used.end + d.pattern.last, rows)};
      const std::span<const tiled_memory::tile> tiles = d.array->tiles().tiles();
      const tile_range in = tiles_with(tiles, used);
      operands[u].count = static_cast<std::uint32_t>(in.count);
      if (in.count > 0) operands[u].row = tiles[in.first].begin;
      for (const tiled_memory::tile& t : tiles.subspan(in.first, in.count))
        blocks.push_back(access(*t.record, c.how(d)));
    }
    const piece& p = planned.pieces[k];
    region_leaf_times* const timed = times.empty() ? nullptr : times[k];
    if (timed != nullptr) timed->under_way.fetch_add(1, std::memory_order_relaxed);
    c.code.piece(c.code.call, {p.begin, p.end}, operands, blocks, timed, {.location = p.at});
  }
}

void region_engine::submit_joins(const call& c, std::size_t pieces) {
  std::size_t join = 0;
  std::vector<block_access> blocks;
  for (const detail::region_demand& d : c.demands) {
    if (d.result == nullptr) continue;
    blocks.assign(1, access(d.result->value(), intent::write));
    for (std::size_t k = 0; k < pieces; ++k) blocks.push_back(access(d.result->part(k, c.name.site), intent::read));
    c.code.joins[join++](m_runtime, c.name.text, c.name.site, blocks);
  }
}

std::vector<region_row> region_engine::rows() const {
  const std::lock_guard guard(m_mutex);
  const auto name_of = [&](location::node_id id) { return m_runtime.tree().at(id).properties.name; };
  std::vector<region_row> all;
  for (const history& h : m_histories) {
    if (h.planned == nullptr) continue;  // refused so far
    region_row& row = all.emplace_back(region_row{h.name, name_of(h.at), to_text(*h.by), h.launches, h.iterations, {}});
    for (const piece& p : h.planned->pieces) {
      if (row.shares.empty() || row.shares.back().leaf != name_of(p.leaf))
        row.shares.push_back({name_of(p.leaf), 0, 0});
      row.shares.back().iterations += p.end - p.begin;
      ++row.shares.back().tasks;
    }
  }
  return all;
}

void region_engine::note_idle() noexcept {
  const std::lock_guard guard(m_mutex);
  for (history& h : m_histories)
    for (auto& [leaf, times] : h.leaves) times.under_way.store(0, std::memory_order_relaxed);
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

void note_piece(hierarchy::region_leaf_times* times, std::uint64_t iterations, double seconds) noexcept {
  times->under_way.fetch_sub(1, std::memory_order_relaxed);
  if (seconds <= 0) return;
  const double now = static_cast<double>(iterations) / seconds, before = times->rate.load(std::memory_order_relaxed);
  times->rate.store(before == 0 ? now : 0.5 * (before + now), std::memory_order_relaxed);
}

}  // namespace tessera::detail
