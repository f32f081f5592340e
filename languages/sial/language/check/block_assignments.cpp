// Assignments to blocks: which form of block arithmetic the right side is.
#include <fmt/format.h>

#include <optional>

#include "languages/sial/language/check/statements.hpp"

namespace tessera::sial {
namespace {

using syntax::form;

class block_assignment {
 public:
  block_assignment(environment& in, const syntax::statement& s)
      : m_in(in),
        m_s(s),
        m_value(s.operands[1]),
        m_how(assignment_of(s.op)),
        m_to(check_block(in, s.operands[0], true)) {}

  statement_form check() {
    const array_declaration& a = m_in.out.arrays[m_to.array];
    if (a.kind == array_kind::distributed || a.kind == array_kind::served)
      m_in.fail(m_s.operands[0].where,
                fmt::format("'{}' is {}: its blocks are not assigned to", a.name, word_of(a.kind)),
                fmt::format("write '{}' before the assignment", a.kind == array_kind::served ? "prepare" : "put"));
    if (is_block(m_value)) return copy();
    if (is_piece(m_in.out, m_to))
      fail(m_s.operands[0].where, "a piece of a block is only copied", "b[ii,j] = a[ii,j] and back");
    if (m_value.kind == form::region) return from_region();
    if (!holds_block_here()) return fill();
    if (m_value.in_parentheses) fail(m_value.where, "arithmetic of blocks stands in no parentheses");
    if (m_value.kind == form::negate) fail(m_value.where, "a block has no sign", "write -1.0 * and the block");
    if (m_value.kind != form::binary) return fill();  // which says what is wrong
    if (m_value.op == "+" || m_value.op == "-") return sum();
    if (m_value.op == "*") return product();
    if (m_value.op == "^") return outer_product();
    fail(m_value.where, fmt::format("'{}' is no operation of blocks", m_value.op),
         m_value.op == "/" ? "multiply by (1.0/x)" : "");
  }

 private:
  [[noreturn]] void fail(span where, std::string what, std::string hint = {}) {
    m_in.fail(where, std::move(what), std::move(hint));
  }
  std::string text(const block_reference& b) const { return to_text(m_in.out, b); }
  bool number(const block_reference& b) const { return all_simple(m_in.out, b); }
  const syntax::expression& left() const { return m_value.operands[0]; }
  const syntax::expression& right() const { return m_value.operands[1]; }

  // '^' of numbers is one of blocks, too.
  bool holds_block_here() { return m_value.op == "^" || holds_block(m_in, m_value); }

  void refuse_multiply(const std::string& what) {
    if (m_how == assign::multiply)
      fail(m_s.op_where, fmt::format("'*=' takes a number, not {}", what), "there is no elementwise product");
  }

  statement_form fill() {
    expression value = number(m_to) ? check_sum(m_in, m_value) : check_number(m_in, m_value);
    if (value.type != value_type::scalar)
      fail(m_value.where, fmt::format("what is assigned to {} is a scalar, not an int", text(m_to)),
           m_value.kind == form::int_literal ? fmt::format("write {}.0", m_value.i) : "write (scalar)( ... )");
    return block_scalar{m_to, m_how, std::move(value)};
  }

  statement_form from_region() {
    region_reference from = check_region(m_in, m_value);
    if (m_how != assign::set)
      fail(m_s.op_where, fmt::format("a region is copied with '=', not '{}'", m_s.op), "copy it to a temp first");
    if (from.ranges.size() != m_to.subscripts.size())
      fail(m_value.where, fmt::format("the region has {} dimensions, {} has {}", from.ranges.size(), text(m_to),
                                      m_to.subscripts.size()));
    return block_from_region{m_to, std::move(from)};
  }

  statement_form slice(block_reference from) {
    const bool insert = is_piece(m_in.out, m_to);
    if (insert == is_piece(m_in.out, from))
      fail(m_value.where, "one side of a copy of a piece is declared with the subindex, the other without");
    if (m_how != assign::set) fail(m_s.op_where, fmt::format("a piece is copied with '=', not '{}'", m_s.op));
    if (!fit_in_order(m_in.out, m_to.subscripts, from.subscripts))
      fail(m_value.where, "a piece is copied with the same subscripts in the same order");
    return block_slice{m_to, std::move(from), insert};
  }

  statement_form copy() {
    block_reference from = check_block(m_in, m_value, true);
    if (is_piece(m_in.out, m_to) || is_piece(m_in.out, from)) return slice(std::move(from));
    if (number(from)) return fill();
    refuse_multiply("a block");
    if (!copies(from))
      fail(m_value.where, fmt::format("{} does not fit {}", text(from), text(m_to)),
           "a copy has the same subscripts in any order, or more simple ones at the end of one side");
    return block_copy{m_to, m_how, std::move(from)};
  }

  bool copies(const block_reference& from) const {
    auto a = m_to.subscripts, b = from.subscripts;
    if (a.size() == b.size()) return fit_in_order(m_in.out, a, b) || permuted(a, b);
    auto& longer = a.size() > b.size() ? a : b;
    while (a.size() != b.size()) {
      if (!is_simple(m_in.out, longer.back())) return false;
      longer.pop_back();
    }
    return fit_in_order(m_in.out, a, b);
  }

  void same_list(const block_reference& b, const syntax::expression& e, const std::string& what) {
    if (fit_in_order(m_in.out, m_to.subscripts, b.subscripts)) return;
    fail(e.where,
         fmt::format("{} does not fit {}: {} has the same subscripts in the same order", text(b), text(m_to), what),
         permuted(m_to.subscripts, b.subscripts) ? "copy it into a block of that order first" : "");
  }

  statement_form sum() {
    if (number(m_to)) return fill();
    if (!is_block(left()) || !is_block(right())) {
      const bool both = holds_block(m_in, left()) && holds_block(m_in, right());
      fail(m_value.where, both ? "a sum of blocks has two blocks and nothing more" : "a block and a number do not add",
           both ? "write two assignments, the second with += or -=" : "write two assignments: a = b, then a += x");
    }
    refuse_multiply("a sum of blocks");
    block_reference l = check_block(m_in, left()), r = check_block(m_in, right());
    same_list(l, left(), "a sum");
    same_list(r, right(), "a sum");
    return block_sum{m_to, m_how, std::move(l), std::move(r), m_value.op == "-"};
  }

  statement_form scaled(const syntax::expression& factor, const syntax::expression& block) {
    if (holds_block(m_in, factor))
      fail(m_value.where, "a product of blocks has two factors and no parentheses",
           "write two assignments, with a block between them");
    refuse_multiply("a product");
    block_reference from = check_block(m_in, block);
    expression by = check_number(m_in, factor, value_type::scalar, "a factor of a block");
    same_list(from, block, "a scaled block");
    return block_scaled{m_to, m_how, std::move(by), std::move(from)};
  }

  statement_form product() {
    if (!is_block(left()) || !is_block(right())) {
      if (is_block(right()) && !number(check_block(m_in, right()))) return scaled(left(), right());
      if (is_block(left()) && !number(check_block(m_in, left()))) return scaled(right(), left());
      fail(m_value.where, "a product of blocks has two factors and no parentheses",
           "write two assignments, with a block between them");
    }
    block_reference l = check_block(m_in, left()), r = check_block(m_in, right());
    const auto like_target = [&](const block_reference& b) {
      return fit_in_order(m_in.out, m_to.subscripts, b.subscripts);
    };
    if (number(r) && like_target(l)) return scaled(right(), left());
    if (number(l) && like_target(r)) return scaled(left(), right());
    if (number(m_to) && permuted(l.subscripts, r.subscripts)) return fill();
    return contracted(std::move(l), std::move(r));
  }

  statement_form outer_product() {
    if (!is_block(left()) || !is_block(right()))
      fail(m_value.where, "'^' stands between two blocks", "'**' is the power of scalars");
    block_reference l = check_block(m_in, left()), r = check_block(m_in, right());
    if (free_subscripts(l, r).size() != l.subscripts.size() + r.subscripts.size())
      fail(m_value.where,
           fmt::format("{} ^ {}: the factors of an outer product have no subscript in common", text(l), text(r)),
           "'*' contracts");
    return contracted(std::move(l), std::move(r));
  }

  statement_form contracted(block_reference l, block_reference r) {
    refuse_multiply("a product");
    for (const auto& [b, where] : {std::pair{&l, left().where}, {&r, right().where}, {&m_to, m_s.operands[0].where}})
      if (repeats(*b))
        fail(where, fmt::format("a subscript stands twice in {}", text(*b)),
             "blocks of a contraction have every subscript once");
    const auto wanted = free_subscripts(l, r);
    if (!permuted(wanted, m_to.subscripts))
      fail(m_s.operands[0].where,
           fmt::format("{} {} {} has the subscripts {}, not {}", text(l), m_value.op, text(r),
                       to_text(m_in.out, wanted), to_text(m_in.out, m_to.subscripts)),
           "the result has those subscripts that exactly one factor has, in any order");
    if (wanted.size() > max_array_rank) fail(m_value.where, "the product has too many dimensions");
    return block_product{m_to, m_how, std::move(l), std::move(r)};
  }

  environment& m_in;
  const syntax::statement& m_s;
  const syntax::expression& m_value;
  assign m_how;
  block_reference m_to;
};

}  // namespace

statement_form check_block_assignment(environment& in, const syntax::statement& s) {
  return block_assignment(in, s).check();
}

}  // namespace tessera::sial
