#include "hierarchy/region/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

namespace tessera::hierarchy {
namespace {

using kind = access_pattern::kind;

std::int64_t index_at(const loop_bounds& over, std::uint64_t ordinal) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(over.begin) +
                                   ordinal * static_cast<std::uint64_t>(over.step));
}

/// a + b; where that is no number, the nearest one: rows that far away are not there anyway.
std::int64_t bounded_sum(std::int64_t a, std::int64_t b) {
  std::int64_t exact = 0;
  if (!__builtin_add_overflow(a, b, &exact)) return exact;
  return b > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

/// The rows from the first index of a piece to that of the next one; of the last piece, to its own last index. So
/// neighbours do not leave rows between them.
row_interval rows_of(const loop_bounds& over, const piece& p, std::uint64_t count) {
  const std::int64_t first = index_at(over, p.begin), last = index_at(over, p.end - 1);
  if (over.step > 0) return {first, p.end == count ? last + 1 : index_at(over, p.end)};
  return {p.end == count ? last : index_at(over, p.end) + 1, bounded_sum(first, 1)};
}

/// Those of rows [begin, end) that an array has.
row_interval within(std::int64_t rows, std::int64_t begin, std::int64_t end) {
  const std::int64_t first = std::clamp<std::int64_t>(begin, 0, rows);
  return {first, std::clamp(end, first, rows)};
}

/// The same; where there is none, the nearest one: kernels want a tile of each array.
row_interval some_within(std::int64_t rows, std::int64_t begin, std::int64_t end) {
  const row_interval all = within(rows, begin, end);
  if (all.begin < all.end || rows == 0) return all;
  const std::int64_t nearest = std::clamp<std::int64_t>(begin, 0, rows - 1);
  return {nearest, nearest + 1};
}

/// Whether a halo is wider than arrays can be (2^46 bytes).
bool is_wider_than_arrays(const access_pattern& p) {
  constexpr std::int64_t most = std::int64_t{1} << 46;
  return p.first > most || p.first < -most || p.last > most || p.last < -most;
}

/// How far the nearest row of a halo is from the iteration's own, which the halo may not have; else 0.
std::int64_t beside_own(const access_pattern& p) {
  if (p.which != kind::halo) return 0;
  return p.first < 0 ? -p.first : std::min<std::int64_t>(p.last, 0);
}

/// How many rows beside those of its own a halo has.
std::int64_t beside(const access_pattern& p) { return p.which == kind::halo ? p.first + p.last : 0; }

}  // namespace

region_request::region_request(const task_name& named, const region_options& with, const loop_bounds& loop,
                               std::span<const detail::region_demand> uses, const detail::region_code& runs)
    : name(named), options(with), over(loop), demands(uses), code(runs), count(count_iterations()) {}

std::string region_request::name_and_place() const {
  return fmt::format("'{}' at {}:{}", name.text, name.site.file_name(), name.site.line());
}

std::string region_request::policy_place() const {
  if (options.policy_source.empty() || options.policy == region_policy()) return name_and_place();
  return fmt::format("'{}', split by {}", name.text, options.policy_source);
}

std::uint64_t iterations_of(const loop_bounds& over) noexcept {
  const auto begin = static_cast<std::uint64_t>(over.begin), end = static_cast<std::uint64_t>(over.end);
  if (over.step > 0 ? over.begin >= over.end : over.begin <= over.end) return 0;
  const std::uint64_t length = over.step > 0 ? end - begin : begin - end,
                      step = over.step > 0 ? static_cast<std::uint64_t>(over.step)
                                           : 0 - static_cast<std::uint64_t>(over.step);
  return (length - 1) / step + 1;
}

std::uint64_t region_request::count_iterations() const {
  if (over.step == 0) refuse("its loop has a step of 0", "a step is 1 or more, or negative in a loop that counts down");
  return iterations_of(over);
}

void region_request::refuse(std::string text, std::string hint) const {
  throw error(error_kind::usage, std::move(text), "region " + name_and_place(), std::move(hint));
}

void region_request::check_named() const {
  for (std::size_t u = 0; u < demands.size(); ++u) {
    const detail::region_demand& d = demands[u];
    if (d.array != nullptr || d.result != nullptr) continue;
    const bool is_array = d.join == detail::reduction_kind::none;
    refuse(fmt::format("its use {} is {} that was moved from", u + 1, is_array ? "an array" : "a result"),
           fmt::format("name the {} that it was moved to", is_array ? "array" : "result"));
  }
}

void region_request::check_owner(const runtime& of) const {
  for (const detail::region_demand& d : demands) {
    // Its runtime may have ended, and the model's be at the same address.
    const bool ended = d.array != nullptr ? d.array->alive().ended() : d.result->alive().ended();
    if (ended || (d.array != nullptr ? &d.array->owner() : &d.result->owner()) != &of)
      refuse(fmt::format("'{}' belongs to {}", d.array != nullptr ? d.array->name() : d.result->name(),
                         ended ? "a runtime that has ended" : "another runtime"),
             "arrays and results of a region are those of its model's runtime");
  }
}

void region_request::check_cut(const array_storage& array) const {
  if (array.keeps_tiles())
    refuse(fmt::format("array '{}' would be split in another way, and a recording uses it", array.name()),
           "an array that a recording uses keeps its split: use another array, or the same loop and policy");
}

void region_request::check_once() const {
  for (std::size_t k = 0; k < demands.size(); ++k) {
    const detail::region_demand& d = demands[k];
    const std::span<const detail::region_demand> before = demands.first(k);
    if (d.result != nullptr && std::ranges::find(before, d.result, &detail::region_demand::result) != before.end())
      refuse(fmt::format("it names result '{}' twice", d.result->name()));
    if (d.array == nullptr) continue;
    const auto named = std::ranges::count(before, d.array, &detail::region_demand::array);
    if (named > 1)
      refuse(fmt::format("it names array '{}' three times", d.array->name()),
             "once to write it, and once to read rows that it does not write");
    if (named == 1) check_apart(d, *std::ranges::find(before, d.array, &detail::region_demand::array));
  }
}

void region_request::check_apart(const detail::region_demand& one, const detail::region_demand& other) const {
  const bool first_writes = one.how != intent::read;
  const detail::region_demand& writer = first_writes ? one : other;
  const detail::region_demand& reader = first_writes ? other : one;
  const std::string& name_of_it = one.array->name();
  if (writer.how == intent::read || reader.how != intent::read || writer.pattern.which != kind::chunk)
    refuse(
        fmt::format("it names array '{}' twice", name_of_it),
        "name it once, with update where it is read and written; or twice, to write it by chunk and to read rows that "
        "no iteration writes");
  const row_interval written = all_rows(writer), read = all_rows(reader);
  if (written.begin >= written.end || read.begin >= read.end) return;  // of no rows
  if (read.begin < written.end && written.begin < read.end)
    refuse(
        fmt::format("it names array '{}' twice: it writes rows {} to {}, and reads rows {} to {}", name_of_it,
                    written.begin, written.end, read.begin, read.end),
        splits_other_rows()
            ? "split_over counts all rows that it splits as written: leave it out, or read from a second array"
            : "name it once, with update where it is read and written; an iteration that reads rows which others write "
              "needs a second array");
}

row_interval region_request::loop_rows() const {
  if (count == 0) return {};
  const std::int64_t first = index_at(over, 0), last = index_at(over, count - 1);
  return {std::min(first, last), bounded_sum(std::max(first, last), 1)};
}

row_interval region_request::all_rows(const detail::region_demand& d) const {
  const std::int64_t rows = d.array->extents().rows;
  const row_interval loop =
      splits_other_rows() ? row_interval{options.split_over[0], options.split_over[1]} : loop_rows();
  switch (d.pattern.which) {
    case kind::whole:
      return {0, rows};
    case kind::rows:
      return {d.pattern.first, d.pattern.last};
    case kind::halo:
      if (count == 0) return {};
      return some_within(rows, bounded_sum(loop.begin, -d.pattern.first), bounded_sum(loop.end, d.pattern.last));
    case kind::chunk:
      break;
  }
  return loop;
}

const detail::region_demand* region_request::reader_beside(const detail::region_demand& writer) const {
  if (writer.array == nullptr || writer.how == intent::read) return nullptr;
  for (const detail::region_demand& d : demands)
    if (&d != &writer && d.array == writer.array) return &d;
  return nullptr;
}

bool region_request::reads_beside(const detail::region_demand& d) const {
  return d.array != nullptr && d.how == intent::read &&
         std::ranges::any_of(demands, [&](const auto& other) { return &other != &d && other.array == d.array; });
}

void region_request::check_rows() const {
  const auto [first, last] = options.split_over;
  if (first > last)
    refuse(fmt::format("it splits rows {} to {}, which are none", first, last),
           "split_over is {first, behind the last}");
  if (splits_other_rows() && (over.step != 1 || over.begin < first || (count != 0 && over.end > last)))
    refuse(fmt::format("its loop from {} to {} in steps of {} is no part of rows {} to {}, which it splits", over.begin,
                       over.end, over.step, first, last),
           "split_over names rows of which the loop, in steps of 1, is a part");
  for (const detail::region_demand& d : demands)
    if (d.array != nullptr) check_rows_of(d);
}

void region_request::check_remade(bool recorded) const {
  for (const detail::region_demand& d : demands) {
    if (d.array == nullptr || !d.array->is_remade()) continue;
    if (d.how != intent::write)
      refuse(fmt::format("it reads array '{}', which is made again for each region", d.array->name()),
             "use it with write, or make it with the form automatic to keep its elements");
    if (recorded)
      refuse(fmt::format("array '{}' is made again for each region, and replays use the same one", d.array->name()),
             "make it with the form automatic");
  }
}

void region_request::check_rows_of(const detail::region_demand& d) const {
  const std::int64_t rows = d.array->extents().rows;
  const access_pattern& p = d.pattern;
  if (p.which == kind::rows) {
    if (p.first < 0 || p.last < p.first || p.last > rows)
      refuse(
          fmt::format("it uses rows {} to {} of array '{}', which has {} rows", p.first, p.last, d.array->name(), rows),
          hint_of_rows);
    return;
  }
  const bool around = p.first >= 0 && p.last >= 0;  // else row i itself is not used
  const std::int64_t most = std::max<std::int64_t>(rows, 1);
  if (p.which == kind::halo && (is_wider_than_arrays(p) || (around ? std::max(p.first, p.last) >= most
                                                                   : p.first + p.last < 0 || p.first + p.last >= most)))
    refuse(p.first == p.last ? fmt::format("its halo of {} rows does not fit array '{}', which has {} rows", p.last,
                                           d.array->name(), rows)
                             : fmt::format("its halo of {} rows before and {} behind does not fit array '{}', which "
                                           "has {} rows",
                                           p.first, p.last, d.array->name(), rows),
           "a halo is less wide than the array has rows; `whole` reads any row");
  if (p.which == kind::halo) check_surely_read(d);
  if (p.which == kind::halo && !around) check_reach(d);
  if (p.which == kind::whole || (p.which == kind::halo && !around)) return;
  if (splits_other_rows() && (options.split_over[0] < 0 || options.split_over[1] > rows))
    refuse(fmt::format("it splits rows {} to {}, and array '{}' has {} rows", options.split_over[0],
                       options.split_over[1], d.array->name(), rows));
  if (count == 0) return;
  const row_interval loop = loop_rows();
  if (loop.begin < 0 || loop.end > rows)
    refuse(fmt::format("iteration {} has no row in array '{}', which has {} rows",
                       loop.begin < 0 ? loop.begin : loop.end - 1, d.array->name(), rows),
           "the index of the first loop is the row of arrays that are used by chunk or halo; `whole` takes any row");
}

void region_request::check_surely_read(const detail::region_demand& d) const {
  const auto [from, to] = std::pair(d.pattern.surely_from, d.pattern.surely_to);
  if (count == 0 || (from == 0 && to == 0)) return;
  const std::int64_t rows = d.array->extents().rows;
  const row_interval loop = loop_rows();
  const auto refuse_row = [&](std::int64_t iteration, std::int64_t row) {
    refuse(fmt::format("iteration {} reads row {} of array '{}', which has {} rows", iteration, row, d.array->name(),
                       rows),
           "let the loop end before, make the array longer, or read under a condition");
  };
  if (from < 0 && bounded_sum(loop.begin, from) < 0) refuse_row(loop.begin, bounded_sum(loop.begin, from));
  if (to > 0 && bounded_sum(loop.end, to) > rows) refuse_row(loop.end - 1, bounded_sum(loop.end - 1, to));
}

/// A halo beside row i may end where the array does, also for all iterations of a short loop; not where no row of the
/// array could have one.
void region_request::check_reach(const detail::region_demand& d) const {
  if (count == 0) return;
  const std::int64_t rows = d.array->extents().rows, away = beside_own(d.pattern);
  const row_interval loop = loop_rows(),
                     used = {bounded_sum(loop.begin, -d.pattern.first), bounded_sum(loop.end, d.pattern.last)};
  if (used.begin < rows && used.end > 0) return;
  if (away < rows && away > -rows && loop.begin < rows && loop.end > 0) return;
  const auto row = [](std::int64_t away_from_i) {
    return fmt::format("i {} {}", away_from_i < 0 ? '-' : '+', std::abs(away_from_i));
  };
  refuse(fmt::format("its iterations i = {} to {} read no row of array '{}', which has {} rows, but {}", loop.begin,
                     loop.end - 1, d.array->name(), rows,
                     beside(d.pattern) == 0 ? fmt::format("row {}", row(d.pattern.last))
                                            : fmt::format("rows {} to {}", row(-d.pattern.first), row(d.pattern.last))),
         "offset(k) is row i + k, and halo(before, behind) rows i - before to i + behind; `whole` reads any row");
}

void region_request::check_writes(std::size_t pieces) const {
  for (const detail::region_demand& d : demands)
    if (d.array != nullptr) check_writes_of(d, pieces);
}

bool region_request::writes_whole() const noexcept {
  return std::ranges::any_of(demands, [](const detail::region_demand& d) {
    return d.array != nullptr && d.how != intent::read && d.pattern.which == kind::whole;
  });
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
  const std::int64_t first = options.split_over[0];
  for (const piece& p : planned.pieces)
    parts.push_back(splits_other_rows() ? row_interval{first + static_cast<std::int64_t>(p.begin),
                                                       first + static_cast<std::int64_t>(p.end)}
                                        : rows_of(over, p, count));
  return parts;
}

std::uint64_t region_request::split_count() const noexcept {
  const auto [first, last] = options.split_over;
  return splits_other_rows() ? static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first) : count;
}

std::optional<std::vector<std::uint64_t>> region_request::block_borders() const {
  const auto blocks_of = [](const detail::region_demand& d) {
    return by_part(d) && d.array->has_own_blocks() && beside_own(d.pattern) == 0;
  };
  if (std::ranges::none_of(demands, blocks_of)) return std::nullopt;
  const bool writes = std::ranges::any_of(
      demands, [&](const detail::region_demand& d) { return blocks_of(d) && d.how != intent::read; });
  const std::uint64_t all = split_count();
  const bool by_rows = splits_other_rows();
  const std::int64_t first = by_rows ? options.split_over[0] : over.begin, step = by_rows ? 1 : over.step;
  std::vector<std::uint64_t> borders;
  for (const detail::region_demand& d : demands) {
    if (!blocks_of(d) || (writes && d.how == intent::read)) continue;
    for (const tiled_memory::tile& t : d.array->tiles().tiles()) {
      // The first iteration whose row is at or behind the border; counting down, the first whose row is before it.
      const std::int64_t way = step > 0 ? t.end - first : first - t.end;
      if (way < (step > 0 ? 1 : 0)) continue;
      const auto distance = static_cast<std::uint64_t>(way);
      const std::uint64_t stride = step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
      const std::uint64_t at = step > 0 ? (distance - 1) / stride + 1 : distance / stride + 1;
      if (at < all) borders.push_back(at);
    }
  }
  std::ranges::sort(borders);
  borders.erase(std::ranges::unique(borders).begin(), borders.end());
  return borders;
}

std::shared_ptr<const plan> region_request::of_the_loop(std::shared_ptr<const plan> planned,
                                                        std::vector<row_interval>& parts) const {
  if (!splits_other_rows()) return planned;
  const std::uint64_t before =
                          static_cast<std::uint64_t>(over.begin) - static_cast<std::uint64_t>(options.split_over[0]),
                      end = before + count;
  plan clipped{planned->leaves, {}};
  std::vector<row_interval> kept;
  for (std::size_t k = 0; k < planned->pieces.size(); ++k) {
    piece p = planned->pieces[k];
    p.begin = std::max(p.begin, before), p.end = std::min(p.end, end);
    if (p.begin >= p.end) continue;
    p.begin -= before, p.end -= before;
    clipped.pieces.push_back(p);
    if (!parts.empty()) kept.push_back(parts[k]);
  }
  parts = std::move(kept);
  return std::make_shared<const plan>(std::move(clipped));
}

std::span<const row_interval> region_request::own_rows(const detail::region_demand& d,
                                                       std::span<const row_interval> parts,
                                                       std::vector<row_interval>& room) {
  const std::int64_t away = beside_own(d.pattern);
  if (away == 0) return parts;
  room.clear();
  for (const row_interval& part : parts)
    if (const row_interval rows =
            within(d.array->extents().rows, bounded_sum(part.begin, away), bounded_sum(part.end, away));
        rows.begin < rows.end)
      room.push_back(rows);
  return room;
}

row_interval region_request::used_rows(const detail::region_demand& d, std::span<const row_interval> parts,
                                       std::size_t k) {
  const std::int64_t rows = d.array->extents().rows;
  switch (d.pattern.which) {
    case kind::whole:
      return {0, rows};
    case kind::rows:
      return {d.pattern.first, d.pattern.last};
    case kind::halo:
      return some_within(rows, bounded_sum(parts[k].begin, -d.pattern.first),
                         bounded_sum(parts[k].end, d.pattern.last));
    case kind::chunk:
      break;
  }
  return parts[k];
}

memory_need region_request::memory_need_of() const {
  memory_need need;
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();  // steps may be as long as indices are
  const auto bytes = [](std::uint64_t rows, const detail::region_demand& d) {
    std::uint64_t all = 0;
    const std::uint64_t of_row =
        static_cast<std::uint64_t>(d.array->extents().row_elements()) * size_of(d.array->type());
    return __builtin_mul_overflow(rows, of_row, &all) ? most : all;
  };
  const auto add = [](std::uint64_t& to, std::uint64_t more) {
    if (__builtin_add_overflow(to, more, &to)) to = most;
  };
  const auto step = static_cast<std::uint64_t>(over.step);
  const std::uint64_t rows = over.step < 0 ? 0 - step : step;  // of an iteration
  for (const detail::region_demand& d : demands) {
    if (d.array == nullptr) continue;
    const access_pattern& p = d.pattern;
    if (p.which == kind::whole) add(need.of_all, bytes(static_cast<std::uint64_t>(d.array->extents().rows), d));
    if (p.which == kind::rows) add(need.of_all, bytes(static_cast<std::uint64_t>(p.last - p.first), d));
    if (p.which == kind::halo) add(need.per_task, bytes(static_cast<std::uint64_t>(beside(p)), d));
    if (by_part(d)) add(need.per_iteration, bytes(beside(p) > 0 ? (rows > most / 3 ? most : 3 * rows) : rows, d));
  }
  return need;
}

std::vector<std::int64_t> region_request::edges(const detail::region_demand& d, const plan& split,
                                                std::span<const row_interval> parts) {
  std::vector<std::int64_t> rows;
  if (beside(d.pattern) == 0) return rows;
  for (std::size_t k = 0; k + 1 < parts.size(); ++k) {
    if (split.pieces[k].memory == split.pieces[k + 1].memory) continue;
    const std::int64_t border = std::max(parts[k].begin, parts[k + 1].begin);
    for (const std::int64_t row : {bounded_sum(border, -d.pattern.first), bounded_sum(border, d.pattern.last)})
      if (row > 0 && row < d.array->extents().rows) rows.push_back(row);
  }
  return rows;
}

row_interval region_request::crowded_rows(const detail::region_demand& d, std::span<const row_interval> parts) {
  const std::span<const tiled_memory::tile> tiles = d.array->tiles().tiles();
  if (tiles.size() <= max_tiles_shared) return {};
  row_interval all = used_rows(d, parts, 0);
  std::size_t most = tiles_with(tiles, all).count;
  for (std::size_t k = 1; d.pattern.which == kind::halo && k < parts.size(); ++k) {
    const row_interval used = used_rows(d, parts, k);
    most = std::max(most, tiles_with(tiles, used).count);
    all = {std::min(all.begin, used.begin), std::max(all.end, used.end)};
  }
  return most > max_tiles_shared ? all : row_interval{};
}

intent region_request::how(const detail::region_demand& d) const {
  const bool all = d.pattern.which == kind::chunk && (over.step == 1 || over.step == -1) && !splits_other_rows();
  return d.how == intent::write && !all ? intent::update : d.how;
}

}  // namespace tessera::hierarchy
