#include "hierarchy/region/undeclared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera::hierarchy {
namespace {

using kind = access_pattern::kind;

std::string rows_text(const row_interval& rows) {
  if (rows.end - rows.begin == 1) return fmt::format("row {}", rows.begin);
  return rows.begin < rows.end ? fmt::format("rows {} to {}", rows.begin, rows.end - 1) : "no row";
}

std::string halo_text(std::int64_t before, std::int64_t behind) {
  return before == behind ? fmt::format("halo({})", before) : fmt::format("halo({}, {})", before, behind);
}

bool is_there(const undeclared_rows& found, std::int64_t rows) {
  return !found.row || (*found.row >= 0 && *found.row < rows);
}

std::string hint_of(const undeclared_rows& found, const declared_use& use, std::int64_t rows) {
  if (!is_there(found, rows))
    return "the body must look where the array ends: loop over the rows that have neighbours, or look at the index";
  if (found.written)
    return "an iteration writes its own row, by chunk; or one leaf has the whole loop, and writes `whole`";
  if (use.how != intent::read)
    return "iterations of one region must not depend on each other: read such rows from a second array; rows that no "
           "iteration writes can be named once more, read(..., rows(first, last))";
  if (std::max(found.before, found.behind) > found.told_apart) return "`whole` says that iterations read any row";
  switch (use.pattern.which) {
    case kind::chunk:
    case kind::halo:
      return fmt::format("read({}, {})?", use.array,
                         halo_text(use.pattern.first + found.before, use.pattern.last + found.behind));
    case kind::rows:
      return fmt::format("read({}, rows({}, {}))?", use.array, use.pattern.first - found.before,
                         use.pattern.last + found.behind);
    case kind::whole:
      break;
  }
  return {};
}

}  // namespace

undeclared_text text_of(const undeclared_rows& found, const std::string& region, const declared_use& use,
                        std::int64_t rows) {
  std::string what = fmt::format("region '{}' {} ", region, found.written ? "writes" : "reads");
  if (!found.row)
    what += fmt::format("array '{}' more than {} rows away from {}, which one of its parts declares", use.array,
                        found.told_apart, rows_text(found.declared));
  else if (is_there(found, rows))
    what += fmt::format("row {} of array '{}', where one of its parts declares {}", *found.row, use.array,
                        rows_text(found.declared));
  else
    what += fmt::format("row {} of array '{}', which has {} rows", *found.row, use.array, rows);
  return {std::move(what), hint_of(found, use, rows)};
}

}  // namespace tessera::hierarchy
