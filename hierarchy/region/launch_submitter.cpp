#include "hierarchy/region/launch_submitter.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/runtime/program_side.hpp"
#include "core/schedule/recordings.hpp"
#include "hierarchy/region/rows_in_use.hpp"

namespace tessera::hierarchy {
namespace {

/// Elements of a result's part.
std::int64_t part_elements(const piece& p, const detail::region_code& code) {
  return p.on_device ? region_kernels::groups_for(p.end - p.begin, code.kernel->inside) : 1;
}

block_access access(block::record& block, intent how) {
  return {.block = &block, .version = 0, .intent = how, .flags = 0, .space = 0};
}

/// Where a region goes through a memory that is too small for it. With the arrays locked.
sweep sweep_of(const region_request& c, const launch_plan& made) {
  const detail::region_demand* largest = nullptr;
  for (const detail::region_demand& d : c.demands)
    if (c.by_part(d) && (largest == nullptr || d.array->bytes() > largest->array->bytes())) largest = &d;
  if (largest == nullptr || !goes_in_parts(*made.split)) return {};
  return {true, made.goes_on != largest->array->last_went_up()};
}

}  // namespace

void launch_submitter::submit(const region_request& c, launch_plan& made) {
  const tiling tiles = tiling_of(c, made);
  const sweep way = sweep_of(c, made);
  std::vector<detail::pending_piece> pieces = make_pieces(c, made, kernels_of(c, made, tiles), way);
  std::vector<detail::submission> joins;
  joins.reserve(c.code.joins.size());
  for (const detail::make_join join : c.code.joins) joins.push_back(join(m_runtime, c.name.text, c.name.site));
  for (const detail::region_demand& d : c.demands)
    for (std::size_t k = 0; d.result != nullptr && k < pieces.size(); ++k)
      (void)d.result->part(k, part_elements(made.split->pieces[k], c.code), c.name.site);

  if (way.in_parts)
    for (const detail::region_demand& d : c.demands)
      if (c.by_part(d)) d.array->note_sweep(!way.back);
  cut_arrays(c, made, tiles);
  name_blocks(c, made, pieces, joins);
  if (made.recorded) keep_for_replays(c, made);
  rows_in_use order(m_runtime);
  if (order.is_validated()) enter_rows(c, made, order);
  for (detail::pending_piece& p : pieces) p.task.commit();
  for (detail::submission& join : joins) join.commit();
  place_by_distance(c, made);
}

void launch_submitter::cut_arrays(const region_request& c, const launch_plan& made, const tiling& tiles) {
  for (const wanted_cut& cut : tiles.cuts) {
    if (made.recorded) {
      cut.array->cut_in_recording({0, cut.ends}, c.name.site);
      continue;
    }
    cut.array->tiles().cut({0, cut.ends}, c.name.site);
    cut.array->views().note_region(true);
  }
  for (const detail::region_demand& d : c.demands)
    if (d.array != nullptr && !made.recorded) d.array->views().note_region(d.how != intent::read);
}

void launch_submitter::enter_rows(const region_request& c, const launch_plan& made, rows_in_use& order) {
  const bool in_steps = c.over.step != 1 && c.over.step != -1;
  for (const detail::region_demand& d : c.demands) {
    if (d.array == nullptr) continue;
    if (in_steps && d.pattern.which == access_pattern::kind::chunk) {  // the rows between are nobody's
      for (std::uint64_t k = 0; k < c.count; ++k) {
        const std::int64_t row = c.over.begin + static_cast<std::int64_t>(k) * c.over.step;
        order.add(*d.array, {row, row + 1}, d.how);
      }
      continue;
    }
    for (std::size_t k = 0; k < made.split->pieces.size(); ++k)
      order.add(*d.array, c.used_rows(d, made.parts, k), d.how);
  }
  order.enter(fmt::format("region '{}' launched", c.name.text), c.name.site);
}

void launch_submitter::keep_for_replays(const region_request& c, const launch_plan& made) {
  task::graph_recorder& recorder = *program_side_of(m_runtime).recordings.current();
  recorder.keep(made.kept);
  for (const detail::region_demand& d : c.demands) {
    if (d.array == nullptr) continue;
    recorder.keep(d.array->keep_tiles());
    recorder.count_replays(d.array->views().counter(d.how != intent::read));
  }
}

void launch_submitter::place_by_distance(const region_request& c, const launch_plan& made) {
  for (const detail::region_demand& d : c.demands) {
    if (d.array == nullptr || !d.array->distance()) continue;
    m_tree.place(*d.array, placed_from(made, *d.array));
    if (d.array->is_remade() && d.how != intent::read) d.array->remake(c.name.site);
  }
}

/// The tiles that the arrays should have: few enough for the parameters of the kernels, if that can be.
launch_submitter::tiling launch_submitter::tiling_of(const region_request& c, const launch_plan& made) const {
  const std::span<const piece> pieces = made.split->pieces;
  // The tiles under views, and those of recordings; what a kernel has too many of is joined all the same.
  bool spare = true;
  for (std::size_t most = max_tiles_read;;) {
    tiling tiles{wanted_cuts(c, *made.split, made.parts, made.recorded, made.devices, most, spare), {}};
    if (!made.devices && !m_kernels.compares(c.code.kernel)) return tiles;
    tiles.named.emplace(c, pieces.size(), made.parts, tiles.cuts);
    bool fit = true;
    for (std::size_t k = 0; k < pieces.size(); ++k)
      fit = fit && (!pieces[k].on_device || region_kernels::fits(*c.code.kernel, c.demands, tiles.named->of(k)));
    if (fit || !spare) return tiles;
    if (most > 1)
      most /= 2;
    else
      spare = false;
  }
}

/// The operations of the pieces that run as kernels, null for the others; none at all where there is no kernel. While
/// validating those are operations too that somebody looks at. The tiles are those that there will be after the cuts.
/// Where those of a recording are too many for a kernel's parameters, the host runs a device's piece.
std::vector<const operation::definition*> launch_submitter::kernels_of(const region_request& c, const launch_plan& made,
                                                                       const tiling& tiles) {
  std::vector<const operation::definition*> kernels;
  const operation::definition* alone = nullptr;  // of what the host runs without a kernel
  if (m_kernels.looks()) alone = &m_kernels.looked_at(c.name, c.code.form, c.demands);
  if (!tiles.named) {
    if (alone != nullptr) kernels.assign(made.split->pieces.size(), alone);
    return kernels;
  }
  for (std::size_t k = 0; k < made.split->pieces.size(); ++k) {
    const bool on_device = made.split->pieces[k].on_device;
    const std::span<const std::size_t> named = tiles.named->of(k);
    const bool fits = region_kernels::fits(*c.code.kernel, c.demands, named);
    if (on_device && !fits &&
        !region_kernels::fits(*c.code.kernel, c.demands, std::vector<std::size_t>(named.size(), 1)))
      throw error(error_kind::usage,
                  fmt::format("region {} is a kernel of more than {} parameters on a device", c.name_and_place(),
                              operation::kernel_launch::max_arguments),
                  {}, "use fewer arrays in one region, or give it a location without devices (.at)");
    const bool as_kernel = fits && (on_device || m_kernels.compares(c.code.kernel));
    kernels.push_back(as_kernel ? &m_kernels.operation_for(c.name, *c.code.kernel, c.demands, named) : alone);
  }
  return kernels;
}

std::vector<detail::pending_piece> launch_submitter::make_pieces(const region_request& c, launch_plan& made,
                                                                 std::span<const operation::definition* const> kernels,
                                                                 const sweep& way) {
  std::vector<detail::pending_piece> pieces;
  pieces.reserve(made.split->pieces.size());
  for (std::size_t k = 0; k < made.split->pieces.size(); ++k) {
    const piece& p = made.split->pieces[k];
    pieces.push_back(c.code.piece(
        c.code.call, {p.begin, p.end}, made.counts.empty() ? detail::piece_count() : std::move(made.counts[k]),
        kernels.empty() ? nullptr : kernels[k], {.priority = way.priority_of(*made.split, k), .at = p.at}));
  }
  return pieces;
}

/// Of the tasks, with the tiles as they are now, and of those that join their results.
void launch_submitter::name_blocks(const region_request& c, const launch_plan& made,
                                   std::span<detail::pending_piece> pieces, std::span<detail::submission> joins) {
  std::vector<block_access> blocks;
  blocks.reserve(c.demands.size());
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    blocks.clear();
    for (std::size_t u = 0; u < c.demands.size(); ++u) {
      const detail::region_demand& d = c.demands[u];
      detail::region_operand& operand = pieces[k].operands[u];
      operand = {static_cast<std::uint32_t>(blocks.size()), 1, 0};
      if (d.result != nullptr) {
        blocks.push_back(
            access(d.result->part(k, part_elements(made.split->pieces[k], c.code), c.name.site), intent::write));
        continue;
      }
      const std::span<const tiled_memory::tile> tiles = d.array->tiles().tiles();
      const row_interval used = c.used_rows(d, made.parts, k);
      const tile_range in = tiles_with(tiles, used);
      operand.count = static_cast<std::uint32_t>(in.count);
      operand.begin = used.begin, operand.end = used.end;
      if (in.count > 0) operand.row = tiles[in.first].begin;
      for (const tiled_memory::tile& t : tiles.subspan(in.first, in.count)) {
        blocks.push_back(access(*t.record, c.how(d)));
        const bool partly = t.begin < used.begin || t.end > used.end;  // the other rows stay
        if (partly && c.how(d) == intent::write) blocks.back().intent = intent::update;
        if (d.how == intent::write && blocks.back().intent == intent::update)
          blocks.back().flags = block::access_of_part;
      }
    }
    check_blocks(m_runtime, c.name.text, blocks, c.name.site);
    pieces[k].task.name_blocks(blocks);
  }
  std::size_t join = 0;
  for (const detail::region_demand& d : c.demands) {
    if (d.result == nullptr) continue;
    blocks.assign(1, access(d.result->value(), intent::write));
    for (std::size_t k = 0; k < pieces.size(); ++k)
      blocks.push_back(
          access(d.result->part(k, part_elements(made.split->pieces[k], c.code), c.name.site), intent::read));
    joins[join++].name_blocks(blocks);
  }
}

}  // namespace tessera::hierarchy
