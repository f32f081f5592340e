#include "libraries/sparse/program/strip_steps.hpp"

#include <algorithm>

#include "libraries/sparse/program/row_operator.hpp"

namespace tessera::sparse {
namespace {

/// One strip of one task.
class strip {
 public:
  strip(const strip_operands& on, std::int64_t begin, std::int64_t end) : m_on(on), m_begin(begin), m_end(end) {}

  /// The first of these steps, and those behind it that are done with it: how many.
  std::size_t run(std::span<const strip_step> steps) const {
    if (const std::size_t alike = grams_of_columns(steps); alike > 1) {
      add_grams(steps.first(alike));
      return alike;
    }
    run(steps.front());
    return 1;
  }

 private:
  void run(const strip_step& s) const {
    switch (s.kind) {
      case operation_kind::mxm:
        return multiply(s);
      case operation_kind::gram:
        return kernels::add_gram(at(s.from[0]), columns(s.from[0]), at(s.from[1]), columns(s.from[1]), rows(), sums(s));
      case operation_kind::column_norms:
        return kernels::add_dots(at(s.from[0]), at(s.from[0]), columns(s.from[0]), rows(), sums(s));
      case operation_kind::column_dots:
        return kernels::add_dots(at(s.from[0]), at(s.from[1]), columns(s.from[0]), rows(), sums(s));
      case operation_kind::combine:
        return combine_all(s);
      case operation_kind::axpy:
        return kernels::add_scaled(small(s), at(s.from[0]), at(s.to[0]), columns(s.to[0]), rows());
      case operation_kind::add_multiple:
        return kernels::add_multiple(s.factor, at(s.from[0]), at(s.to[0]), elements(s.to[0]));
      case operation_kind::scale:
        return kernels::scale(small(s), at(s.from[0]), at(s.to[0]), columns(s.to[0]), rows());
      case operation_kind::axpby:
        return kernels::axpby(s.scale, at(s.from[0]), s.factor, at(s.to[0]), elements(s.to[0]));
      case operation_kind::copy:
        std::copy_n(at(s.from[0]), elements(s.from[0]), at(s.to[0]));
        return;
      case operation_kind::hadamard:
        return kernels::multiply_elements(at(s.from[0]), at(s.from[1]), at(s.to[0]), elements(s.to[0]));
      case operation_kind::apply_diagonal:
        return scale_rows(s);
      case operation_kind::tasks:
      case operation_kind::call:
      case operation_kind::small:
        return;
    }
  }
  std::int64_t rows() const noexcept { return m_end - m_begin; }
  std::int64_t columns(std::size_t vector) const { return m_on.vectors[vector].columns; }
  std::int64_t elements(std::size_t vector) const { return rows() * columns(vector); }
  double* at(std::size_t vector) const {
    const panel_rows& v = m_on.vectors[vector];
    return v.data + (m_begin - m_on.begin) * v.columns;
  }
  const double* small(const strip_step& s) const { return m_on.small[s.small]; }
  double* sums(const strip_step& s) const { return m_on.partials + s.partial; }

  /// How many of the first steps are products of single columns with the same one, their sums one behind the other.
  std::size_t grams_of_columns(std::span<const strip_step> steps) const {
    const strip_step& first = steps.front();
    std::size_t alike = 0;
    for (const strip_step& s : steps) {
      if (s.kind != operation_kind::gram || s.from[1] != first.from[1] || columns(s.from[0]) != 1 ||
          columns(s.from[1]) != 1 || s.partial != first.partial + static_cast<std::int64_t>(alike))
        break;
      ++alike;
    }
    return alike;
  }
  void add_grams(std::span<const strip_step> steps) const {
    static thread_local std::vector<const double*> left;
    left.clear();
    for (const strip_step& s : steps) left.push_back(at(s.from[0]));
    kernels::add_grams(left, at(steps.front().from[1]), rows(), sums(steps.front()));
  }

  /// Y = scale A X + factor Y: where that is more than A X, the product is made in a buffer that the cache holds.
  void multiply(const strip_step& s) const {
    double* const y = at(s.to[0]);
    if (s.factor == 0) {
      multiply_into(s, y);
      if (s.scale != 1) kernels::axpby(s.scale, y, 0, y, elements(s.to[0]));
      return;
    }
    double* const product = buffer(elements(s.to[0]));
    multiply_into(s, product);
    kernels::axpby(s.scale, product, s.factor, y, elements(s.to[0]));
  }
  void multiply_into(const strip_step& s, double* y) const {
    const multiplied& x = m_on.sources[static_cast<std::size_t>(s.source)];
    if (s.rows != nullptr)
      call_operator(*s.rows, x, {m_begin, m_end}, columns(s.to[0]), y);
    else if (x.whole != nullptr)
      s.product->panel(m_on.panel).multiply(m_begin, m_end, columns(s.to[0]), x.whole, y);
    else
      kernels::multiply(*s.matrix, m_begin, m_end, columns(s.to[0]), x.pieces, y);
  }
  void scale_rows(const strip_step& s) const {
    const double *const d = s.diagonal + m_begin, *const x = at(s.from[0]);
    if (s.scale == 1 && s.factor == 0) return kernels::scale_rows(d, x, at(s.to[0]), columns(s.to[0]), rows());
    double* const product = buffer(elements(s.to[0]));
    kernels::scale_rows(d, x, product, columns(s.to[0]), rows());
    kernels::axpby(s.scale, product, s.factor, at(s.to[0]), elements(s.to[0]));
  }
  static double* buffer(std::int64_t numbers) {
    static thread_local std::vector<double> room;
    if (room.size() < static_cast<std::size_t>(numbers)) room.resize(static_cast<std::size_t>(numbers));
    return room.data();
  }

  /// What is read too, as a source or for its multiple, is written behind all that reads it.
  void combine_all(const strip_step& s) const {
    static thread_local std::vector<kernels::factor> factors;
    static thread_local std::vector<double> kept;
    factors.clear();
    for (const std::size_t v : s.from) factors.push_back({at(v), columns(v)});
    std::size_t room = 0;
    for (const std::size_t v : s.to) room += static_cast<std::size_t>(elements(v));
    if (kept.size() < room) kept.resize(room);
    double* next = kept.data();
    std::int64_t column = 0;
    for (const std::size_t v : s.to) {
      const bool later = s.reads_destination(v);
      kernels::combine(factors, small(s) + column, s.small_columns, later ? next : at(v), columns(v), rows());
      if (later) next += elements(v);
      column += columns(v);
    }
    next = kept.data();
    for (const std::size_t v : s.to) {
      if (!s.reads_destination(v)) continue;
      if (s.factor == 0)
        std::copy_n(next, elements(v), at(v));
      else
        kernels::add_to_multiple(next, s.factor, at(v), elements(v));
      next += elements(v);
    }
  }

  const strip_operands& m_on;
  std::int64_t m_begin, m_end;
};

}  // namespace

void multiplied::join(std::int64_t columns) {
  whole = nullptr;
  if (pieces.empty()) return;
  const kernels::piece& first = pieces.front();
  for (const kernels::piece& p : pieces)
    if (p.data != first.data + (p.begin - first.begin) * columns) return;
  whole = first.data - first.begin * columns;
}

void run_steps(const std::vector<strip_step>& steps, const strip_operands& on) {
  for (std::int64_t row = on.begin; row < on.end; row += on.strip_rows) {
    const strip here(on, row, std::min(row + on.strip_rows, on.end));
    for (std::span<const strip_step> left = steps; !left.empty();) left = left.subspan(here.run(left));
  }
}

}  // namespace tessera::sparse
