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
    for (array_storage* const one : m_arrays) {
      const std::vector<std::int64_t> ends = wanted_ends(*one);
      if (!ends.empty()) cut(*one, ends);
    }
  }

  /// Cuts the arrays so that the rows of all uses, of which there are as many, end a block at the same distances from
  /// their first ones. @returns these distances. Throws usage where blocks that stay do not.
  std::vector<std::int64_t> cut_alike() {
    std::vector<std::int64_t> distances;
    for (const detail::task_demand& d : m_uses) {
      const std::span<const tiled_memory::tile> tiles = d.array->tiles().tiles();
      const tile_range in = tiles_with(tiles, rows_of(d));
      for (const tiled_memory::tile& t : tiles.subspan(in.first, in.count))
        distances.push_back(std::min(t.end, d.last) - d.first);
    }
    in_order(distances);
    for (array_storage* const one : m_arrays) {
      if (stays(*one)) continue;
      const std::span<const tiled_memory::tile> tiles = one->tiles().tiles();
      std::vector<std::int64_t> ends;
      for (const tiled_memory::tile& t : tiles) ends.push_back(t.end);
      for (const detail::task_demand& d : m_uses) {
        if (d.array != one) continue;
        if (d.first > 0) ends.push_back(d.first);
        for (const std::int64_t distance : distances) ends.push_back(d.first + distance);
      }
      in_order(ends);
      if (!std::ranges::equal(tiles, ends, {}, &tiled_memory::tile::end)) cut(*one, ends);
    }
    for (const detail::task_demand& d : m_uses) check_alike(d, distances);
    return distances;
  }
  /// The blocks of a use that cut_alike has made fit.
  std::span<const tiled_memory::tile> tiles_of(const detail::task_demand& d) const {
    const std::span<const tiled_memory::tile> tiles = d.array->tiles().tiles();
    const tile_range in = tiles_with(tiles, rows_of(d));
    return tiles.subspan(in.first, in.count);
  }

  /// The blocks of all uses, in their order; and where those of each use are among them.
  std::vector<block_access> blocks(std::span<detail::region_operand> operands) const {
    std::vector<block_access> all;
    all.reserve(m_uses.size());
    for (std::size_t u = 0; u < m_uses.size(); ++u) {
      const detail::task_demand& d = m_uses[u];
      operands[u] = {static_cast<std::uint32_t>(all.size()), 1, 0, d.first, d.last};
      if (!d.is_rows) {
        all.push_back(d.block);
        continue;
      }
      const std::span<const tiled_memory::tile> tiles = d.array->tiles().tiles();
      const tile_range in = tiles_with(tiles, rows_of(d));
      operands[u].count = static_cast<std::uint32_t>(in.count);
      operands[u].row = tiles[in.first].begin;
      for (const tiled_memory::tile& t : tiles.subspan(in.first, in.count)) {
        const bool partly = t.begin < d.first || t.end > d.last;  // the other rows stay
        const intent how = partly && d.how == intent::write ? intent::update : d.how;
        check_alone(all, t, how, *d.array);
        all.push_back({.block = t.record, .version = 0, .intent = how, .flags = 0, .space = 0});
      }
    }
    return all;
  }

  /// What is looked at between the submission and the end of the arrays' locks.
  void note() const {
    for (const detail::task_demand& d : m_uses) {
      if (!d.is_rows) continue;
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
  void cut(array_storage& array, std::span<const std::int64_t> ends) {
    if (m_recorder != nullptr) {
      array.cut_in_recording(ends, m_name.site);
      return;
    }
    array.tiles().cut(ends, m_name.site);
    array.views().note_region(true);
  }
  void check_alike(const detail::task_demand& d, std::span<const std::int64_t> distances) const {
    const std::span<const tiled_memory::tile> tiles = tiles_of(d);
    bool alike = tiles.size() == distances.size() && tiles.front().begin == d.first;
    for (std::size_t k = 0; alike && k < tiles.size(); ++k) alike = tiles[k].end - d.first == distances[k];
    if (!alike)
      refuse(fmt::format("goes over rows {} to {} of array '{}', whose blocks end elsewhere than these rows, or those "
                         "of the other array",
                         d.first, d.last, d.array->name()),
             "an operation has whole blocks: name rows that are, give both arrays the same blocks, or submit a "
             "function");
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
    if (d.first < 0 || d.last <= d.first || d.last > rows)
      refuse(fmt::format("names rows {} to {} of array '{}', which has {} rows", d.first, d.last, name, rows),
             "at least one row: rows(first, last) are those from first to last - 1");
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

  /// A task sees each block once, unless it only reads it.
  void check_alone(std::span<const block_access> before, const tiled_memory::tile& t, intent how,
                   const array_storage& array) const {
    for (const block_access& b : before)
      if (b.block == t.record && (b.intent != intent::read || how != intent::read))
        refuse(fmt::format("names rows {} to {} of array '{}' twice, which are one block, and writes some of them",
                           t.begin, t.end, array.name()),
               "name them once, with update; or give the array smaller blocks");
  }

  /// Where the tiles of an array should end; nothing: as they do.
  std::vector<std::int64_t> wanted_ends(array_storage& array) const {
    if (stays(array)) return {};
    const std::span<const tiled_memory::tile> tiles = array.tiles().tiles();
    std::vector<row_interval> written;
    for (const detail::task_demand& d : m_uses)
      if (d.array == &array && d.how != intent::read) written.push_back(rows_of(d));
    if (!written.empty())
      return cuts_fit(tiles, written, false) ? std::vector<std::int64_t>{} : fitting_cuts(tiles, written, false);
    for (const detail::task_demand& d : m_uses)  // more than a task should name are joined
      if (d.array == &array && m_recorder == nullptr && tiles_with(tiles, rows_of(d)).count > max_tiles_shared &&
          !array.cut_may_wait(rows_of(d)))
        return joined_cuts(tiles, rows_of(d));
    return {};
  }

  runtime& m_runtime;
  const task_name& m_name;
  const std::span<const detail::task_demand> m_uses;
  task::graph_recorder* const m_recorder;
  std::vector<array_storage*> m_arrays;  // each once, in the order of addresses, as regions lock them
  std::vector<std::unique_lock<array_storage>> m_held;
  std::shared_lock<std::shared_mutex> m_between_replays;
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
  throw error(error_kind::usage, fmt::format("it writes beside rows {} to {}, which it was given", first, last), {},
              "name all rows that the function writes: rows(first, last) are those from first to last - 1");
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
    made.commit();
  }
  front_end(of).wait_for_window();
}

namespace {

/// Whether arrays have the same extents, cut into the same blocks.
bool have_like_blocks(std::span<const elements> of) {
  return std::ranges::all_of(of, [&](const elements& e) {
    return e.all() && e.array->size() != 0 && e.array->extents() == of.front().array->extents() &&
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
    demands.push_back({{}, true, kept.back().get(), e.how, e.all() ? 0 : e.first, e.all() ? rows : e.last});
    if (e.all() && rows == 0 && kept.back() != nullptr) return;
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
    rows.note();
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t u = 0; u < uses.size(); ++u) blocks[u] = rows.tiles_of(demands[u])[k].record;
      submit(blocks);
    }
  }
  front_end(of).wait_for_window();
}

}  // namespace tessera::detail
