#include "languages/directives/clang/known_range.hpp"

#include <llvm/ADT/APFloat.h>
#include <llvm/ADT/APSInt.h>

#include <optional>

#include "tessera/detail/loop_head.hpp"

namespace tessera::directive {
namespace {

using directives::loop_step;
using directives::loop_test;

/// A bound that is a number, in the type in which the condition compares, and the type of the index.
struct known_bound {
  clang::APValue value;
  const llvm::fltSemantics* fraction = nullptr;  // null: an integer
  unsigned bits = 0;
  bool is_signed = false;
};

int compare(const void* with, std::uint64_t index) {
  const auto& bound = *static_cast<const known_bound*>(with);
  llvm::APSInt i(llvm::APInt(64, index).trunc(bound.bits), !bound.is_signed);
  if (bound.fraction != nullptr) {
    llvm::APFloat f(*bound.fraction);
    f.convertFromAPInt(i, bound.is_signed, llvm::APFloat::rmNearestTiesToEven);
    switch (f.compare(bound.value.getFloat())) {
      case llvm::APFloat::cmpLessThan:
        return -1;
      case llvm::APFloat::cmpEqual:
        return 0;
      case llvm::APFloat::cmpGreaterThan:
        return 1;
      default:
        return 2;
    }
  }
  const llvm::APSInt& b = bound.value.getInt();
  i = i.extOrTrunc(b.getBitWidth());
  i.setIsUnsigned(b.isUnsigned());
  return i < b ? -1 : i == b ? 0 : 1;
}

loop_test test_of(clang::BinaryOperatorKind op) {
  switch (op) {
    case clang::BO_LT:
      return loop_test::less;
    case clang::BO_LE:
      return loop_test::up_to;
    case clang::BO_GT:
      return loop_test::greater;
    case clang::BO_GE:
      return loop_test::down_to;
    default:
      return loop_test::differs;
  }
}

/// The type in which the index and the step are added.
clang::QualType sum_type(const canonical_loop& loop, const clang::ASTContext& context) {
  const clang::Expr* const increment = loop.statement->getInc()->IgnoreParenImpCasts();
  if (const auto* sum = llvm::dyn_cast<clang::CompoundAssignOperator>(increment)) return sum->getComputationLHSType();
  if (const auto* to = llvm::dyn_cast<clang::BinaryOperator>(increment))
    return to->getRHS()->IgnoreParenImpCasts()->getType();
  const clang::QualType index = loop.index->getType();
  return context.getTypeSize(index) < context.getTypeSize(context.IntTy) ? context.IntTy : index;
}

std::optional<llvm::APSInt> integer(const clang::Expr* e, const clang::ASTContext& context) {
  clang::Expr::EvalResult number;
  if (e->isValueDependent() || !e->EvaluateAsInt(number, context)) return std::nullopt;
  return number.Val.getInt();
}

}  // namespace

std::string known_fault(const canonical_loop& loop, const clang::ASTContext& context) {
  const clang::QualType index = loop.index->getType().getCanonicalType(), sum = sum_type(loop, context);
  const auto first = integer(loop.begin, context);
  const auto step = loop.step == nullptr ? std::optional(llvm::APSInt::get(1)) : integer(loop.step, context);
  const clang::BinaryOperator& condition = loop.condition();
  const clang::Expr* const limit =
      variable_of(condition.getLHS()) == loop.index ? condition.getRHS() : condition.getLHS();
  clang::Expr::EvalResult number;
  if (!first || !step || step->getBitWidth() > 64 || limit->isValueDependent() ||
      !limit->EvaluateAsRValue(number, context) || number.HasSideEffects)
    return {};
  known_bound bound{number.Val, nullptr, static_cast<unsigned>(context.getTypeSize(index)),
                    index->isSignedIntegerType()};
  if (limit->getType()->isRealFloatingType() && number.Val.isFloat())
    bound.fraction = &context.getFloatTypeSemantics(limit->getType());
  else if (!number.Val.isInt())
    return {};
  const directives::detail::loop_head head{static_cast<std::uint64_t>(first->getExtValue()),
                                           static_cast<std::uint64_t>(step->getExtValue()),
                                           loop.down ? loop_step::subtract : loop_step::add,
                                           bound.bits,
                                           bound.is_signed,
                                           sum->isSignedIntegerType() && context.getTypeSize(sum) == bound.bits,
                                           test_of(loop.test),
                                           0};
  return directives::detail::range_of(head, &compare, &bound).fault;
}

}  // namespace tessera::directive
