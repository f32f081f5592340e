#include "hierarchy/region/rows_in_use.hpp"

#include <algorithm>
#include <memory>

#include "core/runtime/program_side.hpp"
#include "core/schedule/recordings.hpp"

namespace tessera::hierarchy {
namespace {

/// The blocks that hold any of the ranges.
std::vector<const block::record*> blocks_of(array_storage& array, std::span<const validate::range_use> ranges) {
  std::vector<const block::record*> blocks;
  std::vector<tiled_memory::tile> room;
  for (const validate::range_use& r : ranges)
    for (const tiled_memory::tile& t : array.tiles().tiles_with(r.begin, r.end, room)) blocks.push_back(t.record);
  std::ranges::sort(blocks);
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  return blocks;
}

}  // namespace

rows_in_use::rows_in_use(runtime& of) : m_validator(program_side_of(of).validator), m_runtime(of) {}

void rows_in_use::add(array_storage& array, const row_interval& rows, intent how,
                      block::combination_number combination) {
  if (m_validator == nullptr || rows.begin >= rows.end) return;
  auto at = std::ranges::find(m_arrays, &array, &decltype(m_arrays)::value_type::first);
  if (at == m_arrays.end()) at = m_arrays.insert(at, {&array, {}});
  std::vector<validate::range_use>& ranges = at->second;
  if (!ranges.empty() && ranges.back().how == how && ranges.back().combination == combination &&
      rows.begin >= ranges.back().begin && rows.begin <= ranges.back().end)
    ranges.back().end = std::max(ranges.back().end, rows.end);
  else
    ranges.push_back({rows.begin, rows.end, how, combination});
}

void rows_in_use::enter(std::string description, std::source_location site) {
  if (m_validator == nullptr) return;
  const auto user = std::make_shared<const validate::range_user>(validate::range_user{std::move(description), site});
  std::vector<validate::ranges_in_use> uses;
  for (auto& [array, ranges] : m_arrays) {
    std::vector<const block::record*> blocks = blocks_of(*array, ranges);
    uses.push_back({array->uses(), std::move(ranges), user, std::move(blocks)});
  }
  m_arrays.clear();
  if (task::graph_recorder* const recorder = program_side_of(m_runtime).recordings.current()) {
    for (validate::ranges_in_use& one : uses)
      recorder->use_ranges(std::make_shared<const validate::ranges_in_use>(std::move(one)));
    return;
  }
  m_entered.emplace(m_validator, uses);
}

}  // namespace tessera::hierarchy
