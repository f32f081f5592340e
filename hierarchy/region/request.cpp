#include "hierarchy/region/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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

}  // namespace

region_request::region_request(const task_name& named, const region_options& with, const loop_bounds& loop,
                               std::span<const detail::region_demand> uses, const detail::region_code& runs)
    : name(named), options(with), over(loop), demands(uses), code(runs), count(count_iterations()) {}

std::string region_request::who() const {
  return fmt::format("'{}' at {}:{}", name.text, name.site.file_name(), name.site.line());
}

std::uint64_t region_request::count_iterations() const {
  if (over.step == 0) refuse("its loop has a step of 0");
  const auto begin = static_cast<std::uint64_t>(over.begin), end = static_cast<std::uint64_t>(over.end);
  if (over.step > 0 ? over.begin >= over.end : over.begin <= over.end) return 0;
  const std::uint64_t length = over.step > 0 ? end - begin : begin - end,
                      step = over.step > 0 ? static_cast<std::uint64_t>(over.step)
                                           : 0 - static_cast<std::uint64_t>(over.step);
  return (length - 1) / step + 1;
}

void region_request::refuse(std::string text, std::string hint) const {
  throw error(error_kind::usage, std::move(text), "region " + who(), std::move(hint));
}

void region_request::check_owner(const runtime& of) const {
  for (const detail::region_demand& d : demands)
    if ((d.array != nullptr ? &d.array->tiles().owner() : &d.result->owner()) != &of)
      refuse(fmt::format("'{}' belongs to another runtime", d.array != nullptr ? d.array->name() : d.result->name()));
}

void region_request::check_cut(const array_storage& array, bool recorded) const {
  if (array.keeps_tiles())
    refuse(fmt::format("array '{}' would be split in another way, and a recording uses it", array.name()),
           "an array that a recording uses keeps its split: use another array, or the same loop and policy");
  if (recorded)
    refuse(fmt::format("array '{}' would be split in another way inside a recording", array.name()),
           "run what is recorded once before: its arrays are then split as it wants them");
}

void region_request::check_once() const {
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

void region_request::check_rows() const {
  for (const detail::region_demand& d : demands)
    if (d.array != nullptr) check_rows_of(d);
}

void region_request::check_rows_of(const detail::region_demand& d) const {
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

void region_request::check_writes(std::size_t pieces) const {
  for (const detail::region_demand& d : demands)
    if (d.array != nullptr) check_writes_of(d, pieces);
}

void region_request::check_writes_of(const detail::region_demand& d, std::size_t pieces) const {
  if (d.how == intent::read || d.pattern.which == kind::chunk) return;
  if (d.pattern.which == kind::whole && pieces <= 1) return;
  refuse(d.pattern.which == kind::whole
             ? fmt::format("each of its {} parts would write all of array '{}'", pieces, d.array->name())
             : fmt::format("iterations would write rows of array '{}' that others use", d.array->name()),
         d.pattern.which == kind::whole ? "write by chunk, or give the whole loop to one leaf with the policy \"any\""
                                        : "write by chunk: halo and rows are for what is read");
}

bool region_request::by_part(const detail::region_demand& d) noexcept {
  return d.array != nullptr && (d.pattern.which == kind::chunk || d.pattern.which == kind::halo);
}

std::vector<row_interval> region_request::parts_of(const plan& planned) const {
  std::vector<row_interval> parts;
  if (std::ranges::none_of(demands, by_part)) return parts;
  parts.reserve(planned.pieces.size());
  for (const piece& p : planned.pieces) parts.push_back(rows_of(over, p, count));
  return parts;
}

row_interval region_request::used_rows(const detail::region_demand& d, std::span<const row_interval> parts,
                                       std::size_t k) {
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

memory_need region_request::memory_need_of() const {
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

std::vector<std::int64_t> region_request::edges(const detail::region_demand& d, const plan& split,
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

row_interval region_request::crowded_rows(const detail::region_demand& d, std::span<const row_interval> parts) {
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

intent region_request::how(const detail::region_demand& d) const {
  const bool all = d.pattern.which == kind::chunk && (over.step == 1 || over.step == -1);
  return d.how == intent::write && !all ? intent::update : d.how;
}

}  // namespace tessera::hierarchy
