#include "languages/directives/clang/loop.hpp"

namespace tessera::directive {
namespace {

constexpr const char* form = "a region wants for (int i = first; i < last; i += step), with <, <=, >, >= or !=";

/// b OP v as v OP b.
clang::BinaryOperatorKind turned(clang::BinaryOperatorKind op) {
  switch (op) {
    case clang::BO_LT:
      return clang::BO_GT;
    case clang::BO_LE:
      return clang::BO_GE;
    case clang::BO_GT:
      return clang::BO_LT;
    case clang::BO_GE:
      return clang::BO_LE;
    default:
      return op;
  }
}

/// i++, i += s, i = i + s. False: none of them.
bool read_step(const clang::Expr* increment, canonical_loop& to) {
  if (increment == nullptr) return false;
  increment = increment->IgnoreParenImpCasts();
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(increment)) {
    to.down = unary->isDecrementOp();
    return unary->isIncrementDecrementOp() && variable_of(unary->getSubExpr()) == to.index;
  }
  const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(increment);
  if (binary == nullptr || variable_of(binary->getLHS()) != to.index) return false;
  if (binary->getOpcode() == clang::BO_AddAssign || binary->getOpcode() == clang::BO_SubAssign) {
    to.down = binary->getOpcode() == clang::BO_SubAssign;
    to.step = binary->getRHS();
    return true;
  }
  const auto* sum = llvm::dyn_cast<clang::BinaryOperator>(binary->getRHS()->IgnoreParenImpCasts());
  if (binary->getOpcode() != clang::BO_Assign || sum == nullptr || !sum->isAdditiveOp()) return false;
  to.down = sum->getOpcode() == clang::BO_Sub;
  to.step = variable_of(sum->getLHS()) == to.index ? sum->getRHS() : sum->getLHS();
  return variable_of(sum->getLHS()) == to.index || (!to.down && variable_of(sum->getRHS()) == to.index);
}

/// The only statement of a body; null: it has none, or several.
const clang::Stmt* only_statement(const clang::Stmt& body) {
  const auto* block = llvm::dyn_cast<clang::CompoundStmt>(&body);
  if (block == nullptr) return &body;
  return block->size() == 1 ? block->body_front() : nullptr;
}

/// Where a variable is named; null: nowhere.
const clang::DeclRefExpr* name_in(const clang::Stmt* s, const clang::VarDecl* variable) {
  if (s == nullptr) return nullptr;
  if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(s); name != nullptr && name->getDecl() == variable)
    return name;
  for (const clang::Stmt* child : s->children())
    if (const clang::DeclRefExpr* found = name_in(child, variable)) return found;
  return nullptr;
}

/// The value that an index begins with: that of `{3}` too.
const clang::Expr* first_value(const clang::Expr* init) {
  const auto* list = llvm::dyn_cast_or_null<clang::InitListExpr>(init == nullptr ? nullptr : init->IgnoreImplicit());
  return list != nullptr && list->getNumInits() == 1 ? list->getInit(0) : init;
}

/// Why an index of this type has no iterations that are known; empty: it has.
std::string unfit(clang::QualType type, const clang::ASTContext& context) {
  const std::string shown = type.getAsString(context.getPrintingPolicy());
  if (!type->isIntegerType()) return shown + ", which is no integer type";
  if (type->isBooleanType()) return shown + ", which counts no further than 1";
  if (!type->isBuiltinType() || context.getTypeSize(type) > 64) return shown + ", which no region counts in";
  return {};
}

}  // namespace

bool counts_by_one(const canonical_loop& loop) {
  const auto* number =
      loop.step == nullptr ? nullptr : llvm::dyn_cast<clang::IntegerLiteral>(loop.step->IgnoreParenImpCasts());
  return loop.step == nullptr || (number != nullptr && number->getValue() == 1);
}

bool canonical_loop::leads_away() const {
  const bool known_sign = step == nullptr || llvm::isa<clang::IntegerLiteral>(step->IgnoreParenImpCasts());
  return test != clang::BO_NE && known_sign && (test == clang::BO_GT || test == clang::BO_GE) != down;
}

const clang::VarDecl* variable_of(const clang::Expr* e) {
  const auto* name = llvm::dyn_cast_or_null<clang::DeclRefExpr>(e == nullptr ? nullptr : e->IgnoreParenImpCasts());
  return name == nullptr ? nullptr : llvm::dyn_cast<clang::VarDecl>(name->getDecl());
}

std::optional<canonical_loop> read_loop(const clang::ForStmt& loop, const refuse_loop& refuse) {
  canonical_loop read;
  read.statement = &loop;
  const auto* declared = llvm::dyn_cast_or_null<clang::DeclStmt>(loop.getInit());
  if (declared != nullptr && declared->isSingleDecl()) {
    read.index = llvm::dyn_cast<clang::VarDecl>(declared->getSingleDecl());
    if (read.index != nullptr) read.begin = first_value(read.index->getInit());
  }
  const std::string unfit_type = read.begin == nullptr || read.index->getType()->isDependentType()
                                     ? std::string()
                                     : unfit(read.index->getType().getCanonicalType(), read.index->getASTContext());
  if (!unfit_type.empty()) {
    refuse(read.index->getLocation(), "the loop's index '" + read.index->getNameAsString() + "' has type " + unfit_type,
           form);
    return std::nullopt;
  }
  if (read.begin == nullptr || read.index->getType()->isDependentType()) {
    refuse(loop.getForLoc(), "the loop does not begin with a declaration of its index", form);
    return std::nullopt;
  }
  const auto* test =
      llvm::dyn_cast_or_null<clang::BinaryOperator>(loop.getCond() ? loop.getCond()->IgnoreParenImpCasts() : nullptr);
  const bool left = test != nullptr && variable_of(test->getLHS()) == read.index;
  if (test == nullptr || !(test->isRelationalOp() || test->getOpcode() == clang::BO_NE) ||
      (!left && variable_of(test->getRHS()) != read.index)) {
    refuse(loop.getCond() ? loop.getCond()->getBeginLoc() : loop.getForLoc(),
           "the loop's condition does not compare its index with a bound", form);
    return std::nullopt;
  }
  read.bound = left ? test->getRHS() : test->getLHS();
  read.test = left ? test->getOpcode() : turned(test->getOpcode());
  read.inclusive = read.test == clang::BO_LE || read.test == clang::BO_GE;
  if (!read_step(loop.getInc(), read)) {
    refuse(loop.getInc() ? loop.getInc()->getBeginLoc() : loop.getForLoc(), "the loop does not add a step to its index",
           form);
    return std::nullopt;
  }
  for (const clang::Expr* limit : {read.begin, read.bound, read.step})
    if (const auto* name = name_in(limit, read.index)) {
      refuse(name->getBeginLoc(), "the range of the loop depends on its index", form);
      return std::nullopt;
    }
  if (read.step != nullptr && !read.step->getType()->isIntegralOrUnscopedEnumerationType()) {
    refuse(read.step->getBeginLoc(), "the loop's step has type " + read.step->getType().getAsString(),
           "a region wants steps of an integer type");
    return std::nullopt;
  }
  // An index that wraps around may go the long way; of one that does not, it is a mistake.
  const clang::QualType type = read.index->getType().getCanonicalType();
  const clang::ASTContext& context = read.index->getASTContext();
  if (read.leads_away() && type->isSignedIntegerType() &&
      context.getTypeSize(type) >= context.getTypeSize(context.IntTy)) {
    refuse(loop.getInc()->getBeginLoc(), "the loop's step leads away from its bound", form);
    return std::nullopt;
  }
  return read;
}

std::optional<loop_nest> read_nest(const clang::ForStmt& outer, std::size_t depth, const refuse_loop& refuse) {
  loop_nest nest;
  const clang::ForStmt* next = &outer;
  while (next != nullptr) {
    const auto loop = read_loop(*next, refuse);
    if (!loop) return std::nullopt;
    if (depth > 1 && (loop->down || !counts_by_one(*loop))) {
      refuse(next->getInc()->getBeginLoc(), "a collapsed loop counts in another way than up by one",
             "write ++i, or leave the loop out of the collapsed ones");
      return std::nullopt;
    }
    for (const canonical_loop& around : nest.loops) {
      if (around.index->getName() == loop->index->getName()) {
        refuse(loop->index->getLocation(),
               "two of the collapsed loops have an index named '" + loop->index->getNameAsString() + "'",
               "give each a name of its own");
        return std::nullopt;
      }
      for (const clang::Expr* limit : {loop->begin, loop->bound})
        if (const auto* name = name_in(limit, around.index)) {
          refuse(name->getBeginLoc(),
                 "the range of a collapsed loop depends on '" + around.index->getNameAsString() + "'",
                 "collapse fewer loops: those that have the same range in each iteration");
          return std::nullopt;
        }
    }
    nest.loops.push_back(*loop);
    if (nest.loops.size() == depth) return nest;
    const clang::Stmt* const only = only_statement(nest.body());
    next = llvm::dyn_cast_or_null<clang::ForStmt>(only);
  }
  refuse(nest.body().getBeginLoc(), "this is not one loop, which 'collapse' wants here",
         "loops are collapsed where each is all that the one around it has");
  return std::nullopt;
}

}  // namespace tessera::directive
