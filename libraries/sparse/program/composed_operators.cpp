// Operators that are made of others: sums of multiples, products, one with a transpose of its own.
#include <algorithm>

#include "libraries/sparse/program/operator_node.hpp"

namespace tessera::sparse {
namespace {

std::string shape_of(const linear_operator& a) { return fmt::format("{} is {} x {}", a.name(), a.rows(), a.columns()); }

/// Of the two matrices the one with more entries.
const csr_matrix* heavier(const csr_matrix* a, const csr_matrix* b) noexcept {
  if (a == nullptr || b == nullptr) return a != nullptr ? a : b;
  return b->nonzeros() > a->nonzeros() ? b : a;
}

/// A multiple of an operator.
struct term {
  double factor;
  linear_operator of;
};

std::string name_of(std::span<const term> terms) {
  std::string text;
  for (const term& t : terms) {
    const double size = std::abs(t.factor);
    text += text.empty() ? (t.factor < 0 ? "-" : "") : (t.factor < 0 ? " - " : " + ");
    text += size == 1 ? t.of.name() : fmt::format("{:g} {}", size, t.of.name());
  }
  return "(" + text + ")";
}

class sum_node final : public linear_operator::node {
 public:
  explicit sum_node(std::vector<term> terms)
      : node(name_of(terms), terms.front().of.rows(), terms.front().of.columns()), m_terms(std::move(terms)) {}
  std::span<const term> terms() const noexcept { return m_terms; }

  std::optional<bool> symmetric() const override {
    if (m_terms.size() == 1 && m_terms[0].factor != 0) return m_terms[0].of.is_symmetric();
    for (const term& t : m_terms)
      if (t.of.is_symmetric() != true) return std::nullopt;
    return true;
  }
  linear_operator transposed() const override {
    std::vector<term> turned;
    for (const term& t : m_terms) turned.push_back({t.factor, t.of.transposed()});
    return make_operator<sum_node>(std::move(turned));
  }
  bool in_place() const noexcept override { return m_terms.size() == 1 && m_terms[0].of.works_in_place(); }
  const csr_matrix* heaviest() const noexcept override {
    const csr_matrix* found = nullptr;
    for (const term& t : m_terms) found = heavier(found, t.of.heaviest_matrix());
    return found;
  }
  work_count work(std::int64_t vectors) const override {
    work_count sum;
    for (const term& t : m_terms) sum += t.of.work(vectors);
    sum.flops += static_cast<double>(2 * (m_terms.size() - 1)) * static_cast<double>(rows * vectors);
    return sum;
  }
  void record(const affine_call& c) const override {
    double beta = c.beta;
    for (const term& t : m_terms) {
      t.of.inside().record({c.alpha * t.factor, c.x, beta, c.y});
      beta = 1;
    }
  }

 private:
  const std::vector<term> m_terms;
};

class product_node final : public linear_operator::node {
 public:
  product_node(const linear_operator& left, const linear_operator& right)
      : node(left.name() + " " + right.name(), left.rows(), right.columns()), m_left(left), m_right(right) {}
  linear_operator transposed() const override {
    return make_operator<product_node>(m_right.transposed(), m_left.transposed());
  }
  const csr_matrix* heaviest() const noexcept override {
    return heavier(m_left.heaviest_matrix(), m_right.heaviest_matrix());
  }
  work_count work(std::int64_t vectors) const override {
    work_count sum = m_left.work(vectors);
    sum += m_right.work(vectors);
    return sum;
  }
  void record(const affine_call& c) const override {
    if (m_right.rows() != rows)
      refuse_operator(name, fmt::format("{}, and {}", shape_of(m_left), shape_of(m_right)),
                      "the vectors of a program all have as many rows as its operator");
    const scratch_block between(c.owner(), c.x.columns());
    m_right.inside().record({1, c.x, 0, between});
    m_left.inside().record({c.alpha, between, c.beta, c.y});
  }

 private:
  const linear_operator m_left, m_right;
};

/// An operator whose transpose somebody has given.
class paired_node final : public linear_operator::node {
 public:
  paired_node(const linear_operator& of, const linear_operator& turned)
      : node(of.name(), of.rows(), of.columns()), m_of(of), m_turned(turned) {}
  std::optional<bool> symmetric() const override { return m_of.is_symmetric(); }
  linear_operator transposed() const override { return make_operator<paired_node>(m_turned, m_of); }
  bool in_place() const noexcept override { return m_of.works_in_place(); }
  const csr_matrix* heaviest() const noexcept override { return m_of.heaviest_matrix(); }
  work_count work(std::int64_t vectors) const override { return m_of.work(vectors); }
  void record(const affine_call& c) const override { m_of.inside().record(c); }

 private:
  const linear_operator m_of, m_turned;
};

/// As a sum: its terms times a factor behind those that there are.
void add_terms(std::vector<term>& to, double factor, const linear_operator& a) {
  if (const auto* const sum = dynamic_cast<const sum_node*>(&a.inside()); sum != nullptr)
    for (const term& t : sum->terms()) to.push_back({factor * t.factor, t.of});
  else
    to.push_back({factor, a});
}

linear_operator sum_of(const linear_operator& a, double factor, const linear_operator& b) {
  if (a.rows() != b.rows() || a.columns() != b.columns())
    refuse_operator(a.name(), fmt::format("{}, and {}", shape_of(a), shape_of(b)), "a sum is of equal shapes");
  std::vector<term> terms;
  add_terms(terms, 1, a), add_terms(terms, factor, b);
  return make_operator<sum_node>(std::move(terms));
}

void require_finite(const linear_operator& a, double factor) {
  if (!std::isfinite(factor))
    refuse_operator(a.name(), fmt::format("{} times the operator", factor), "a finite number");
}

}  // namespace

linear_operator operator+(const linear_operator& a, const linear_operator& b) { return sum_of(a, 1, b); }
linear_operator operator-(const linear_operator& a, const linear_operator& b) { return sum_of(a, -1, b); }
linear_operator operator-(const linear_operator& a) { return -1 * a; }

linear_operator operator*(double factor, const linear_operator& a) {
  require_finite(a, factor);
  std::vector<term> terms;
  add_terms(terms, factor, a);
  return make_operator<sum_node>(std::move(terms));
}

linear_operator operator*(const linear_operator& a, const linear_operator& b) {
  if (a.columns() != b.rows())
    refuse_operator(a.name(), fmt::format("{}, and {}", shape_of(a), shape_of(b)),
                    "of a product, the first has as many columns as the second has rows");
  return make_operator<product_node>(a, b);
}

linear_operator shifted(const linear_operator& a, double sigma, const linear_operator& b) {
  require_finite(b, sigma);
  return sum_of(a, -sigma, b);
}
linear_operator shifted(const linear_operator& a, double sigma) {
  return shifted(a, sigma, linear_operator::identity(a.rows()));
}

linear_operator linear_operator::with_transposed(const linear_operator& t) const {
  if (t.rows() != columns() || t.columns() != rows())
    refuse_operator(name(), fmt::format("{}, and {}", shape_of(*this), shape_of(t)),
                    "a transpose has as many rows as the operator has columns");
  return make_operator<paired_node>(*this, t);
}

}  // namespace tessera::sparse
