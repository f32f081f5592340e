// Operations one after the other, by the plainest loops: what the fused execution is compared with.
#include <cmath>

#include "libraries/sparse/program/state.hpp"

namespace tessera::sparse {
namespace {

/// All numbers of a block vector or a small matrix, at home.
struct table {
  template <class Data>
  explicit table(const std::shared_ptr<Data>& of) : numbers(of->home.get()), rows(of->rows), columns(of->columns) {}
  double& operator()(std::int64_t i, std::int64_t j) const { return numbers[i * columns + j]; }
  double* numbers;
  std::int64_t rows, columns;
};

/// y(i, j) = element(i, j).
template <class Element>
void fill(const table& y, const Element& element) {
  for (std::int64_t i = 0; i < y.rows; ++i)
    for (std::int64_t j = 0; j < y.columns; ++j) y(i, j) = element(i, j);
}

/// scale product + factor y.
double added(const operation& o, double product, double y) {
  return o.factor == 0 ? o.scale * product : o.scale * product + o.factor * y;
}

void multiply(const operation& o, const table& x, const table& y) {
  if (o.rows != nullptr) {
    std::vector<double> product(static_cast<std::size_t>(y.rows * y.columns));
    const row_range all{0, x.rows};
    o.rows->multiply({all, all, x.columns, x.numbers, product.data()});
    return fill(y, [&](std::int64_t i, std::int64_t j) {
      return added(o, product[static_cast<std::size_t>(i * y.columns + j)], y(i, j));
    });
  }
  const csr_matrix& a = *o.matrix;
  fill(y, [&](std::int64_t i, std::int64_t j) {
    double sum = 0;
    for (auto k = static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i) + 1]); ++k)
      sum += a.values[k] * x(a.entry_columns[k], j);
    return added(o, sum, y(i, j));
  });
}

/// The numbers at home become the current ones, wherever copies are, or the current ones come home.
void take_home(const vector_data& v, intent how) {
  for (const tiled_memory::tile& tile : v.tiles->tiles())
    (void)detail::held_block(v.tiles->owner(), *tile.record, how, std::source_location::current());
}

void run_tasks_at_once(const operation& o) {
  const vector_data &x = *o.from[0], &y = *o.to[0];
  take_home(x, intent::update), take_home(y, intent::update);
  o.whole->submit({x.owner->rt, vector_panels(x), vector_panels(y)});
  x.owner->rt.fence();
  take_home(y, intent::read);
}

void combine_all(const operation& o) {
  const table c(o.small_from[0]);
  std::vector<double> all(static_cast<std::size_t>(o.from[0]->rows * c.columns), 0.0);  // destinations side by side
  std::int64_t first = 0;
  for (const auto& source : o.from) {
    const table x(source);
    for (std::int64_t i = 0; i < x.rows; ++i)
      for (std::int64_t k = 0; k < x.columns; ++k)
        for (std::int64_t j = 0; j < c.columns; ++j)
          all[static_cast<std::size_t>(i * c.columns + j)] += x(i, k) * c(first + k, j);
    first += x.columns;
  }
  std::int64_t column = 0;
  for (const auto& destination : o.to) {
    const table y(destination);
    fill(y, [&](std::int64_t i, std::int64_t j) {
      const double sum = all[static_cast<std::size_t>(i * c.columns + column + j)];
      return o.factor == 0 ? sum : sum + o.factor * y(i, j);
    });
    column += y.columns;
  }
}

void call_small(const operation& o) {
  const auto views = [](const std::vector<std::shared_ptr<small_data>>& of) {
    std::vector<small_view> seen;
    for (const auto& m : of) seen.push_back({m->home.get(), m->rows, m->columns});
    return seen;
  };
  o.function(views(o.small_from), views(o.small_to));
}

}  // namespace

void run_at_once(const operation& o) {
  using enum operation_kind;
  switch (o.kind) {
    case mxm:
      return multiply(o, table(o.from[0]), table(o.to[0]));
    case gram: {
      const table x(o.from[0]), y(o.from[1]);
      return fill(table(o.small_to[0]), [&](std::int64_t i, std::int64_t j) {
        double sum = 0;
        for (std::int64_t row = 0; row < x.rows; ++row) sum += x(row, i) * y(row, j);
        return sum;
      });
    }
    case column_norms: {
      const table x(o.from[0]);
      return fill(table(o.small_to[0]), [&](std::int64_t, std::int64_t j) {
        double sum = 0;
        for (std::int64_t row = 0; row < x.rows; ++row) sum += x(row, j) * x(row, j);
        return std::sqrt(sum);
      });
    }
    case column_dots: {
      const table x(o.from[0]), y(o.from[1]);
      return fill(table(o.small_to[0]), [&](std::int64_t, std::int64_t j) {
        double sum = 0;
        for (std::int64_t row = 0; row < x.rows; ++row) sum += x(row, j) * y(row, j);
        return sum;
      });
    }
    case combine:
      return combine_all(o);
    case add_multiple: {
      const table x(o.from[0]), y(o.to[0]);
      return fill(y, [&](std::int64_t i, std::int64_t j) { return y(i, j) + o.factor * x(i, j); });
    }
    case axpy: {
      const table alpha(o.small_from[0]), x(o.from[0]), y(o.to[0]);
      return fill(y, [&](std::int64_t i, std::int64_t j) { return y(i, j) + alpha(0, j) * x(i, j); });
    }
    case scale: {
      const table alpha(o.small_from[0]), x(o.from[0]);
      return fill(table(o.to[0]), [&](std::int64_t i, std::int64_t j) { return alpha(0, j) * x(i, j); });
    }
    case copy:
      return fill(table(o.to[0]), table(o.from[0]));
    case hadamard: {
      const table x(o.from[0]), y(o.from[1]);
      return fill(table(o.to[0]), [&](std::int64_t i, std::int64_t j) { return x(i, j) * y(i, j); });
    }
    case apply_diagonal: {
      const table r(o.from[0]);
      const table to(o.to[0]);
      return fill(to, [&](std::int64_t i, std::int64_t j) { return added(o, o.diagonal[i] * r(i, j), to(i, j)); });
    }
    case axpby: {
      const table x(o.from[0]), y(o.to[0]);
      return fill(y, [&](std::int64_t i, std::int64_t j) { return added(o, x(i, j), y(i, j)); });
    }
    case tasks:
      return run_tasks_at_once(o);
    case call:
      return call_whole(o.whole->call,
                        {o.from[0]->rows, o.from[0]->columns, o.from[0]->home.get(), o.to[0]->home.get()});
    case small:
      return call_small(o);
  }
}

}  // namespace tessera::sparse
