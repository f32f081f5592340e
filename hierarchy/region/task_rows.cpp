// Tasks and operations that name rows of arrays: which blocks these are.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "core/base/call_site.hpp"
#include "core/base/error.hpp"
#include "core/runtime/program_side.hpp"
#include "core/schedule/recordings.hpp"
#include "core/schedule/replay_player.hpp"
#include "hierarchy/region/cuts.hpp"
#include "hierarchy/region/rows_in_use.hpp"
#include "hierarchy/region/storage.hpp"
#include "tessera/detail/rows_task.hpp"
#include "tessera/front_end.hpp"

namespace tessera::hierarchy {
namespace {

/// The rows that a task names, with their arrays locked.
class named_rows {
 public:
  /// @param uses  outlive it, as does `name`
  named_rows(runtime& of, const task_name& name, std::span<const detail::task_demand> uses)
      : m_runtime(of), m_name(name), m_uses(uses), m_recorder(program_side_of(of).recordings.current()) {
    for (const detail::task_demand& d : uses) {
      if (!d.is_rows) continue;
      check(d);
      m_arrays.push_back(d.array);
    }
    std::ranges::sort(m_arrays, std::less<>());
    m_arrays.erase(std::unique(m_arrays.begin(), m_arrays.end()), m_arrays.end());
    for (array_storage* const one : m_arrays) m_held.emplace_back(*one);
    const bool replayed = std::ranges::any_of(m_arrays, [](const array_storage* a) { return a->keeps_tiles(); });
    if (m_recorder == nullptr && replayed) m_between_replays = program_side_of(of).replays.hold();
  }

  /// Cuts the arrays so that what is written begins and ends where a tile does, where that may be.
  void cut() {
    for (const detail::task_demand& d : m_uses)
      if (d.is_rows && !stays(*d.array)) cut_for(d);
  }

  /// Cuts the arrays so that the rows of all uses, of which there are as many, end a block at the same distances from
  /// their first ones. @returns these distances. Throws usage where blocks that stay do not.
  std::vector<std::int64_t> cut_alike() {
    std::vector<std::int64_t> distances;
    for (const detail::task_demand& d : m_uses)
      for (const tiled_memory::tile& t : tiles_of(d)) distances.push_back(std::min(t.end, d.last) - d.first);
    in_order(distances);
    for (const detail::task_demand& d : m_uses) {
      if (stays(*d.array) || d.first == d.last) continue;
      const std::span<const tiled_memory::tile> tiles = tiles_of(d);
      std::vector<std::int64_t> ends;
      for (const tiled_memory::tile& t : tiles) ends.push_back(t.end);
      if (d.first > tiles.front().begin) ends.push_back(d.first);
      for (const std::int64_t distance : distances) ends.push_back(d.first + distance);
      in_order(ends);
      if (!std::ranges::equal(tiles, ends, {}, &tiled_memory::tile::end)) cut(*d.array, tiles, ends);
    }
    for (const detail::task_demand& d : m_uses) check_alike(d, distances);
    return distances;
  }
  /// The blocks that have rows of a use, in their order. Valid until the next call, or cut.
  std::span<const tiled_memory::tile> tiles_of(const detail::task_demand& d) {
    return d.array->tiles().tiles_with(d.first, d.last, m_room);
  }

  /// The blocks of all uses, in their order; and where those of each use are among them.
  std::vector<block_access> blocks(std::span<detail::region_operand> operands) {
    std::vector<block_access> all;
    all.reserve(m_uses.size());
    for (std::size_t u = 0; u < m_uses.size(); ++u) {
      const detail::task_demand& d = m_uses[u];
      operands[u] = {static_cast<std::uint32_t>(all.size()), 1, 0, d.first, d.last};
      if (!d.is_rows) {
        all.push_back(d.block);
        continue;
      }
      const std::span<const tiled_memory::tile> tiles = tiles_of(d);
      operands[u].count = static_cast<std::uint32_t>(tiles.size());
      operands[u].row = tiles.empty() ? d.first : tiles.front().begin;
      for (const tiled_memory::tile& t : tiles) {
        const bool partly = t.begin < d.first || t.end > d.last;  // the other rows stay
        const bool of_part = partly && d.how == intent::write;
        const intent how = of_part ? intent::update : d.how;
        if (partly && how == intent::scratch) refuse_scratch(d, tiles);
        check_alone(std::span(all).first(operands[u].first), t, how, *d.array);
        all.push_back({.block = t.record,
                       .version = 0,
                       .intent = how,
                       .flags = of_part ? block::access_of_part : std::uint8_t{0},
                       .space = d.combination});
      }
    }
    return all;
  }

  /// The rows of all uses, for validation, as long as `order` lives.
  void enter(rows_in_use& order) const {
    if (!order.is_validated()) return;
    for (const detail::task_demand& d : m_uses)
      if (d.is_rows) order.add(*d.array, rows_of(d), d.how, d.combination);
    order.enter(fmt::format("task '{}' submitted", m_name.text), m_name.site);
  }
  /// What is looked at between the submission and the end of the arrays' locks.
  void note() const {
    for (const detail::task_demand& d : m_uses) {
      if (!d.is_rows || d.first == d.last) continue;
      const bool writes = d.how != intent::read;
      if (m_recorder == nullptr) {
        d.array->views().note_region(writes);
        continue;
      }
      m_recorder->keep(d.array->keep_tiles());
      m_recorder->count_replays(d.array->views().counter(writes));
    }
  }

 private:
  static void in_order(std::vector<std::int64_t>& rows) {
    std::ranges::sort(rows);
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  }
  /// Whether its blocks are those of everybody, whatever the task would like.
  bool stays(const array_storage& array) const {
    return array.has_own_blocks() || (m_recorder == nullptr && array.keeps_tiles());
  }
  void cut(array_storage& array, std::span<const tiled_memory::tile> tiles, std::span<const std::int64_t> ends) {
    const tiled_memory::ends_of_rows to{tiles.front().begin, ends};
    if (m_recorder != nullptr) {
      array.cut_in_recording(to, m_name.site);
      return;
    }
    array.tiles().cut(to, m_name.site);
    array.views().note_region(true);
  }
  /// So that what is written begins and ends where a tile does, and what is read is no more tiles than a task should
  /// name.
  void cut_for(const detail::task_demand& d) {
    const row_interval rows = rows_of(d);
    const std::span<const tiled_memory::tile> tiles = tiles_of(d);
    if (tiles.empty()) return;
    if (d.how != intent::read) {
      if (!cuts_fit(tiles, {&rows, 1}, false)) cut(*d.array, tiles, fitting_cuts(tiles, {&rows, 1}, false));
    } else if (m_recorder == nullptr && tiles.size() > max_tiles_shared && !d.array->cut_may_wait(rows) &&
               !writes(*d.array)) {
      cut(*d.array, tiles, std::vector{tiles.back().end});
    }
  }
  bool writes(const array_storage& array) const {
    return std::ranges::any_of(
        m_uses, [&](const detail::task_demand& d) { return d.is_rows && d.array == &array && d.how != intent::read; });
  }
  void check_alike(const detail::task_demand& d, std::span<const std::int64_t> distances) {
    const std::span<const tiled_memory::tile> tiles = tiles_of(d);
    bool alike = tiles.size() == distances.size() && (tiles.empty() || tiles.front().begin == d.first);
    for (std::size_t k = 0; alike && k < tiles.size(); ++k) alike = tiles[k].end - d.first == distances[k];
    if (!alike)
      refuse(fmt::format("goes over rows {} to {} of array '{}', whose blocks end elsewhere than these rows, or those "
                         "of the other array",
                         d.first, d.last, d.array->name()),
             "an operation has whole blocks: name rows that are, give both arrays the same blocks, or submit a "
             "function");
  }
  [[noreturn]] void refuse_scratch(const detail::task_demand& d, std::span<const tiled_memory::tile> tiles) const {
    const row_interval all = with_their_tiles(tiles, rows_of(d));
    refuse(
        fmt::format("has rows {} to {} of array '{}' as scratch, whose blocks are rows {} to {}: the others would "
                    "be lost",
                    d.first, d.last, d.array->name(), all.begin, all.end),
        fmt::format("name whole blocks, here rows({}, {}); or write rows, which keeps the others", all.begin, all.end));
  }
  static row_interval rows_of(const detail::task_demand& d) { return {d.first, d.last}; }
  [[noreturn]] void refuse(std::string text, std::string hint) const {
    throw error(error_kind::usage, fmt::format("task '{}' {}", m_name.text, std::move(text)),
                file_and_line(m_name.site), std::move(hint));
  }

  void check(const detail::task_demand& d) const {
    if (d.array == nullptr)
      refuse("names rows of an array that was moved from", "name those of the array that it was moved to");
    const std::string& name = d.array->name();
    if (d.array->alive().ended() || &d.array->owner() != &m_runtime)
      refuse(fmt::format("names rows of array '{}', which belongs to {}", name,
                         d.array->alive().ended() ? "a runtime that has ended" : "another runtime"),
             "arrays of a task are those of its runtime");
    const std::int64_t rows = d.array->extents().rows;
    if (d.first < 0 || d.last < d.first || d.last > rows)
      refuse(fmt::format("names rows {} to {} of array '{}', which has {} rows", d.first, d.last, name, rows),
             hint_of_rows);
    if (d.array->is_remade())
      refuse(fmt::format("names array '{}', which is made again for each region", name),
             "make it with the form automatic to keep its elements");
    for (const detail::task_demand& other : m_uses) {
      if (&other == &d) return;
      if (!other.is_rows || other.array != d.array || std::max(other.first, d.first) >= std::min(other.last, d.last) ||
          (other.how == intent::read && d.how == intent::read))
        continue;
      refuse(fmt::format("names rows {} to {} and {} to {} of array '{}', and writes some of them twice", other.first,
                         other.last, d.first, d.last, name),
             "name them once, with update where they are read and written");
    }
  }

  /// A task sees each block once, unless it only reads it. @param before  those of the uses before
  void check_alone(std::span<const block_access> before, const tiled_memory::tile& t, intent how,
                   const array_storage& array) const {
    for (const block_access& b : before)
      if (b.block == t.record && (b.intent != intent::read || how != intent::read))
        refuse(fmt::format("names rows {} to {} of array '{}' twice, which are one block, and writes some of them",
                           t.begin, t.end, array.name()),
               "name them once, with update; or give the array smaller blocks");
  }

  runtime& m_runtime;
  const task_name& m_name;
  const std::span<const detail::task_demand> m_uses;
  task::graph_recorder* const m_recorder;
  std::vector<array_storage*> m_arrays;  // each once, in the order of addresses, as regions lock them
  std::vector<std::unique_lock<array_storage>> m_held;
  std::shared_lock<std::shared_mutex> m_between_replays;
  std::vector<tiled_memory::tile> m_room;
};

}  // namespace
}  // namespace tessera::hierarchy

namespace tessera::detail {

task_demand demand_of(const std::shared_ptr<hierarchy::array_storage>& array, intent how, const access_pattern& pattern,
                      std::source_location site) {
  const std::int64_t rows = array != nullptr ? array->extents().rows : 0;
  switch (pattern.which) {
    case access_pattern::kind::halo:
      throw error(error_kind::usage,
                  fmt::format("a task uses array '{}' by halo", array != nullptr ? array->name() : std::string()),
                  file_and_line(site), "patterns are for the iterations of a region: a task names x.rows(first, last)");
    case access_pattern::kind::rows:
      return {{}, true, array.get(), how, pattern.first, pattern.last};
    case access_pattern::kind::chunk:
    case access_pattern::kind::whole:
      break;
  }
  return {{}, true, array.get(), how, 0, rows};
}

void refuse_writes_outside(std::int64_t first, std::int64_t last) {
  throw error(
      error_kind::usage,
      fmt::format("it writes beside rows {} to {}, which it was given: all that a function writes must be named", first,
                  last),
      {}, "name all rows that the function writes: rows(first, last) are those from first to last - 1");
}

void commit_with_rows(runtime& of, submission& made, const task_name& name, std::span<const task_demand> uses,
                      std::span<region_operand> operands, std::span<row_extents> extents) {
  {
    const runtime::no_waiting no_waiting(of);  // tasks may name rows of the same arrays
    hierarchy::named_rows rows(of, name, uses);
    rows.cut();
    for (std::size_t u = 0; u < uses.size(); ++u)
      if (uses[u].is_rows) extents[u] = uses[u].array->extents();
    const std::vector<block_access> blocks = rows.blocks(operands);
    check_blocks(of, name.text, blocks, name.site);
    made.name_blocks(blocks);
    rows.note();
    hierarchy::rows_in_use order(of);
    rows.enter(order);
    made.commit();
  }
  front_end(of).wait_for_window();
}

namespace {

/// Whether arrays have the same extents, cut into the same blocks.
bool have_like_blocks(std::span<const elements> of) {
  return std::ranges::all_of(of, [&](const elements& e) {
    return e.whole && e.array->size() != 0 && e.array->extents() == of.front().array->extents() &&
           e.array->block_extents() == of.front().array->block_extents();
  });
}

}  // namespace

void over_blocks(runtime& of, const task_name& operation, std::span<const elements> uses, const per_block& submit) {
  std::vector<block::record*> blocks(uses.size());
  if (have_like_blocks(uses)) {
    for (std::size_t k = 0; k < uses.front().array->size(); ++k) {
      for (std::size_t u = 0; u < uses.size(); ++u)
        blocks[u] = &uses[u].array->state(operation.site).at(k, operation.site);
      submit(blocks);
    }
    return;
  }
  std::vector<std::shared_ptr<hierarchy::array_storage>> kept;
  std::vector<task_demand> demands;
  for (const elements& e : uses) {
    kept.push_back(e.array->rows(operation.site));
    const std::int64_t rows = kept.back() != nullptr ? kept.back()->extents().rows : 0;
    demands.push_back({{}, true, kept.back().get(), e.how, e.whole ? 0 : e.first, e.whole ? rows : e.last});
  }
  for (std::size_t u = 1; u < uses.size(); ++u) {
    const auto width = [&](std::size_t k) { return kept[k] != nullptr ? kept[k]->extents().row_elements() : 0; };
    const auto rows = [&](std::size_t k) { return demands[k].last - demands[k].first; };
    if (rows(u) != rows(0) || width(u) != width(0))
      throw error(error_kind::usage,
                  fmt::format("{} of {} rows of {} elements and {} rows of {}", operation.text, rows(0), width(0),
                              rows(u), width(u)),
                  file_and_line(operation.site), "both have as many rows, of as many elements");
  }
  {
    const runtime::no_waiting no_waiting(of);  // tasks may name rows of the same arrays
    hierarchy::named_rows rows(of, operation, demands);
    const std::size_t count = rows.cut_alike().size();
    std::vector<block::record*> all;  // those of the first use, then of the next one
    all.reserve(count * uses.size());
    for (const task_demand& d : demands)
      for (const tiled_memory::tile& t : rows.tiles_of(d)) all.push_back(t.record);
    rows.note();
    hierarchy::rows_in_use order(of);
    rows.enter(order);
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t u = 0; u < uses.size(); ++u) blocks[u] = all[u * count + k];
      submit(blocks);
    }
  }
  front_end(of).wait_for_window();
}

}  // namespace tessera::detail
