#include "languages/directives/clang/subscripts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tessera::directive {

using clang::Expr;
using clang::Stmt;
using clang::VarDecl;

namespace {

/// Whether an integer type has room for every subscript that an `int` has.
bool holds_subscripts(clang::QualType type, const clang::ASTContext& context) {
  return type->isIntegerType() && context.getTypeSize(type) >= context.getTypeSize(context.IntTy);
}

/// Without casts that change no value of a subscript.
const Expr* without_integer_casts(const Expr* e, const clang::ASTContext& context) {
  for (;;) {
    e = e->IgnoreParenImpCasts();
    const auto* cast = llvm::dyn_cast<clang::ExplicitCastExpr>(e);
    if (cast == nullptr || !holds_subscripts(cast->getType(), context) ||
        !cast->getSubExpr()->getType()->isIntegerType())
      return e;
    e = cast->getSubExpr();
  }
}

}  // namespace

/// The name of a variable in subscripts. One of the body has a name that no other one has: it may hide another.
std::string subscript_reader::term_of(const VarDecl& v) {
  if (!m_known.locals.contains(&v) || std::ranges::find(m_nest.loops, &v, &canonical_loop::index) != m_nest.loops.end())
    return v.getNameAsString();
  const auto [at, fresh] = m_terms.try_emplace(&v);
  if (fresh) at->second = fmt::format("{}'{}", v.getNameAsString(), m_terms.size());
  return at->second;
}

polynomial subscript_reader::value_of(const Expr* e) {
  const polynomial value = unbounded_value_of(e);
  const bool wraps = std::ranges::any_of(value.terms(), [](const auto& term) {
    return term.second > std::numeric_limits<std::int32_t>::max() ||
           term.second < std::numeric_limits<std::int32_t>::min();
  });
  return wraps && narrowest(e) <= 32 ? varying(m_text.text_of(*e)) : value;
}

/// The bits of the narrowest type on the way to a value.
std::uint64_t subscript_reader::narrowest(const Expr* e) const {
  std::uint64_t bits = m_context.getTypeSize(e->getType());
  for (e = e->IgnoreParens(); const auto* cast = llvm::dyn_cast<clang::CastExpr>(e); e = e->IgnoreParens()) {
    e = cast->getSubExpr();
    bits = std::min(bits, m_context.getTypeSize(e->getType()));
  }
  return bits;
}

polynomial subscript_reader::unbounded_value_of(const Expr* e) {
  e = without_integer_casts(e, m_context);
  if (!e->getType()->isIntegralOrEnumerationType()) return varying(m_text.text_of(*e));  // arithmetic of fractions
  clang::Expr::EvalResult number;
  if (!e->isValueDependent() && e->EvaluateAsInt(number, m_context))
    return polynomial::constant(number.Val.getInt().getExtValue());
  if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(e)) {
    if (binary->getOpcode() == clang::BO_Add) return value_of(binary->getLHS()) + value_of(binary->getRHS());
    if (binary->getOpcode() == clang::BO_Sub) return value_of(binary->getLHS()) - value_of(binary->getRHS());
    if (binary->getOpcode() == clang::BO_Mul) return value_of(binary->getLHS()) * value_of(binary->getRHS());
  }
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(e);
      unary != nullptr && unary->getOpcode() == clang::UO_Minus)
    return polynomial::constant(0) - value_of(unary->getSubExpr());
  const symbol s = symbol_of(e, m_chains);
  if (s.variable != nullptr && m_known.locals.contains(s.variable)) {
    const bool open = std::ranges::any_of(m_open, [&](const open_loop& l) { return l.index == s.variable; });
    if (!open && !m_known.changed.contains(s.variable) && !m_known.counted.contains(s.variable) &&
        s.variable->getInit() != nullptr && holds_subscripts(s.type, m_context))
      return value_of(s.variable->getInit());
    return open ? polynomial::name(term_of(*s.variable)) : varying(term_of(*s.variable));
  }
  if (!s.name.empty() && (s.variable == m_nest.outer().index || !varies(e)))
    return polynomial::name(s.written.empty() ? s.name : s.written);
  const std::string shown = m_text.text_of(*e);
  return varies(e) ? varying(shown) : polynomial::name(shown);
}

/// Twice the same text may have two values: each has a name of its own, so that none cancels another one.
polynomial subscript_reader::varying(const std::string& shown) {
  const std::string name = fmt::format("{}#{}", shown, ++m_values);
  m_varying.insert(name);
  return polynomial::name(name);
}

/// Whether an expression has parts that change from iteration to iteration, or may: all but arithmetic with numbers
/// and with what the program has in front of the region.
bool subscript_reader::varies(const Stmt* s) const {
  if (s == nullptr) return false;
  if (const auto* e = llvm::dyn_cast<Expr>(s))
    if (const symbol chain = symbol_of(e, m_chains); !chain.name.empty() && chain.variable == nullptr) return false;
  if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(s)) {
    if (llvm::isa<clang::EnumConstantDecl>(name->getDecl())) return false;
    const auto* v = llvm::dyn_cast<VarDecl>(name->getDecl());
    return v == nullptr || v == m_nest.outer().index || m_known.locals.contains(v) ||
           find_reduction(m_reductions, v) != nullptr || v->getType().getNonReferenceType().isVolatileQualified();
  }
  if (is_write(s) ||
      !llvm::isa<clang::ParenExpr, clang::ConstantExpr, clang::CastExpr, clang::BinaryOperator, clang::UnaryOperator,
                 clang::ConditionalOperator, clang::IntegerLiteral, clang::FloatingLiteral, clang::CharacterLiteral,
                 clang::CXXBoolLiteralExpr, clang::UnaryExprOrTypeTraitExpr, clang::SubstNonTypeTemplateParmExpr>(s))
    return true;
  return std::ranges::any_of(s->children(), [&](const Stmt* child) { return varies(child); });
}

/// Whether the index of a loop inside surely stays between its first value and its bound.
bool subscript_reader::understood(const canonical_loop& loop) const {
  if (m_known.changed.contains(loop.index) || !holds_subscripts(loop.index->getType(), m_context)) return false;
  const auto step = loop.step == nullptr ? std::optional<std::int64_t>(1) : number_of(loop.step);
  if (!step || *step < 1 || loop.leads_away()) return false;
  // A bound that is a fraction, or a negative number that is compared as a very large one, is not the last index.
  if (!loop.begin->getType()->isIntegralOrEnumerationType() || !loop.compared()->isIntegralOrEnumerationType())
    return false;
  const auto first = number_of(loop.begin), bound = number_of(loop.bound);
  const auto written = number_of(loop.bound->IgnoreParenImpCasts());
  if (written && *written < 0 && loop.compared()->isUnsignedIntegerType()) return false;
  if (loop.test != clang::BO_NE) return true;
  return *step == 1 && (!first || !bound || (loop.down ? *first >= *bound : *first <= *bound));
}

std::optional<std::int64_t> subscript_reader::number_of(const Expr* e) const {
  Expr::EvalResult number;
  if (e->isValueDependent() || !e->EvaluateAsInt(number, m_context)) return std::nullopt;
  return number.Val.getInt().getExtValue();
}

void subscript_reader::open(const canonical_loop& loop, bool unit_step) {
  const polynomial first = value_of(loop.begin), bound = value_of(loop.bound), one = polynomial::constant(1);
  const inner_loop range = loop.down ? inner_loop{loop.inclusive ? bound : bound + one, first}
                                     : inner_loop{first, loop.inclusive ? bound : bound - one};
  m_open.push_back({loop.index, range, unit_step});
}

std::vector<polynomial> subscript_reader::read(const std::vector<const Expr*>& subscripts) {
  m_varying.clear();
  std::vector<polynomial> values;
  values.reserve(subscripts.size());
  for (const Expr* one : subscripts) values.push_back(value_of(one));
  return values;
}

subscript_names subscript_reader::names() {
  subscript_names all{m_nest.outer().index->getNameAsString(), {}, m_varying};
  for (const open_loop& loop : m_open) all.inner[term_of(*loop.index)] = loop.range;
  return all;
}

}  // namespace tessera::directive
