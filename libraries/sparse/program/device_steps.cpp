#include "libraries/sparse/program/device_steps.hpp"

#include <algorithm>
#include <boost/container/static_vector.hpp>

namespace tessera::sparse {
namespace {

/// Slices of the rows whose sums are made one by one, and then added up.
std::int64_t slices_of(std::int64_t rows) noexcept {
  return std::max<std::int64_t>((rows + slice_rows - 1) / slice_rows, 1);
}
/// What is left when some of them at a time have been added up.
std::int64_t fewer(std::int64_t slices) noexcept { return (slices + slices_together - 1) / slices_together; }

}  // namespace

/// One panel on its stream.
class device_steps::launcher {
 public:
  launcher(const device_steps& of, const device_panel& panel, const op::context& c, op::kernel_sequence& to)
      : m_of(of), m_panel(panel), m_context(c), m_to(to), m_slices(slices_of(panel.rows)) {}

  void run(const strip_step& s) {
    // Products are put off, so that one launch makes several, until what they read is about to change.
    const auto is_read = [&](std::size_t v) {
      return std::ranges::any_of(m_products, [&](const product& p) { return p.x == v || p.y == v; });
    };
    if (std::ranges::any_of(s.to, is_read)) launch_products();
    switch (s.kind) {
      case operation_kind::mxm:
        return multiply(s);
      case operation_kind::gram:
        return put_off({s.from[0], s.from[1], true, s.partial});
      case operation_kind::column_norms:
        return put_off({s.from[0], s.from[0], false, s.partial});
      case operation_kind::column_dots:
        return put_off({s.from[0], s.from[1], false, s.partial});
      case operation_kind::combine:
        return combine_all(s);
      case operation_kind::axpy:
        return elements(step_kernel::add_scaled, s.to[0], [&](auto& how) {
          how.block(small(s)).block(vector(s.from[0])).block(vector(s.to[0])).value(columns(s.to[0]));
        });
      case operation_kind::add_multiple:
        return elements(step_kernel::add_multiple, s.to[0],
                        [&](auto& how) { how.value(s.factor).block(vector(s.from[0])).block(vector(s.to[0])); });
      case operation_kind::scale:
        return elements(step_kernel::scale, s.to[0], [&](auto& how) {
          how.block(small(s)).block(vector(s.from[0])).block(vector(s.to[0])).value(columns(s.to[0]));
        });
      case operation_kind::axpby:
        return elements(step_kernel::axpby, s.to[0], [&](auto& how) {
          how.value(s.scale).block(vector(s.from[0])).value(s.factor).block(vector(s.to[0]));
        });
      case operation_kind::copy:
        return elements(step_kernel::copy, s.to[0],
                        [&](auto& how) { how.block(vector(s.from[0])).block(vector(s.to[0])).value(std::int64_t{0}); });
      case operation_kind::hadamard:
        return elements(step_kernel::multiply_elements, s.to[0], [&](auto& how) {
          how.block(vector(s.from[0])).block(vector(s.from[1])).block(vector(s.to[0]));
        });
      case operation_kind::apply_diagonal:
        return elements(step_kernel::scale_rows, s.to[0], [&](auto& how) {
          how.block(m_context.operands[m_panel.diagonals[static_cast<std::size_t>(s.source)]]);
          how.block(vector(s.from[0])).block(vector(s.to[0])).value(columns(s.to[0])).value(s.scale).value(s.factor);
        });
      case operation_kind::tasks:
      case operation_kind::call:
      case operation_kind::small:
        return;
    }
  }

  /// The sums of the slices become those of the panel.
  void finish() {
    launch_products();
    if (m_of.m_partial_size == 0) return;
    std::uint64_t from = 0;
    for (std::int64_t slices = m_slices; slices > 1;) {
      const std::int64_t left = fewer(slices);
      const std::uint64_t to = from + m_of.bytes_of_slices(slices);
      op::kernel_launch how;
      how.over(left * m_of.m_partial_size).workspace(m_context, from);
      how.value(m_of.m_partial_size).value(slices).value(slices_together);
      if (left == 1)
        how.block(partials());
      else
        how.workspace(m_context, to);
      launch(step_kernel::sum_slices, how);
      slices = left, from = to;
    }
  }

 private:
  /// X^T Y, or the products of their columns.
  struct product {
    std::size_t x, y;  // block vectors
    bool all_pairs;
    std::int64_t partial;  // where its sums begin; those of one launch follow one another
  };

  const op::operand& vector(std::size_t v) const { return m_context.operands[v]; }
  const op::operand& small(const strip_step& s) const { return m_context.operands[m_of.m_columns.size() + s.small]; }
  const op::operand& partials() const { return m_context.operands[m_of.m_columns.size() + m_of.m_small]; }
  std::int64_t columns(std::size_t v) const { return m_of.m_columns[v]; }
  void launch(step_kernel kernel, const op::kernel_launch& how) { m_to.launch(static_cast<std::size_t>(kernel), how); }

  /// A thread for each element of a block vector; their number is the last parameter.
  template <class Give>
  void elements(step_kernel kernel, std::size_t of, const Give& give) {
    elements(kernel, m_panel.rows * columns(of), give);
  }
  template <class Give>
  void elements(step_kernel kernel, std::int64_t count, const Give& give) {
    op::kernel_launch how;
    how.over(count);
    give(how);
    launch(kernel, how.value(count));
  }

  void multiply(const strip_step& s) {
    const device_source& a = m_panel.sources[static_cast<std::size_t>(s.source)];
    const std::int64_t width = columns(s.to[0]);
    // A row without entries is 0, so there is one launch at least.
    for (std::size_t from = 0; from == 0 || from < a.pieces.size(); from += max_pieces) {
      op::kernel_launch how;
      how.over(m_panel.rows * width).block(m_context.operands[a.starts]);
      how.block(m_context.operands[a.entries > 0 ? a.columns : a.starts]);
      how.block(m_context.operands[a.entries > 0 ? a.values : s.to[0]]);
      how.value(m_panel.rows).value(a.entries).value(width).value(std::int64_t{from == 0});
      how.value(s.scale).value(s.factor);
      for (std::size_t k = from; k < from + max_pieces; ++k) {
        const device_source::piece none{s.to[0], 0, 0};
        const device_source::piece& piece = k < a.pieces.size() ? a.pieces[k] : none;
        how.block(m_context.operands[piece.block]).value(piece.begin).value(piece.end);
      }
      launch(step_kernel::multiply, how.block(vector(s.to[0])));
    }
  }

  void put_off(const product& one) {
    if (m_products.size() == max_products) launch_products();
    m_products.push_back(one);
  }
  void launch_products() {
    if (m_products.empty()) return;
    op::kernel_launch how;
    std::int64_t size = 0;
    for (const product& p : m_products) size += size_of(p);
    how.over(size * m_slices).value(m_panel.rows).value(slice_rows).value(m_slices).value(size);
    std::int64_t end = 0;
    for (std::size_t k = 0; k < max_products; ++k) {
      const product& p = m_products[std::min(k, m_products.size() - 1)];
      if (k < m_products.size()) end += size_of(p);
      how.block(vector(p.x)).value(columns(p.x)).block(vector(p.y));
      how.value(p.all_pairs ? columns(p.y) : std::int64_t{0}).value(end);
    }
    if (m_slices == 1)
      how.block(partials());
    else
      how.workspace(m_context);
    launch(step_kernel::products, how.value(m_products.front().partial).value(m_of.m_partial_size));
    m_products.clear();
  }
  std::int64_t size_of(const product& p) const { return columns(p.x) * (p.all_pairs ? columns(p.y) : 1); }

  /// What is read too is made in the workspace, some rows at a time, and written behind all that reads them.
  void combine_all(const strip_step& s) {
    if (m_of.goes_by_rows(s)) return combine_by_rows(s);
    const bool keeps = std::ranges::any_of(s.to, [&](std::size_t v) { return s.reads_destination(v); });
    const std::int64_t together = keeps ? m_of.rows_kept(m_panel.rows) : m_panel.rows;
    for (std::int64_t begin = 0; begin < m_panel.rows; begin += together)
      combine_rows(s, begin, std::min(together, m_panel.rows - begin));
  }
  void combine_by_rows(const strip_step& s) {
    op::kernel_launch how;
    how.over(m_panel.rows).block(small(s)).value(s.small_columns).value(m_panel.rows).value(s.factor);
    how.value(std::ssize(s.from));
    for (std::size_t k = 0; k < max_factors; ++k) how.block(vector(s.from[std::min(k, s.from.size() - 1)]));
    std::int64_t column = 0;
    for (const std::size_t v : s.to) {
      how.block(vector(v)).value(column);
      column += columns(v);
    }
    m_to.launch(static_cast<std::size_t>(step_kernel::combine_rows) + s.to.size() - 1, how);
  }
  void combine_rows(const strip_step& s, std::int64_t begin, std::int64_t rows) {
    const auto bytes = [&](std::size_t v) { return static_cast<std::uint64_t>(rows * columns(v)) * sizeof(double); };
    const std::uint64_t first = m_of.slice_bytes(m_panel.rows);
    std::uint64_t next = first;
    std::int64_t column = 0;
    for (const std::size_t v : s.to) {
      combine(s, v, column, begin, rows, next);
      if (s.reads_destination(v)) next += bytes(v);
      column += columns(v);
    }
    next = first;
    for (const std::size_t v : s.to) {
      if (!s.reads_destination(v)) continue;
      elements(s.factor == 0 ? step_kernel::copy : step_kernel::add_to_multiple, rows * columns(v), [&](auto& how) {
        how.workspace(m_context, next);
        if (s.factor != 0) how.value(s.factor);
        how.block(vector(v)).value(begin * columns(v));
      });
      next += bytes(v);
    }
  }
  /// Some rows of one destination, or in the workspace what it will be.
  void combine(const strip_step& s, std::size_t to, std::int64_t column, std::int64_t begin, std::int64_t rows,
               std::uint64_t room) {
    std::int64_t row = 0;  // of C
    for (std::size_t from = 0; from < s.from.size(); from += max_factors) {
      op::kernel_launch how;
      how.over(rows * columns(to)).block(small(s)).value(row * s.small_columns + column).value(s.small_columns);
      how.value(begin).value(rows).value(columns(to)).value(std::int64_t{from == 0});
      for (std::size_t k = from; k < from + max_factors; ++k) {
        const bool there = k < s.from.size();
        how.block(vector(s.from[there ? k : from])).value(there ? columns(s.from[k]) : 0);
        if (there) row += columns(s.from[k]);
      }
      if (s.reads_destination(to))
        how.workspace(m_context, room).value(std::int64_t{0});
      else
        how.block(vector(to)).value(begin);
      launch(step_kernel::combine, how);
    }
  }

  const device_steps& m_of;
  const device_panel& m_panel;
  const op::context& m_context;
  op::kernel_sequence& m_to;
  const std::int64_t m_slices;
  boost::container::static_vector<product, max_products> m_products;  // put off
};

device_steps::device_steps(const std::vector<strip_step>& steps, std::vector<std::int64_t> columns, std::size_t small,
                           std::int64_t partial_size)
    : m_steps(steps), m_columns(std::move(columns)), m_small(small), m_partial_size(partial_size) {
  for (const std::int64_t width : m_columns) m_widest = std::max(m_widest, width);
  for (const strip_step& s : steps) {
    if (s.kind != operation_kind::combine || goes_by_rows(s)) continue;
    std::int64_t kept = 0;
    for (const std::size_t v : s.to)
      if (s.reads_destination(v)) kept += m_columns[v];
    m_kept_columns = std::max(m_kept_columns, kept);
  }
}

std::int64_t device_steps::width() const noexcept { return m_widest % 4 == 0 && m_widest <= 32 ? m_widest : 1; }

bool device_steps::goes_by_rows(const strip_step& s) const noexcept {
  const auto fits = [&](std::size_t v) { return m_columns[v] == width(); };
  return !s.from.empty() && s.from.size() <= max_factors && s.to.size() <= max_destinations(width()) &&
         std::ranges::all_of(s.from, fits) && std::ranges::all_of(s.to, fits);
}

std::uint64_t device_steps::bytes_of_slices(std::int64_t count) const noexcept {
  return static_cast<std::uint64_t>(count * m_partial_size) * sizeof(double);
}

std::uint64_t device_steps::slice_bytes(std::int64_t rows) const noexcept {
  std::uint64_t bytes = 0;
  for (std::int64_t slices = slices_of(rows); slices > 1; slices = fewer(slices)) bytes += bytes_of_slices(slices);
  return bytes;
}

std::int64_t device_steps::rows_kept(std::int64_t rows) const noexcept {
  const auto panel = static_cast<std::uint64_t>(rows * m_widest) * sizeof(double), slices = slice_bytes(rows);
  const std::uint64_t room = std::max(panel > slices ? panel - slices : 0, panel / 4);
  const auto fitting = static_cast<std::int64_t>(room / sizeof(double)) / std::max<std::int64_t>(m_kept_columns, 1);
  return std::clamp<std::int64_t>(fitting, 1, rows);
}

std::uint64_t device_steps::workspace(std::int64_t rows) const noexcept {
  const std::int64_t kept = m_kept_columns > 0 ? rows_kept(rows) * m_kept_columns : 0;
  return slice_bytes(rows) + static_cast<std::uint64_t>(kept) * sizeof(double);
}

void device_steps::launch(const device_panel& panel, const op::context& c, op::kernel_sequence& to) const {
  launcher on(*this, panel, c, to);
  for (const strip_step& s : m_steps) on.run(s);
  on.finish();
}

}  // namespace tessera::sparse
