#include "languages/directives/clang/body.hpp"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "languages/directives/clang/locals.hpp"
#include "languages/directives/clang/own_places.hpp"
#include "languages/directives/clang/reduction.hpp"
#include "languages/directives/clang/subscripts.hpp"

namespace tessera::directive {
namespace {

using clang::Expr;
using clang::Stmt;
using clang::VarDecl;

constexpr const char* written_by_name = "write arrays as x[...], and variables of the loop by their names";

class body_reader {
 public:
  body_reader(const loop_nest& nest, const std::vector<body_reduction>& reductions, const chain_names& chains,
              clang::ASTContext& context, const source& text, report& messages)
      : m_nest(nest),
        m_loop(nest.outer()),
        m_reductions(reductions),
        m_chains(chains),
        m_messages(messages),
        m_uses(context, indices_of(nest)),
        m_subscripts(nest, reductions, chains, m_known, context, text) {}

  body_facts read() {
    m_known = read_locals(*m_loop.statement->getBody());
    m_facts.locals = m_known.locals;
    for (const canonical_loop& loop : m_nest.loops) {
      if (m_known.changed.contains(loop.index))
        m_messages.error(loop.statement->getForLoc(), "the loop changes its index in its body",
                         "the iterations of a region are known before it begins");
      check_limits(loop);
      if (&loop != &m_loop && m_subscripts.understood(loop)) m_subscripts.open(loop, true);
    }
    statement(&m_nest.body());
    for (const canonical_loop& loop : m_nest.loops) check_written(loop);
    read_qualified();
    m_facts.arrays = m_uses.arrays(m_facts.continues.empty());
    m_facts.scalars = m_uses.scalars();
    return std::move(m_facts);
  }

 private:
  // ---- limits ----

  /// What a program evaluates before each iteration is evaluated once: it must not change.
  void check_limits(const canonical_loop& loop) {
    for (const Expr* limit : {loop.bound, loop.step})
      each(limit, [&](const Stmt& s) {
        const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(&s);
        if (is_write(&s) || (unary != nullptr && unary->isIncrementDecrementOp()))
          m_messages.error(s.getBeginLoc(), "the loop's bound or step changes something",
                           "the iterations of a region are known before it begins");
        const auto* e = llvm::dyn_cast<clang::DeclRefExpr>(&s);
        if (const body_reduction* one = find_reduction(m_reductions, variable_of(e)); one != nullptr)
          m_messages.error(s.getBeginLoc(), fmt::format("'{}' is a reduction, and used in another way here", one->name),
                           "its value is there behind the region");
      });
  }
  void check_written(const canonical_loop& loop) {
    for (const Expr* limit : {loop.begin, loop.bound, loop.step}) {
      if (limit == m_loop.begin) continue;
      each(limit, [&](const Stmt& s) {
        const auto* e = llvm::dyn_cast<Expr>(&s);
        const std::string name = e == nullptr ? std::string() : symbol_of(e, m_chains).name;
        if (!llvm::isa<clang::DeclRefExpr, clang::MemberExpr>(s) || !m_uses.writes(name)) return;
        m_messages.error(s.getBeginLoc(),
                         fmt::format("the loop's bound or step reads '{}', which its body writes", name),
                         "copy it into a variable in front of the region");
      });
    }
  }

  // ---- names ----

  /// In the body, what stands for a variable of the program has its plain name: it is no other's.
  void read_qualified() {
    std::map<std::string, const VarDecl*> named;
    for (const VarDecl* local : m_known.locals) named.emplace(local->getNameAsString(), nullptr);
    for (const canonical_loop& loop : m_nest.loops) named.emplace(loop.index->getNameAsString(), nullptr);
    each(&m_nest.body(), [&](const Stmt& s) {
      const auto* e = llvm::dyn_cast<clang::DeclRefExpr>(&s);
      const VarDecl* const v = variable_of(e);
      if (v == nullptr || m_known.locals.contains(v) ||
          std::ranges::find(m_nest.loops, v, &canonical_loop::index) != m_nest.loops.end())
        return;
      const bool qualified = e->hasQualifier();
      if (qualified && !m_uses.stands_for(*v)) return;  // a constant, which the body names itself
      const auto [known, first] = named.try_emplace(v->getNameAsString(), v);
      if (!first && known->second != v && (qualified || known->second != nullptr))
        m_messages.error(e->getBeginLoc(),
                         fmt::format("'{}' is the name of two variables in this loop", v->getNameAsString()),
                         "copy one of them into a variable of another name in front of the region");
      if (qualified) m_facts.qualified.push_back(e);
    });
  }

  // ---- statements ----

  void visit(const Stmt* s) {
    if (s == nullptr) return;
    if (const auto* e = llvm::dyn_cast<Expr>(s)) return visit_expression(e);
    if (leaves(s) || declares(s)) return;
    if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(s)) return visit_for(*loop);
    if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(s)) {
      visit(branch->getInit());
      visit(branch->getCond());
      sometimes([&] {
        statement(branch->getThen());
        statement(branch->getElse());
      });
      return;
    }
    if (llvm::isa<clang::AsmStmt>(s))
      return m_messages.error(s->getBeginLoc(), "assembler in the loop of a region", "call a function that has it");
    if (llvm::isa<clang::WhileStmt, clang::DoStmt, clang::SwitchStmt, clang::CXXForRangeStmt, clang::CXXTryStmt>(s)) {
      const bool jumps = !llvm::isa<clang::CXXTryStmt>(s);
      m_breakable += jumps ? 1 : 0;
      m_loops_around += jumps && !llvm::isa<clang::SwitchStmt>(s) ? 1 : 0;
      sometimes([&] { visit_children(s); });
      m_loops_around -= jumps && !llvm::isa<clang::SwitchStmt>(s) ? 1 : 0;
      m_breakable -= jumps ? 1 : 0;
      return;
    }
    visit_children(s);
  }
  void visit_children(const Stmt* s) {
    for (const Stmt* child : s->children()) {
      if (discards(*s, child))
        statement(child);
      else
        visit(child);
    }
  }
  /// A statement, or an expression whose value nobody sees: there, and nowhere else, a reduction may take its step.
  void statement(const Stmt* s) {
    if (s == nullptr || reduces(s)) return;
    const auto* e = llvm::dyn_cast<Expr>(s);
    const Expr* inside = e == nullptr ? nullptr : e->IgnoreParenImpCasts();
    if (const auto* both = llvm::dyn_cast_or_null<clang::BinaryOperator>(inside);
        both != nullptr && both->isCommaOp()) {
      statement(both->getLHS());
      return statement(both->getRHS());
    }
    if (const auto* choice = llvm::dyn_cast_or_null<clang::ConditionalOperator>(inside)) {
      visit(choice->getCond());
      return sometimes([&] {
        statement(choice->getTrueExpr());
        statement(choice->getFalseExpr());
      });
    }
    if (e != nullptr && e->isGLValue() && !is_write(inside) && !llvm::isa<clang::UnaryOperator>(inside))
      return visit_value(e);
    visit(s);
  }
  template <class Function>
  void sometimes(const Function& inside) {
    ++m_conditions;
    inside();
    --m_conditions;
  }

  void visit_for(const clang::ForStmt& loop) {
    const auto inner = read_loop(loop, [](auto&&...) {});
    ++m_breakable;
    ++m_loops_around;
    if (inner && m_subscripts.understood(*inner)) {
      visit(loop.getInit());
      visit(inner->bound);
      visit(inner->step);
      m_subscripts.open(*inner, inner->step == nullptr);
      bool jumps = false;  // over what is behind
      each(loop.getBody(), [&](const Stmt& s) { jumps |= llvm::isa<clang::BreakStmt, clang::ContinueStmt>(s); });
      m_conditions += jumps ? 1 : 0;
      statement(loop.getBody());
      m_conditions -= jumps ? 1 : 0;
      m_subscripts.close();
    } else {
      sometimes([&] { visit_children(&loop); });
    }
    --m_loops_around;
    --m_breakable;
  }
  /// Jumps out of the loop.
  bool leaves(const Stmt* s) {
    if (const auto* next = llvm::dyn_cast<clang::ContinueStmt>(s)) {
      if (m_loops_around == 0) m_facts.continues.push_back(next);
      return true;
    }
    const char* what = llvm::isa<clang::BreakStmt>(s) && m_breakable == 0                         ? "break"
                       : llvm::isa<clang::ReturnStmt>(s)                                          ? "return"
                       : llvm::isa<clang::GotoStmt, clang::LabelStmt, clang::IndirectGotoStmt>(s) ? "goto"
                                                                                                  : nullptr;
    if (what == nullptr) return false;
    m_messages.error(s->getBeginLoc(), fmt::format("'{}' leaves the loop of a region", what),
                     "all iterations run, at the same time and in any order; 'continue' ends one of them");
    return true;
  }

  bool declares(const Stmt* s) {
    const auto* declaration = llvm::dyn_cast<clang::DeclStmt>(s);
    if (declaration == nullptr) return false;
    for (const clang::Decl* d : declaration->decls()) {
      const auto* v = llvm::dyn_cast<VarDecl>(d);
      if (v == nullptr) continue;
      if (v->isStaticLocal())
        m_messages.error(v->getLocation(), fmt::format("'{}' is static: all iterations share it", v->getNameAsString()),
                         "declare it without static");
      const clang::QualType type = v->getType();
      if (v->getInit() == nullptr) continue;
      if (type->isReferenceType() && !type.getNonReferenceType().isConstQualified())
        write(v->getInit(), true);  // by way of the reference
      else if (type->isReferenceType() && v->getInit()->isGLValue())
        visit_value(v->getInit());
      else
        visit(v->getInit());
    }
    return true;
  }

  bool reduces(const Stmt* s) {
    const reduction_step step = reduction_step_of(s);
    const body_reduction* const named = find_reduction(m_reductions, step.variable);
    if (named == nullptr) return false;
    const bool logical = (step.operation == "&&" || step.operation == "||") && step.operation == named->operation;
    if (step.operation != named->operation && !logical)
      m_messages.error(s->getBeginLoc(), fmt::format("'{}' is reduced with {} and joined with {} here", named->name,
                                                     named->operation, step.operation));
    if (const auto [first, is_first] = m_facts.reduced.try_emplace(step.variable, step.bits);
        logical && !is_first && first->second != step.bits)
      m_messages.error(s->getBeginLoc(),
                       fmt::format("'{}' is joined with {} here, and with {} before", named->name,
                                   step.bits ? named->operation.substr(1) + "=" : named->operation,
                                   step.bits ? named->operation : named->operation.substr(1) + "="),
                       "of a number they keep other bits: write all its steps in one way");
    const bool joins = step.operation == "+" || step.operation == "*";
    if (joins && step.value != nullptr && named->variable->getType().getNonReferenceType()->isIntegerType() &&
        step.value->IgnoreParenImpCasts()->getType()->isRealFloatingType())
      m_messages.error(
          step.value->getBeginLoc(),
          fmt::format("'{}' is an integer, and what is joined with it is not: each step rounds", named->name),
          "parts of the loop would round otherwise: make the value an integer, or the variable a double");
    if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(s)) visit(branch->getInit());
    if (step.value != nullptr) visit(step.value);
    return true;
  }
  // ---- expressions ----

  void visit_expression(const Expr* e) {
    if (const Expr* of = read_by(*e)) return visit_value(of);
    if (const auto* held = llvm::dyn_cast<clang::OpaqueValueExpr>(e)) return visit(held->getSourceExpr());
    if (const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(e->IgnoreParens()); subscript != nullptr)
      return is_open(*e) ? write(e, true) : access(subscript, true, false);
    if (is_write(e)) {
      const auto* assignment = llvm::cast<clang::BinaryOperator>(e);
      visit(assignment->getRHS());
      return write(assignment->getLHS(), assignment->isCompoundAssignmentOp());
    }
    if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(e)) {
      if (unary->isIncrementDecrementOp()) return write(unary->getSubExpr(), true);
      if (unary->getOpcode() == clang::UO_AddrOf) return visit_address(unary->getSubExpr());
    }
    if (const auto* logical = llvm::dyn_cast<clang::BinaryOperator>(e); logical != nullptr && logical->isLogicalOp()) {
      visit(logical->getLHS());
      return sometimes([&] { visit(logical->getRHS()); });
    }
    if (const auto* both = llvm::dyn_cast<clang::BinaryOperator>(e); both != nullptr && both->isCommaOp()) {
      statement(both->getLHS());
      return visit(both->getRHS());
    }
    if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(e)) {
      visit(choice->getCond());
      return sometimes([&] {
        visit(choice->getTrueExpr());
        visit(choice->getFalseExpr());
      });
    }
    if (const auto* cast = llvm::dyn_cast<clang::ExplicitCastExpr>(e); cast != nullptr && takes_const_away(*cast))
      return m_messages.error(e->getBeginLoc(), "a cast takes 'const' away in the loop of a region", written_by_name);
    if (llvm::isa<clang::UnaryExprOrTypeTraitExpr, clang::CXXNoexceptExpr>(e)) return;  // not evaluated
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(e)) return visit_call(*call);
    if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(e)) {
      for (const Expr* argument : made->arguments()) {
        if (argument->isGLValue() && copies_arguments(*made))
          visit_value(argument);
        else
          visit_argument(argument);
      }
      return;
    }
    if (llvm::isa<clang::LambdaExpr>(e))
      return m_messages.error(e->getBeginLoc(), "a lambda in the loop of a region", "write its body in the loop");
    if (llvm::isa<clang::StmtExpr>(e))
      return m_messages.error(e->getBeginLoc(), "statements in an expression in the loop of a region",
                              "write them in front of it");
    if (llvm::isa<clang::CXXThrowExpr>(e))
      return m_messages.error(e->getBeginLoc(), "'throw' leaves the loop of a region",
                              "all iterations run, at the same time and in any order");
    if (llvm::isa<clang::CXXThisExpr>(e))
      return m_messages.error(e->getBeginLoc(), "a member of the class is used in the loop of a region",
                              "copy it into a variable in front of the region");
    if (const symbol s = symbol_of(e, m_chains); !s.name.empty())
      return is_open(*e) && !s.type->isPointerType() ? write(e, true) : use(s, *e);
    if (is_foreign_binding(*e)) return;
    visit_children(e);
  }

  /// Whether what has an expression may write it.
  static bool is_open(const Expr& e) {
    const clang::QualType type = e.getType();
    return e.isGLValue() && !type.isConstQualified() && !type->isArrayType() && !type->isFunctionType();
  }

  /// Something that is read alone, where it has a place.
  void visit_value(const Expr* e) {
    e = e->IgnoreParenImpCasts();
    if (const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(e)) return access(subscript, true, false);
    if (const symbol s = symbol_of(e, m_chains); !s.name.empty()) return use(s, *e);
    if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(e)) {
      visit(choice->getCond());
      return sometimes([&] {
        visit_value(choice->getTrueExpr());
        visit_value(choice->getFalseExpr());
      });
    }
    if (const auto* both = llvm::dyn_cast<clang::BinaryOperator>(e); both != nullptr && both->isCommaOp()) {
      statement(both->getLHS());
      return visit_value(both->getRHS());
    }
    if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(e); member != nullptr && !member->isArrow())
      return visit_value(member->getBase());
    visit(e);
  }

  static bool takes_const_away(const clang::ExplicitCastExpr& cast) {
    clang::QualType from = cast.getSubExpr()->getType(), to = cast.getType();
    if (!cast.isGLValue()) {
      if (!from->isPointerType() || !to->isPointerType()) return false;
      from = from->getPointeeType();
      to = to->getPointeeType();
    }
    return from.isConstQualified() && !to.isConstQualified();
  }

  /// A name of a structured binding in front of the region, which no function can take with it.
  bool is_foreign_binding(const Expr& e) {
    const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(e.IgnoreParenImpCasts());
    const auto* part = name == nullptr ? nullptr : llvm::dyn_cast<clang::BindingDecl>(name->getDecl());
    if (part == nullptr) return false;
    const auto* whole = llvm::dyn_cast_or_null<VarDecl>(part->getDecomposedDecl());
    if (whole != nullptr && m_known.locals.contains(whole)) return false;
    m_messages.error(
        e.getBeginLoc(),
        fmt::format("'{}' is a part of something else, which a region does not copy", part->getNameAsString()),
        "copy it into a variable in front of the region");
    return true;
  }

  /// Where an address goes is not followed: that of an array's element would reach other rows.
  void visit_address(const Expr* of) {
    const Expr* base = of->IgnoreParenImpCasts();
    if (const VarDecl* v = variable_of(base);
        v != nullptr && m_known.locals.contains(v) && v->getType()->isReferenceType() && !m_own.has(v->getInit()))
      return m_messages.error(of->getBeginLoc(),
                              fmt::format("the address of what '{}' is for: other elements can be reached from there",
                                          v->getNameAsString()),
                              written_by_name);
    if (!llvm::isa<clang::ArraySubscriptExpr>(base)) return write(of, true);
    while (const auto* one = llvm::dyn_cast<clang::ArraySubscriptExpr>(base->IgnoreParenImpCasts()))
      base = one->getBase();
    const symbol s = symbol_of(base, m_chains);
    if (s.name.empty()) return visit_children(of->IgnoreParenImpCasts());
    use(s, *of);
  }

  /// What it gets by a reference that is not constant, it may change; also an object whose function is not constant.
  void visit_call(const clang::CallExpr& call) {
    if (const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(&call)) {
      const Expr* const object = member->getImplicitObjectArgument();
      const clang::CXXMethodDecl* const method = member->getMethodDecl();
      if (object->isGLValue() && (method == nullptr || (!method->isConst() && !method->isStatic())))
        write(object, true);
      else if (object->isGLValue())
        visit_value(object);
      else
        visit(object);
    }
    for (const Expr* argument : call.arguments()) visit_argument(argument);
  }
  void visit_argument(const Expr* argument) {
    if (argument->isGLValue() && !argument->getType().isConstQualified() &&
        !llvm::isa<clang::MaterializeTemporaryExpr>(argument))
      write(argument, true);
    else if (argument->isLValue())
      visit_value(argument);
    else
      visit(argument);
  }

  void write(const Expr* to, bool reads) {
    to = to->IgnoreParenImpCasts();
    if (const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(to)) return access(subscript, reads, true);
    if (!to->isGLValue() || llvm::isa<clang::MaterializeTemporaryExpr>(to)) return visit(to);  // something of its own
    if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(to); member != nullptr && !m_chains.contains(member)) {
      if (!llvm::isa<clang::FieldDecl>(member->getMemberDecl()))
        return m_messages.error(
            to->getBeginLoc(),
            fmt::format("'{}' is static: all iterations share it", member->getMemberDecl()->getNameAsString()),
            "declare a variable in the loop");
      return member->isArrow() ? write_through(*to, member->getBase()) : write(member->getBase(), true);
    }
    if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(to)) {
      visit(choice->getCond());
      return sometimes([&] {
        write(choice->getTrueExpr(), reads);
        write(choice->getFalseExpr(), reads);
      });
    }
    if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(to)) {
      if (binary->isAssignmentOp()) return visit(to);
      if (binary->isCommaOp()) {
        statement(binary->getLHS());
        return write(binary->getRHS(), reads);
      }
      if (binary->getOpcode() == clang::BO_PtrMemD) return write(binary->getLHS(), true);
      return write_through(*to, binary->getLHS());
    }
    if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(to)) {
      if (unary->isIncrementDecrementOp()) return visit(to);
      if (unary->getOpcode() != clang::UO_Deref) return write(unary->getSubExpr(), true);
      return write_through(*to, unary->getSubExpr());
    }
    if (const auto* cast = llvm::dyn_cast<clang::ExplicitCastExpr>(to)) {
      if (takes_const_away(*cast) || cast->getCastKind() == clang::CK_LValueBitCast)
        return m_messages.error(to->getBeginLoc(), "a write to what a cast makes of something else", written_by_name);
      return write(cast->getSubExpr(), reads);
    }
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(to)) return write_result(*call);
    const symbol s = symbol_of(to, m_chains);
    if (s.name.empty()) {
      if (is_foreign_binding(*to) || llvm::isa<clang::DeclRefExpr>(to)) return;  // parts of what the body has
      return m_messages.error(to->getBeginLoc(), "a write to something that is not known before the loop",
                              written_by_name);
    }
    if (s.variable != nullptr && m_known.locals.contains(s.variable)) return;
    if (s.variable == m_loop.index) return;  // told already
    if (s.type->isPointerType() || s.type->isArrayType() || find_reduction(m_reductions, s.variable) != nullptr)
      return use(s, *to);
    if (s.type.getNonReferenceType()->isRecordType()) return refuse_object(s, *to);  // also where it is only read
    m_messages.error(
        to->getBeginLoc(), fmt::format("'{}' is written by all iterations at once", s.name),
        fmt::format("add reduction(+:{0}) to the region where it is a sum, or declare it in the loop", s.name));
  }
  void write_through(const Expr& to, const Expr* pointer) {
    if (!m_own.has(&to))
      return m_messages.error(to.getBeginLoc(), "a write through a pointer in the loop of a region",
                              "arrays are written as x[...]; for chains of pointers there is pointerchain");
    visit(pointer);
  }
  /// Operators that assign give what they have assigned to; what other functions give may be part of what they got.
  void write_result(const clang::CallExpr& call) {
    visit(&call);
    const auto* by_operator = llvm::dyn_cast<clang::CXXOperatorCallExpr>(&call);
    if (by_operator != nullptr && (by_operator->isAssignmentOp() || by_operator->getOperator() == clang::OO_PlusPlus ||
                                   by_operator->getOperator() == clang::OO_MinusMinus))
      return;
    if (m_own.gives(call)) return;
    m_messages.error(call.getBeginLoc(), "a write to what a function gives in the loop of a region", written_by_name);
  }

  /// A variable that stands alone.
  void use(const symbol& s, const Expr& where) {
    if (s.variable != nullptr && (m_known.locals.contains(s.variable) || s.variable == m_loop.index)) return;
    if (find_reduction(m_reductions, s.variable) != nullptr)
      return m_messages.error(where.getBeginLoc(),
                              fmt::format("'{}' is a reduction, and used in another way here", s.name),
                              "its value is there behind the region");
    if (s.type->isPointerType() || s.type->isArrayType())
      return m_messages.error(
          where.getBeginLoc(), fmt::format("'{}' is used other than by a subscript", s.name),
          s.type->isPointerType() && s.type->getPointeeType()->isRecordType()
              ? fmt::format("for arrays that chains like {}->x lead to there is pointerchain", s.name)
              : fmt::format("in a region an array is used as {0}[...]; *({0} + i) is {0}[i]", s.name));
    if (!s.type.getNonReferenceType()->isArithmeticType() && !s.type.getNonReferenceType()->isEnumeralType())
      return refuse_object(s, where);
    m_uses.add_scalar(s, false);
  }
  void refuse_object(const symbol& s, const Expr& where) {
    const clang::CXXRecordDecl* const type = s.type.getNonReferenceType()->getAsCXXRecordDecl();
    const bool has_elements =
        type != nullptr && type->isInStdNamespace() && (type->getName() == "vector" || type->getName() == "array");
    m_messages.error(where.getBeginLoc(), fmt::format("'{}' is an object, which a region does not copy", s.name),
                     has_elements ? fmt::format("register its elements: take {}.data() into a pointer in front of the "
                                                "region, and use that",
                                                s.name)
                                  : "copy what the loop needs of it into variables in front of the region");
  }
  // ---- subscripts ----

  void access(const clang::ArraySubscriptExpr* outermost, bool reads, bool writes) {
    std::vector<const Expr*> indices;
    const Expr* base = outermost;
    while (const auto* one = llvm::dyn_cast<clang::ArraySubscriptExpr>(base->IgnoreParenImpCasts())) {
      if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(base->IgnoreParenImpCasts()); member != nullptr) break;
      indices.insert(indices.begin(), one->getIdx());
      base = one->getBase();
    }
    for (const Expr* index : indices) visit(index);
    const symbol s = symbol_of(base, m_chains);
    if (s.name.empty() || (s.variable != nullptr && m_known.locals.contains(s.variable))) {
      if (writes && !m_own.has(outermost)) return write_through(*outermost, base);
      return s.name.empty() ? visit(base) : void();
    }
    if (m_uses.is_table(s)) return writes ? use(s, *base) : m_uses.add_scalar(s, true);
    if (!s.type->isPointerType() && !s.type->isArrayType()) return use(s, *base);
    body_array& array = m_uses.array_of(s);
    if (array.element->isVariableArrayType())
      return m_messages.error(
          outermost->getBeginLoc(), fmt::format("the rows of '{}' have a length that is a variable", s.name),
          fmt::format("a region wants rows of a constant length, or a pointer to the first element: "
                      "{}[i * columns + j]",
                      s.name));
    if (indices.size() != array.inner.size() + 1)
      return m_messages.error(outermost->getBeginLoc(),
                              fmt::format("'{}' wants {} subscripts here", s.name, array.inner.size() + 1));
    array_access made;
    made.where = outermost;
    made.reads = reads;
    made.writes = writes;
    made.always = m_conditions == 0;
    for (const subscript_reader::open_loop& loop : m_subscripts.loops_around()) {
      made.always = made.always && loop.unit_step;
      made.in_loops.push_back(loop.index);
    }
    made.subscripts = m_subscripts.read(indices);
    m_uses.add_access(array, std::move(made), m_subscripts.names());
  }

  static std::vector<std::string> indices_of(const loop_nest& nest) {
    std::vector<std::string> names;
    for (const canonical_loop& loop : nest.loops) names.push_back(loop.index->getNameAsString());
    return names;
  }

  const loop_nest& m_nest;
  const canonical_loop& m_loop;  // the outermost
  const std::vector<body_reduction>& m_reductions;
  const chain_names& m_chains;
  report& m_messages;
  local_variables m_known;
  const own_places m_own{m_known, m_loop};
  body_facts m_facts;
  body_uses m_uses;
  subscript_reader m_subscripts;
  int m_conditions = 0, m_breakable = 0, m_loops_around = 0;
};

}  // namespace

body_facts read_body(const loop_nest& nest, const std::vector<body_reduction>& reductions, const chain_names& chains,
                     clang::ASTContext& context, const source& text, report& messages) {
  return body_reader(nest, reductions, chains, context, text, messages).read();
}

}  // namespace tessera::directive
