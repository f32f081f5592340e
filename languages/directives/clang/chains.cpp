#include "languages/directives/clang/chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "languages/directives/clang/chain_path.hpp"
#include "languages/directives/text/emit.hpp"
#include "languages/directives/text/shield.hpp"

namespace tessera::directive {
namespace {

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Whether an expression of the file is assigned to, stepped, or its address taken.
bool is_changed(std::string_view text, const extent& where) {
  std::size_t behind = where.end, before = where.begin;
  while (behind < text.size() && text[behind] == ' ') ++behind;
  while (before > 0 && text[before - 1] == ' ') --before;
  const std::string_view next = text.substr(behind, 3),
                         last = text.substr(before < 2 ? 0 : before - 2, before < 2 ? before : 2);
  if (next.starts_with("++") || next.starts_with("--") || last == "++" || last == "--") return true;
  if (last.ends_with('&') && last != "&&") return true;
  if (next.starts_with('=')) return !next.starts_with("==");
  return next.size() > 1 && next[1] == '=' && std::string_view("+-*/%&|^").find(next[0]) != std::string_view::npos;
}

}  // namespace

std::string chain_reader::read(const found_directive& d) {
  switch (d.what.rule->what) {
    case action::chain_declare:
      declare(d);
      return {};
    case action::chain_begin:
      return begin(d);
    default:
      return close(d);
  }
}

void chain_reader::end() {
  if (m_region != nullptr)
    m_messages.error(m_text.location(m_region->where.begin), "this region of pointerchain has no end",
                     "write #pragma pointerchain region end behind it");
  else if (!m_declared.empty())
    m_messages.warning(m_text.location(m_declared.front().second->where.begin),
                       "no region of pointerchain uses these chains");
}

void chain_reader::declare(const found_directive& d) {
  for (chain& c : parse_chains(d.what.needed("declare"))) m_declared.emplace_back(std::move(c), &d);
}

const clang::MemberExpr* chain_reader::first_use(const chain& c, const extent& in) const {
  for (const clang::MemberExpr* m : m_names.members(in))
    if (without_spaces(m_text.text_of(*m)) == without_spaces(c.path.text)) return m;
  return nullptr;
}

std::string chain_reader::begin(const found_directive& d) {
  if (m_region != nullptr)
    m_messages.error(m_text.location(d.where.begin), "a region of pointerchain inside of another one",
                     "end the first one before");
  m_region = &d;
  if (d.what.find("declare") != nullptr) declare(d);
  if (m_declared.empty())
    m_messages.error(m_text.location(d.where.begin), "this region of pointerchain has no chains",
                     "name them in front of it, or here: region begin declare(a->b->x{double*})");
  const scopes::block* const block = m_names.block_at(d.where.begin);
  const extent rest{d.where.end, block == nullptr ? d.where.end : block->where.end};
  std::string text;
  m_open.clear();
  for (const auto& [c, where] : m_declared) {
    const clang::SourceLocation at = m_text.location(where->text_at + c.path.at);
    if (const clang::MemberExpr* const used = first_use(c, rest))
      text += open(c, at, *used);
    else
      m_messages.warning(at, fmt::format("the chain '{}' is not used", c.path.text));
  }
  m_declared.clear();
  return text;
}

/// The variables of a chain: what it leads to; of elements also these, of a number where it goes back to.
std::string chain_reader::open(const chain& c, clang::SourceLocation at, const clang::MemberExpr& used) {
  const clang::QualType type = used.getType();
  if (!type->isArrayType() && without_spaces(type.getAsString()) != without_spaces(c.type) &&
      without_spaces(type.getCanonicalType().getAsString()) != without_spaces(c.type))
    m_messages.error(at, fmt::format("the chain '{}' has type {}, not {}", c.path.text, type.getAsString(), c.type));
  const std::size_t last =
      std::distance(std::find_if_not(c.path.text.rbegin(), c.path.text.rend(), in_name), c.path.text.rend());
  const std::string name = fmt::format("chain{}_{}", m_count++, c.path.text.substr(last));
  const bool pointer = c.type.ends_with('*'), counted = !c.ranges.empty();
  m_open.push_back({c, {name, counted ? name + "_elements" : ""}, pointer});
  try {
    const std::string chain = chain_expression(chain_path_of(used, m_context, m_text), c.ranges);
    const auto followed = [&](const char* result, const std::string& what) {
      return fmt::format("::tessera::directives::followed({}, [&]{} {{ return {}; }})", literal(c.path.text), result,
                         what);
    };
    if (counted)
      return fmt::format("const auto {0}_elements = {1}; [[maybe_unused]] {2} const {0} = {0}_elements.data(); ", name,
                         followed("", chain), as_written(c.type));
    const std::string last_link = followed("() -> auto&", chain + ".get()");
    if (pointer) return fmt::format("[[maybe_unused]] {} const {} = &{}; ", as_written(c.type), name, last_link);
    return fmt::format("[[maybe_unused]] auto& {0}_home = {1}; [[maybe_unused]] {2} {0} = {0}_home; ", name, last_link,
                       as_written(c.type));
  } catch (const no_chain& reason) {
    m_messages.error(reason.where, reason.message, reason.hint);
    return {};
  }
}

std::string chain_reader::close(const found_directive& d) {
  if (m_region == nullptr) {
    m_messages.error(m_text.location(d.where.begin), "there is no region of pointerchain to end");
    return {};
  }
  const scopes::block *first = m_names.block_at(m_region->where.begin), *last = m_names.block_at(d.where.begin);
  if (first != last)
    m_messages.error(m_text.location(d.where.begin), "this region of pointerchain begins in another block",
                     "it ends in the block that it begins in");
  std::string back;
  std::size_t taken = 0;  // expressions inside of a replaced one stay
  std::vector<const opened*> changed;
  for (const clang::MemberExpr* m : m_names.members({m_region->where.end, d.where.begin})) {
    const auto where = m_text.of(m->getSourceRange());
    if (!where || where->begin < taken) continue;
    const std::string shown = without_spaces(m_text.text().substr(where->begin, where->end - where->begin));
    for (const opened& one : m_open) {
      if (shown != without_spaces(one.what.path.text)) continue;
      if (is_changed(m_text.text(), *where)) {
        if (one.is_pointer)
          m_messages.error(m->getBeginLoc(), fmt::format("the chain '{}' is given another pointer", one.what.path.text),
                           "a region of pointerchain evaluates it once, at its begin");
        changed.push_back(&one);
      }
      m_text.change(*where, one.variable.name);
      m_replaced.emplace(m, one.variable);
      taken = where->end;
      break;
    }
  }
  for (const opened& one : m_open)
    if (std::ranges::find(changed, &one) != changed.end()) back += fmt::format("{0}_home = {0}; ", one.variable.name);
  m_region = nullptr;
  m_open.clear();
  return back;
}

}  // namespace tessera::directive
