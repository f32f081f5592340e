#include "libraries/sparse/program/work.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "libraries/sparse/product/compressed_rows.hpp"
#include "libraries/sparse/product/matrix_product.hpp"
#include "libraries/sparse/program/fusion.hpp"

namespace tessera::sparse {
namespace {

double columns_of(const std::vector<std::shared_ptr<vector_data>>& blocks) {
  double sum = 0;
  for (const auto& v : blocks) sum += static_cast<double>(v->columns);
  return sum;
}

double flops_of(const operation& o) {
  using enum operation_kind;
  if (o.kind == small) return 0;
  if (o.has_whole_blocks()) return o.whole->facts.flops * static_cast<double>(o.from[0]->columns);
  const vector_data& first = *o.from[0];
  const auto rows = static_cast<double>(first.rows), columns = static_cast<double>(first.columns);
  switch (o.kind) {
    case mxm:
      return (o.matrix == nullptr ? o.rows->facts.flops : 2 * static_cast<double>(o.matrix->nonzeros())) * columns +
             (o.factor != 0 ? 2 * rows * columns : 0);
    case gram:  // of a block with itself one triangle is computed
      return o.from[0] == o.from[1] ? rows * columns * (columns + 1)
                                    : 2 * rows * columns * static_cast<double>(o.from[1]->columns);
    case combine:
      return 2 * rows * columns_of(o.from) * columns_of(o.to) + (o.factor != 0 ? 2 * rows * columns_of(o.to) : 0);
    case column_norms:
    case column_dots:
    case axpy:
    case add_multiple:
    case axpby:
      return 2 * rows * columns;
    case scale:
    case hadamard:
    case apply_diagonal:
      return rows * columns;
    case copy:
    case tasks:
    case call:
    case small:
      return 0;
  }
  return 0;
}

double bytes_of(const csr_matrix& a) { return static_cast<double>(bytes_of_compressed_rows(a.rows, a.nonzeros())); }

double bytes_of(const vector_data& v) {
  return static_cast<double>(v.rows) * static_cast<double>(v.columns) * sizeof(double);
}

/// What one pass over the rows moves if everything stays in the cache until the pass is done with it.
class traffic {
 public:
  void note(const operation& o) {
    if (o.product != nullptr)
      m_products.insert(o.product);
    else if (o.matrix != nullptr)
      m_matrices.insert(o.matrix);
    if (o.rows != nullptr) m_functions[o.rows] = o.rows->facts.bytes;
    if (o.whole != nullptr) m_functions[o.whole] = o.whole->facts.bytes;
    if (o.diagonal != nullptr) m_diagonals[o.diagonal] = o.from[0]->rows;
    for (const auto& v : o.from) note_read(*v);
    for (const auto& v : o.to) {
      if (o.updates()) note_read(*v);
      m_written.insert(v.get());
    }
  }
  const std::set<const matrix_product*>& products() const noexcept { return m_products; }
  /// All but those of the products.
  double bytes() const {
    double sum = 0;
    for (const csr_matrix* a : m_matrices) sum += bytes_of(*a);
    for (const auto& [function, bytes] : m_functions) sum += bytes;
    for (const auto& [diagonal, rows] : m_diagonals) sum += static_cast<double>(rows) * sizeof(double);
    for (const auto* all : {&m_read, &m_written})
      for (const vector_data* v : *all) sum += bytes_of(*v);
    return sum;
  }

 private:
  void note_read(const vector_data& v) {
    if (!m_written.contains(&v)) m_read.insert(&v);
  }
  std::set<const csr_matrix*> m_matrices;  // that are multiplied as they are
  std::set<const matrix_product*> m_products;
  std::map<const void*, double> m_functions;  // bytes that operators without a matrix say
  std::map<const double*, std::int64_t> m_diagonals;
  std::set<const vector_data*> m_read, m_written;
};

}  // namespace

counted_work counted_work::of(std::span<const operation> operations) {
  counted_work found;
  for (const operation& o : operations) found.m_apart.flops += flops_of(o);
  for (const pass& p : fuse(operations)) {
    for (const std::size_t k : p.small) {
      traffic moved;  // one of whole blocks is a pass by itself
      if (operations[k].has_whole_blocks()) moved.note(operations[k]);
      found.m_apart.bytes += moved.bytes();
    }
    traffic moved;
    for (const std::size_t k : p.panels) moved.note(operations[k]);
    found.m_apart.bytes += moved.bytes();
    for (const matrix_product* product : moved.products()) ++found.m_passes[product];
  }
  return found;
}

work_count counted_work::total() const {
  work_count sum = m_apart;
  for (const auto& [product, passes] : m_passes)
    if (passes > 0) sum.bytes += static_cast<double>(passes) * static_cast<double>(product->bytes_so_far());
  return sum;
}

}  // namespace tessera::sparse
