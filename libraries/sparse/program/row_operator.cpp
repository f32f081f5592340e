#include "libraries/sparse/program/row_operator.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"

namespace tessera::sparse {
namespace {

[[noreturn]] void refuse_rows(const row_function& a, const row_range& rows, const row_range& read,
                              const row_range& of) {
  throw error(error_kind::usage,
              fmt::format("for rows {} to {} it reads rows {} to {}, outside of {} to {}", rows.begin, rows.end,
                          read.begin, read.end, of.begin, of.end),
              a.name, "row_function::reads says which rows of X are needed; more rows need no fewer");
}

/// What it reads, which must be a part of what there is.
row_range rows_read(const row_function& a, const row_range& rows, const row_range& there) {
  if (a.reads == nullptr) return there;
  const row_range read = a.reads(rows);
  if (read.begin < there.begin || read.end > there.end || read.begin > read.end) refuse_rows(a, rows, read, there);
  return read;
}

/// Rows that lie in pieces, one behind the other.
const double* put_together(const multiplied& x, const row_range& rows, std::int64_t columns) {
  static thread_local std::vector<double> room;
  room.resize(static_cast<std::size_t>((rows.end - rows.begin) * columns));
  for (const kernels::piece& p : x.pieces) {
    const std::int64_t begin = std::max(p.begin, rows.begin), end = std::min(p.end, rows.end);
    if (begin < end)
      std::copy_n(p.data + (begin - p.begin) * columns, (end - begin) * columns,
                  room.data() + (begin - rows.begin) * columns);
  }
  return room.data();
}

}  // namespace

std::vector<std::vector<std::int32_t>> read_panels(const row_function& a, const row_panels& panels) {
  std::vector<std::vector<std::int32_t>> read(static_cast<std::size_t>(panels.count()));
  const row_range all{0, panels.ends.back()};
  for (std::int64_t p = 0; p < panels.count(); ++p) {
    const row_range rows = rows_read(a, {panels.begin(p), panels.end(p)}, all);
    if (rows.begin == rows.end) continue;
    for (std::int64_t other = panels.of_row(rows.begin); other <= panels.of_row(rows.end - 1); ++other)
      read[static_cast<std::size_t>(p)].push_back(static_cast<std::int32_t>(other));
  }
  return read;
}

void call_operator(const row_function& a, const multiplied& x, const row_range& rows, std::int64_t columns, double* y) {
  const row_range there = x.pieces.empty() ? row_range{} : row_range{x.pieces.front().begin, x.pieces.back().end};
  const row_range from = rows_read(a, rows, there);
  const double* const first = x.whole != nullptr ? x.whole + from.begin * columns : put_together(x, from, columns);
  a.multiply({rows, from, columns, first, y});
}

}  // namespace tessera::sparse
