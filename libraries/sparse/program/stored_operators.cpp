// Operators that are numbers: matrices, diagonals, the identity.
#include <algorithm>
#include <mutex>

#include "libraries/sparse/product/compressed_rows.hpp"
#include "libraries/sparse/program/operator_node.hpp"

namespace tessera::sparse {
namespace {

bool looks_symmetric(const csr_matrix& a) {
  require_well_formed(a);
  if (a.rows != a.columns) return false;
  try {
    require_symmetric(a);
  } catch (const error&) {
    return false;
  }
  return true;
}

class matrix_node final : public linear_operator::node {
 public:
  explicit matrix_node(const csr_matrix& a) : node(a.name, a.rows, a.columns), m_matrix(a) {}
  explicit matrix_node(std::shared_ptr<const csr_matrix> a)
      : node(a->name, a->rows, a->columns), m_own(std::move(a)), m_matrix(*m_own) {}

  std::optional<bool> symmetric() const override {
    std::call_once(m_once, [this] { m_symmetric = looks_symmetric(m_matrix); });
    return m_symmetric;
  }
  linear_operator transposed() const override;
  const csr_matrix* heaviest() const noexcept override { return &m_matrix; }
  work_count work(std::int64_t vectors) const override {
    const auto entries = static_cast<double>(m_matrix.nonzeros());
    return {2 * entries * static_cast<double>(vectors),
            static_cast<double>(bytes_of_compressed_rows(rows, m_matrix.nonzeros())) + bytes_of_block(rows, vectors) +
                bytes_of_block(columns, vectors)};
  }
  void record(const affine_call& c) const override { record_matrix(c, m_matrix); }

  void record_transposed(const affine_call& c) const {
    keep(c);
    record_matrix(c, c.owner().transposed_of(m_matrix));
  }
  /// Programs tell matrices apart by their addresses.
  void keep(const affine_call& c) const {
    if (m_own != nullptr) c.owner().keep(m_own);
  }

 private:
  void record_matrix(const affine_call& c, const csr_matrix& a) const {
    keep(c);
    call made(operation_kind::mxm, "apply");
    made.reads(c.x), made.writes(c.y);
    made.made().matrix = &a;
    made.made().scale = c.alpha, made.made().factor = c.beta;
    made.record();
  }
  const std::shared_ptr<const csr_matrix> m_own;
  const csr_matrix& m_matrix;
  mutable std::once_flag m_once;
  mutable bool m_symmetric = false;
};

class transposed_node final : public linear_operator::node {
 public:
  explicit transposed_node(std::shared_ptr<const matrix_node> of)
      : node(of->name + "^T", of->columns, of->rows), m_of(std::move(of)) {}
  std::optional<bool> symmetric() const override { return m_of->symmetric(); }
  linear_operator transposed() const override { return linear_operator(m_of); }
  const csr_matrix* heaviest() const noexcept override { return m_of->heaviest(); }
  work_count work(std::int64_t vectors) const override { return m_of->work(vectors); }
  void record(const affine_call& c) const override { m_of->record_transposed(c); }

 private:
  const std::shared_ptr<const matrix_node> m_of;
};

linear_operator matrix_node::transposed() const {
  return make_operator<transposed_node>(std::static_pointer_cast<const matrix_node>(shared_from_this()));
}

class diagonal_node final : public linear_operator::node {
 public:
  diagonal_node(std::vector<double> d, std::string of_name)
      : node(std::move(of_name), std::ssize(d), std::ssize(d)),
        m_diagonal(std::make_shared<const std::vector<double>>(std::move(d))) {}
  std::optional<bool> symmetric() const override { return true; }
  linear_operator transposed() const override { return self(); }
  bool in_place() const noexcept override { return true; }
  work_count work(std::int64_t vectors) const override {
    return {static_cast<double>(rows) * static_cast<double>(vectors),
            bytes_of_block(rows, 1) + 2 * bytes_of_block(rows, vectors)};
  }
  void record(const affine_call& c) const override {
    c.owner().keep(m_diagonal);
    call made(operation_kind::apply_diagonal, "apply");
    made.reads(c.x), made.writes(c.y);
    made.made().diagonal = m_diagonal->data();
    made.made().scale = c.alpha, made.made().factor = c.beta;
    made.record();
  }

 private:
  const std::shared_ptr<const std::vector<double>> m_diagonal;
};

class identity_node final : public linear_operator::node {
 public:
  explicit identity_node(std::int64_t of_rows) : node("1", of_rows, of_rows) {
    if (rows < 0) refuse_operator(name, fmt::format("an identity of {} rows", rows), "0 or more");
  }
  std::optional<bool> symmetric() const override { return true; }
  linear_operator transposed() const override { return self(); }
  bool in_place() const noexcept override { return true; }
  work_count work(std::int64_t vectors) const override { return {0, 2 * bytes_of_block(rows, vectors)}; }
  void record(const affine_call& c) const override {
    if (c.alpha == 1 && c.beta == 0) return copy(c.x, c.y);
    axpby(c.alpha, c.x, c.beta, c.y);
  }
};

}  // namespace

linear_operator::linear_operator(const csr_matrix& a) : m_node(std::make_shared<const matrix_node>(a)) {}
linear_operator::linear_operator(csr_matrix&& a)
    : m_node(std::make_shared<const matrix_node>(std::make_shared<const csr_matrix>(std::move(a)))) {}

linear_operator linear_operator::identity(std::int64_t rows) { return make_operator<identity_node>(rows); }

linear_operator linear_operator::diagonal(std::vector<double> d, std::string name) {
  for (std::size_t k = 0; k < d.size(); ++k)
    if (!std::isfinite(d[k]))
      throw error(error_kind::input, fmt::format("element {} of the diagonal is {}", k + 1, d[k]), name,
                  "finite numbers");
  return make_operator<diagonal_node>(std::move(d), std::move(name));
}

}  // namespace tessera::sparse
