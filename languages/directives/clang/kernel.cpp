#include "languages/directives/clang/kernel.hpp"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <fmt/format.h>
#include <llvm/ADT/StringExtras.h>

#include <algorithm>
#include <array>
#include <utility>

#include "languages/directives/clang/kernel_names.hpp"

namespace tessera::directive {
namespace {

using clang::BuiltinType;
using clang::Expr;
using clang::Stmt;

/// Thrown by what cannot be in a kernel.
struct not_in_kernels {
  clang::SourceLocation where;
  std::string why;
};

const BuiltinType* builtin(clang::QualType type) {
  return type.getNonReferenceType().getCanonicalType()->getAs<BuiltinType>();
}

/// The name of a type in tessera-c; empty: it has none. bool is int there.
std::string c_type(clang::QualType type) {
  const BuiltinType* const is = builtin(type);
  if (is == nullptr) return {};
  switch (is->getKind()) {
    case BuiltinType::Bool:
    case BuiltinType::Int:
      return "int";
    case BuiltinType::UInt:
      return "unsigned int";
    case BuiltinType::Long:
    case BuiltinType::LongLong:
      return "long";
    case BuiltinType::ULong:
    case BuiltinType::ULongLong:
      return "unsigned long";
    case BuiltinType::Short:
      return "short";
    case BuiltinType::UShort:
      return "unsigned short";
    case BuiltinType::Char_S:
    case BuiltinType::SChar:
      return "signed char";
    case BuiltinType::Char_U:
    case BuiltinType::UChar:
      return "unsigned char";
    case BuiltinType::Float:
      return "float";
    case BuiltinType::Double:
      return "double";
    default:
      return {};
  }
}

/// Elements that kernels have.
bool is_element(clang::QualType type) {
  static constexpr std::array known = {"double", "float", "int", "long", "unsigned char"};
  const BuiltinType* const is = builtin(type);
  return is != nullptr && is->getKind() != BuiltinType::Bool && is->getKind() != BuiltinType::LongLong &&
         std::ranges::find(known, c_type(type)) != known.end();
}

/// A function of the standard library, and how many arguments it has.
struct function {
  std::string_view name, kernel;
  unsigned arguments;
};
constexpr std::array functions = {
    function{"sqrt", "sqrt", 1},    function{"sqrtf", "sqrt", 1}, function{"fabs", "fabs", 1},
    function{"fabsf", "fabs", 1},   function{"abs", "fabs", 1},   function{"exp", "exp", 1},
    function{"expf", "exp", 1},     function{"log", "log", 1},    function{"logf", "log", 1},
    function{"pow", "pow", 2},      function{"powf", "pow", 2},   function{"sin", "sin", 1},
    function{"sinf", "sin", 1},     function{"cos", "cos", 1},    function{"cosf", "cos", 1},
    function{"tan", "tan", 1},      function{"tanf", "tan", 1},   function{"floor", "floor", 1},
    function{"floorf", "floor", 1}, function{"ceil", "ceil", 1},  function{"ceilf", "ceil", 1},
    function{"fma", "fma", 3},      function{"fmaf", "fma", 3},   function{"fmin", "fmin", 2},
    function{"fminf", "fmin", 2},   function{"fmax", "fmax", 2},  function{"fmaxf", "fmax", 2}};

class kernel_writer {
 public:
  kernel_writer(const loop_nest& nest, const body_facts& facts, const std::vector<body_reduction>& reductions,
                const chain_names& chains, clang::ASTContext& context)
      : m_nest(nest), m_facts(facts), m_reductions(reductions), m_chains(chains), m_context(context) {}

  kernel_text write() {
    kernel_text made;
    try {
      std::string parameters = "(";
      for (const canonical_loop& loop : m_nest.loops)
        parameters += (&loop == &m_nest.outer() ? "" : ", ") + m_names.outside(loop.index->getNameAsString());
      for (const body_array& a : m_facts.arrays) {
        if (!is_element(a.element))
          refuse(a.accesses.front().where->getBeginLoc(),
                 fmt::format("elements of type {}", a.element.getUnqualifiedType().getAsString()));
        parameters += ", " + m_names.outside(a.name);
      }
      for (const body_reduction& r : m_reductions) parameters += ", " + m_names.outside(r.name);
      for (const body_scalar& s : m_facts.scalars) {
        if (s.is_table) refuse(m_nest.outer().statement->getForLoc(), fmt::format("the table '{}'", s.name));
        made.values.push_back({s.name, value_of(s)});
        parameters += ", " + m_names.outside(s.name);
      }
      std::string body = statement(m_nest.body(), 0);
      if (!m_facts.continues.empty()) body = "do " + body + " while (0);";
      if (!body.starts_with('{')) body = "{ " + body + " }";
      made.text = parameters + ") " + body;
    } catch (const not_in_kernels& reason) {
      made.why_not = reason.why;
      made.where = reason.where;
      made.values.clear();
    }
    return made;
  }

 private:
  [[noreturn]] static void refuse(clang::SourceLocation where, const std::string& why) {
    throw not_in_kernels{where, why};
  }
  [[noreturn]] static void refuse(const Stmt& s, const std::string& why) { refuse(s.getBeginLoc(), why); }

  std::string value_of(const body_scalar& s) const {
    const std::string type = c_type(s.type);
    if (type.empty())
      refuse(m_nest.outer().statement->getForLoc(), fmt::format("a number of the type of '{}'", s.name));
    const std::string& value = s.written.empty() ? s.name : s.written;
    if (type == "double" || type == "float") return value;
    return fmt::format("static_cast<{}>({})", type == "int" ? "int" : "::std::int64_t", value);
  }

  // ---- statements ----

  std::string statement(const Stmt& s, int depth) {
    const std::string indent(2 * static_cast<std::size_t>(depth), ' ');
    if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(&s)) {
      std::string made = "{\n";
      for (const Stmt* one : block->body()) made += indent + "  " + statement(*one, depth + 1) + "\n";
      return made + indent + "}";
    }
    if (const auto* declaration = llvm::dyn_cast<clang::DeclStmt>(&s)) return declarations(*declaration) + ";";
    if (llvm::isa<clang::NullStmt>(s)) return ";";
    if (llvm::isa<clang::ContinueStmt>(s)) return "continue;";
    if (llvm::isa<clang::BreakStmt>(s)) return "break;";
    if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(&s)) {
      if (branch->getInit() != nullptr || branch->getConditionVariable() != nullptr || branch->isConstexpr())
        refuse(s, "this form of 'if'");
      std::string made = fmt::format("if ({}) {}", expression(branch->getCond()), statement(*branch->getThen(), depth));
      if (branch->getElse() != nullptr) made += " else " + statement(*branch->getElse(), depth);
      return made;
    }
    if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(&s)) {
      std::string first = ";";
      if (const Stmt* init = loop->getInit()) {
        const auto* declaration = llvm::dyn_cast<clang::DeclStmt>(init);
        first = (declaration != nullptr ? declarations(*declaration) : expression(llvm::cast<Expr>(init))) + ";";
      }
      return fmt::format("for ({} {}; {}) {}", first, loop->getCond() ? expression(loop->getCond()) : "",
                         loop->getInc() ? expression(loop->getInc()) : "", statement(*loop->getBody(), depth));
    }
    if (const auto* loop = llvm::dyn_cast<clang::WhileStmt>(&s))
      return fmt::format("while ({}) {}", expression(loop->getCond()), statement(*loop->getBody(), depth));
    if (const auto* loop = llvm::dyn_cast<clang::DoStmt>(&s))
      return fmt::format("do {} while ({});", statement(*loop->getBody(), depth), expression(loop->getCond()));
    if (const auto* e = llvm::dyn_cast<Expr>(&s)) return expression(e) + ";";
    refuse(s, "this statement");
  }

  std::string declarations(const clang::DeclStmt& s) {
    std::string made;
    for (const clang::Decl* d : s.decls()) {
      const auto* v = llvm::dyn_cast<clang::VarDecl>(d);
      if (v == nullptr || v->getType()->isReferenceType()) refuse(s, "this declaration");
      const clang::ConstantArrayType* const array = m_context.getAsConstantArrayType(v->getType());
      const std::string type = c_type(array != nullptr ? array->getElementType() : v->getType());
      const auto* list = llvm::dyn_cast_or_null<clang::InitListExpr>(v->getInit());
      if (type.empty()) refuse(v->getLocation(), fmt::format("a variable of type {}", v->getType().getAsString()));
      if (array != nullptr && v->getInit() != nullptr && list == nullptr)
        refuse(v->getLocation(), fmt::format("this initialiser of '{}'", v->getNameAsString()));
      if (made.empty())
        made = type;
      else
        made += ",";
      made += " " + m_names.inside(*v);
      if (array != nullptr) made += fmt::format("[{}]", array->getSize().getZExtValue());
      if (array != nullptr && list != nullptr)
        made += " = " + elements_of(*list);
      else if (v->getInit() != nullptr)
        made += " = " + expression(v->getInit());
    }
    return made;
  }

  /// {1, 2, 3}; elements that have no value of their own are 0 in both languages.
  std::string elements_of(const clang::InitListExpr& list) {
    std::vector<std::string> values;
    for (const Expr* one : list.inits())
      values.push_back(llvm::isa<clang::ImplicitValueInitExpr>(one) ? "0" : expression(one));
    if (values.empty()) values.emplace_back("0");
    return fmt::format("{{{}}}", fmt::join(values, ", "));
  }

  // ---- expressions ----

  std::string expression(const Expr* e) {
    if (const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(e)) return implicit(*cast);
    if (const auto* full = llvm::dyn_cast<clang::FullExpr>(e)) return expression(full->getSubExpr());
    if (const auto* held = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(e)) return expression(held->getSubExpr());
    if (const auto* inside = llvm::dyn_cast<clang::ParenExpr>(e)) return "(" + expression(inside->getSubExpr()) + ")";
    if (const auto* number = llvm::dyn_cast<clang::IntegerLiteral>(e)) {
      const bool is_unsigned = e->getType()->isUnsignedIntegerType();
      return llvm::toString(number->getValue(), 10, !is_unsigned) + (is_unsigned ? "U" : "") +
             (m_context.getTypeSize(e->getType()) > 32 ? "L" : "");
    }
    if (const auto* number = llvm::dyn_cast<clang::FloatingLiteral>(e)) return floating(*number);
    if (const auto* truth = llvm::dyn_cast<clang::CXXBoolLiteralExpr>(e)) return truth->getValue() ? "1" : "0";
    if (const auto* letter = llvm::dyn_cast<clang::CharacterLiteral>(e)) return std::to_string(letter->getValue());
    if (const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(e)) return element(*subscript);
    if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(e)) {
      if (unary->getOpcode() == clang::UO_AddrOf || unary->getOpcode() == clang::UO_Deref)
        refuse(*e, "pointers other than arrays");
      if (!unary->isArithmeticOp() && !unary->isIncrementDecrementOp()) refuse(*e, "this operator");
      if (unary->isIncrementDecrementOp()) check_target(*unary->getSubExpr());
      const std::string op = clang::UnaryOperator::getOpcodeStr(unary->getOpcode()).str();
      const std::string inside = expression(unary->getSubExpr());
      if (unary->isPostfix()) return inside + op;
      return op + (inside.starts_with(op.back()) ? " " : "") + inside;  // - -x is not --x
    }
    if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(e); binary != nullptr && binary->isPtrMemOp())
      refuse(*e, "pointers other than arrays");
    if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(e); binary != nullptr && binary->isAssignmentOp()) {
      check_target(*binary->getLHS());
      if (binary->isCompoundAssignmentOp() && binary->getLHS()->getType()->isBooleanType())
        refuse(*e, "a change of a truth value");  // it is an int there
      if (const body_reduction* to = truth_of(*binary->getLHS())) return truth_step(*to, *binary);
    }
    if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(e)) {
      std::string left = expression(binary->getLHS());
      // An index is long there: bits that go out of an int must not stay.
      if (const std::string type = c_type(binary->getType()); binary->getOpcode() == clang::BO_Shl && !type.empty())
        left = fmt::format("(({})({}))", type, left);
      return fmt::format("{} {} {}", left, binary->getOpcodeStr().str(), expression(binary->getRHS()));
    }
    if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(e))
      return fmt::format("{} ? {} : {}", expression(choice->getCond()), expression(choice->getTrueExpr()),
                         expression(choice->getFalseExpr()));
    if (const auto* cast = llvm::dyn_cast<clang::ExplicitCastExpr>(e)) {
      const std::string type = c_type(cast->getType());
      if (type.empty() || cast->getType()->isBooleanType() || cast->isGLValue()) refuse(*e, "this cast");
      return fmt::format("(({})({}))", type, expression(cast->getSubExpr()));
    }
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(e)) return call_of(*call);
    return name(*e);
  }

  /// The reduction with && or || to a variable; null: it has none.
  const body_reduction* truth_of(const Expr& e) const {
    const body_reduction* const found = find_reduction(m_reductions, variable_of(e.IgnoreParens()));
    return found != nullptr && (found->operation == "&&" || found->operation == "||") ? found : nullptr;
  }
  /// As tessera::directives::joined_truth does it: 2 is no, 3 is yes.
  std::string truth_step(const body_reduction& to, const clang::BinaryOperator& step) {
    const std::string value = "((" + expression(step.getRHS()) + ") != 0)";
    const std::string joined =
        step.isCompoundAssignmentOp() ? fmt::format("({} {} {})", truth(to), to.operation, value) : value;
    return fmt::format("{} = {} + 2", m_names.outside(to.name), joined);
  }
  std::string truth(const body_reduction& of) {
    return fmt::format("({} {})", m_names.outside(of.name), of.operation == "&&" ? "!= 2" : "== 3");
  }

  /// In C nothing but a variable or an element can be assigned to.
  void check_target(const Expr& to) const {
    const Expr* const e = to.IgnoreParens();
    if (!llvm::isa<clang::DeclRefExpr, clang::ArraySubscriptExpr>(e) && symbol_of(e, m_chains).name.empty())
      refuse(to, "an assignment to what is neither a variable nor an element");
  }

  std::string implicit(const clang::ImplicitCastExpr& cast) {
    const std::string inside = expression(cast.getSubExpr());
    switch (cast.getCastKind()) {
      case clang::CK_IntegralToBoolean:
      case clang::CK_FloatingToBoolean:
        return "((" + inside + ") != 0)";
      case clang::CK_IntegralCast:  // indices are long there: they do not wrap by themselves
        if (cast.getType()->isUnsignedIntegerType() && !c_type(cast.getType()).empty() &&
            !cast.getType()->isBooleanType() && !llvm::isa<clang::IntegerLiteral>(cast.getSubExpr()))
          return "((" + c_type(cast.getType()) + ")(" + inside + "))";
        return inside;
      case clang::CK_PointerToBoolean:
        refuse(cast, "pointers other than arrays");
      default:
        return inside;
    }
  }

  static std::string floating(const clang::FloatingLiteral& number) {
    std::string text = fmt::format("{}", number.getValueAsApproximateDouble());
    if (text.find_first_of(".en") == std::string::npos) text += ".0";
    return number.getType()->isSpecificBuiltinType(BuiltinType::Float)
               ? fmt::format("{}", static_cast<float>(number.getValueAsApproximateDouble())) +
                     (fmt::format("{}", static_cast<float>(number.getValueAsApproximateDouble()))
                                  .find_first_of(".en") == std::string::npos
                          ? ".0f"
                          : "f")
               : text;
  }

  std::string element(const clang::ArraySubscriptExpr& outermost) {
    std::vector<std::string> indices;
    const Expr* base = &outermost;
    while (const auto* one = llvm::dyn_cast<clang::ArraySubscriptExpr>(base->IgnoreParenImpCasts())) {
      indices.insert(indices.begin(), expression(one->getIdx()));
      base = one->getBase();
    }
    const symbol s = symbol_of(base, m_chains);
    if (s.name.empty()) refuse(outermost, "this subscript");
    const bool local = s.variable != nullptr && m_facts.locals.contains(s.variable);
    if (local || indices.size() == 1) {
      std::string made = name_of(s);
      for (const std::string& index : indices) made += "[" + index + "]";
      return made;
    }
    return fmt::format("{}({})", name_of(s), fmt::join(indices, ", "));
  }

  std::string call_of(const clang::CallExpr& call) {
    const clang::FunctionDecl* const callee = call.getDirectCallee();
    if (callee == nullptr) refuse(call, "a call of a function");
    const std::string name = callee->getNameAsString();
    const bool standard =
        callee->isInStdNamespace() || callee->getDeclContext()->getRedeclContext()->isTranslationUnit();
    const bool in_header =
        m_context.getSourceManager().isInSystemHeader(callee->getLocation()) || callee->getBuiltinID() != 0;
    if (standard && in_header && (name == "min" || name == "max") && call.getNumArgs() == 2) {
      if (call.getArg(0)->HasSideEffects(m_context) || call.getArg(1)->HasSideEffects(m_context))
        refuse(call, "min or max of something that changes something");
      const std::string a = expression(call.getArg(0)), b = expression(call.getArg(1));
      return name == "min" ? fmt::format("(({1}) < ({0}) ? ({1}) : ({0}))", a, b)
                           : fmt::format("(({0}) < ({1}) ? ({1}) : ({0}))", a, b);
    }
    const auto known = std::ranges::find_if(
        functions, [&](const function& f) { return f.name == name && f.arguments == call.getNumArgs(); });
    const bool real =
        call.getType()->isRealFloatingType() && builtin(call.getType())->getKind() != BuiltinType::LongDouble;
    if (!standard || !in_header || known == functions.end() || !real) refuse(call, fmt::format("a call of '{}'", name));
    std::string made = std::string(known->kernel) + "(";
    for (unsigned k = 0; k < call.getNumArgs(); ++k)
      made += fmt::format("{}({})({})", k == 0 ? "" : ", ", c_type(call.getType()), expression(call.getArg(k)));
    return made + ")";
  }

  std::string name(const Expr& e) {
    if (const body_reduction* of = truth_of(e)) return truth(*of);
    const symbol s = symbol_of(&e, m_chains);
    if (s.name.empty()) {
      Expr::EvalResult number;  // an enumerator
      if (e.EvaluateAsInt(number, m_context)) return llvm::toString(number.Val.getInt(), 10);
      refuse(e, "this expression");
    }
    const std::string type = c_type(s.type);
    const bool local = s.variable != nullptr && m_facts.locals.contains(s.variable);
    if (local && m_context.getAsArrayType(s.type) != nullptr) return name_of(s);
    if (type.empty()) refuse(e, fmt::format("'{}'", s.name));
    if (local || std::ranges::find(m_reductions, s.name, &body_reduction::name) != m_reductions.end())
      return name_of(s);
    // Indices are long there, and values one of five types: back to the program's own.
    const bool as_is = type == "double" || type == "float" || type == "long" || type == "int";
    return as_is ? name_of(s) : fmt::format("(({}){})", type, name_of(s));
  }
  std::string name_of(const symbol& s) {
    const bool index = std::ranges::find(m_nest.loops, s.variable, &canonical_loop::index) != m_nest.loops.end();
    return s.variable != nullptr && !index && m_facts.locals.contains(s.variable) ? m_names.inside(*s.variable)
                                                                                  : m_names.outside(s.name);
  }

  const loop_nest& m_nest;
  const body_facts& m_facts;
  const std::vector<body_reduction>& m_reductions;
  const chain_names& m_chains;
  clang::ASTContext& m_context;
  kernel_names m_names;
};

}  // namespace

kernel_text write_kernel(const loop_nest& nest, const body_facts& facts, const std::vector<body_reduction>& reductions,
                         const chain_names& chains, clang::ASTContext& context) {
  return kernel_writer(nest, facts, reductions, chains, context).write();
}

}  // namespace tessera::directive
