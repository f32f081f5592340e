#include "languages/directives/clang/uses.hpp"

#include <algorithm>

namespace tessera::directive {
namespace {

constexpr std::size_t table_elements = 64;  // of a constant array that a body takes with it

/// Whether an access before has surely written what this one reads, in the same iteration.
bool writes_first(const array_access& before, const array_access& read) {
  const row_reach& row = before.reach;
  if (!before.writes || !before.always || !row.covers_row || row.lowest != 0 || row.highest != 0) return false;
  if (before.subscripts == read.subscripts) return true;
  const bool loops_ended = std::ranges::none_of(before.in_loops, [&](const clang::VarDecl* index) {
    return std::ranges::find(read.in_loops, index) != read.in_loops.end();
  });
  return loops_ended && read.reach.lowest == 0 && read.reach.highest == 0 && !read.reach.whole;
}

}  // namespace

bool body_uses::is_table(const symbol& s) const {
  const clang::ConstantArrayType* array = m_context.getAsConstantArrayType(s.type);
  return array != nullptr && array->getElementType().isConstQualified() &&
         array->getElementType()->isArithmeticType() && array->getSize().getZExtValue() <= table_elements;
}

void body_uses::add_scalar(const symbol& s, bool table) {
  if (std::ranges::find(m_scalars, s.name, &body_scalar::name) != m_scalars.end()) return;
  body_scalar made{s.name, s.type.getNonReferenceType(), true, false, table, s.written};
  if (s.variable != nullptr) {
    made.captured = !s.variable->isUsableInConstantExpressions(m_context) || s.variable->hasLocalStorage();
    made.is_global = !s.variable->hasLocalStorage();
    if (table && made.is_global) made.captured = false;
  }
  m_scalars.push_back(std::move(made));
}

body_array& body_uses::array_of(const symbol& s) {
  const auto known = std::ranges::find(m_arrays, s.name, &body_array::name);
  if (known != m_arrays.end()) return *known;
  body_array made;
  made.name = s.name;
  made.written = s.written;
  made.is_chain = s.variable == nullptr;
  made.elements = s.elements;
  made.element =
      s.type->isPointerType() ? s.type->getPointeeType() : clang::QualType(s.type->getPointeeOrArrayElementType(), 0);
  if (!s.type->isPointerType()) made.element = m_context.getAsArrayType(s.type)->getElementType();
  while (const clang::ConstantArrayType* inner = m_context.getAsConstantArrayType(made.element)) {
    made.inner.push_back(static_cast<std::int64_t>(inner->getSize().getZExtValue()));
    made.element = inner->getElementType();
  }
  return m_arrays.emplace_back(std::move(made));
}

void body_uses::add_access(body_array& array, array_access made, const subscript_names& names) {
  if (made.subscripts.size() == 1) {
    made.reach = reach_of(made.subscripts.front(), names);
    made.place = place_of(made.subscripts.front(), m_collapsed, names);
  } else {
    made.reach = reach_of(made.subscripts, array.inner, names);
    made.place = place_of(made.subscripts, m_collapsed, names);
    if (made.always && leaves_dimension(made.subscripts, array.inner, names))
      made.reach = {true, 0, 0, {}, false, "an index is outside of its dimension"};
  }
  made.sees_before = made.reads && std::ranges::none_of(array.accesses, [&](const array_access& before) {
                       return writes_first(before, made);
                     });
  array.accesses.push_back(std::move(made));
}

bool body_uses::writes(const std::string& array) const {
  const auto known = std::ranges::find(m_arrays, array, &body_array::name);
  return known != m_arrays.end() && std::ranges::any_of(known->accesses, &array_access::writes);
}

bool body_uses::stands_for(const clang::VarDecl& v) const {
  const auto number = std::ranges::find(m_scalars, v.getNameAsString(), &body_scalar::name);
  return number == m_scalars.end() || number->captured;
}

std::vector<body_array> body_uses::arrays(bool always) const {
  std::vector<body_array> found;
  for (const body_array& one : m_arrays)
    if (!one.accesses.empty()) found.push_back(one);  // else it is told already
  if (!always)
    for (body_array& a : found)
      for (array_access& one : a.accesses) {
        one.always = false;
        one.sees_before = one.reads;
      }
  return found;
}

}  // namespace tessera::directive
