// What all linear operators have in common, and their application.
#include <fmt/format.h>

#include <cmath>

#include "libraries/sparse/program/operator_node.hpp"

namespace tessera::sparse {

double bytes_of_block(std::int64_t rows, std::int64_t vectors) noexcept {
  return static_cast<double>(rows) * static_cast<double>(vectors) * sizeof(double);
}

void refuse_operator(const std::string& name, std::string what, const char* hint) {
  throw error(error_kind::usage, std::move(what), name, hint);
}

plain_node::plain_node(std::string of_name, std::int64_t of_rows, const operator_facts& facts)
    : node(std::move(of_name), of_rows, of_rows), m_facts(facts) {
  if (rows < 0) refuse_operator(name, fmt::format("an operator of {} rows", rows), "0 or more");
}

work_count plain_node::work(std::int64_t vectors) const {
  return {m_facts.flops * static_cast<double>(vectors), m_facts.bytes + 2 * bytes_of_block(rows, vectors)};
}

void plain_node::record(const affine_call& c) const {
  if (c.alpha == 1 && c.beta == 0) return record_product(c.x, c.y);
  const scratch_block product(c.owner(), c.x.columns());
  record_product(c.x, product);
  axpby(c.alpha, product, c.beta, c.y);
}

const std::string& linear_operator::name() const noexcept { return m_node->name; }
std::int64_t linear_operator::rows() const noexcept { return m_node->rows; }
std::int64_t linear_operator::columns() const noexcept { return m_node->columns; }
std::optional<bool> linear_operator::is_symmetric() const { return m_node->symmetric(); }
bool linear_operator::works_in_place() const noexcept { return m_node->in_place(); }
const csr_matrix* linear_operator::heaviest_matrix() const noexcept { return m_node->heaviest(); }
work_count linear_operator::work(std::int64_t vectors) const {
  if (vectors < 1) refuse_operator(name(), fmt::format("work for {} vectors", vectors), "at least one");
  return m_node->work(vectors);
}
linear_operator linear_operator::transposed() const { return m_node->transposed(); }

std::int64_t vector_panels::rows() const noexcept { return m_of->rows; }
std::int64_t vector_panels::columns() const noexcept { return m_of->columns; }
std::size_t vector_panels::size() const noexcept { return m_of->tiles->tiles().size(); }
row_range vector_panels::rows_of(std::size_t panel) const {
  const tiled_memory::tile& tile = m_of->tiles->tiles()[panel];
  return {tile.begin, tile.end};
}
block_access vector_panels::use(std::size_t panel, intent how) const { return m_of->use(panel, how); }
std::vector<block_access> vector_panels::all(intent how) const {
  std::vector<block_access> uses;
  for (std::size_t panel = 0; panel < size(); ++panel) uses.push_back(use(panel, how));
  return uses;
}

void apply(double alpha, const linear_operator& a, const block_vector& x, double beta, const block_vector& y) {
  call c(operation_kind::mxm, "apply");
  c.reads(x), c.writes(y);
  c.expect_equal_columns(x, y);
  if (a.rows() != x.rows() || a.columns() != x.rows())
    refuse_call("apply",
                fmt::format("{} is {} x {}, and {} has {} rows", a.name(), a.rows(), a.columns(), x.name(), x.rows()));
  if (!std::isfinite(alpha) || !std::isfinite(beta))
    refuse_call("apply", fmt::format("{} times {}, and {} times {}", alpha, a.name(), beta, y.name()));
  if (&x.data() != &y.data() || a.works_in_place()) return a.inside().record({alpha, x, beta, y});
  const scratch_block product(c.owner(), x.columns());
  a.inside().record({alpha, x, 0, product});
  if (beta == 0)
    copy(product, y);
  else
    axpby(1, product, beta, y);
}

void apply(const linear_operator& a, const block_vector& x, const block_vector& y) { apply(1, a, x, 0, y); }

}  // namespace tessera::sparse
