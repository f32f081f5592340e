#include "languages/sial/language/check/declarations.hpp"

#include <fmt/format.h>

#include "languages/sial/language/check/statements.hpp"

namespace tessera::sial {
namespace {

using syntax::declared;

index_kind kind_of(const std::string& word) {
  return word == "aoindex"    ? index_kind::ao
         : word == "moindex"  ? index_kind::mo
         : word == "moaindex" ? index_kind::moa
         : word == "mobindex" ? index_kind::mob
         : word == "laindex"  ? index_kind::la
                              : index_kind::simple;
}

array_kind kind_of(const syntax::declaration& d) {
  if (d.word == "static") return array_kind::fixed;
  if (d.word == "local") return d.contiguous ? array_kind::contiguous_local : array_kind::local;
  return d.word == "temp" ? array_kind::temp : d.word == "distributed" ? array_kind::distributed : array_kind::served;
}

class declaration_checker {
 public:
  declaration_checker(program& out, scope& names, message_list& messages, std::uint32_t file,
                      const syntax::declaration& d)
      : m_out(out), m_names(names), m_messages(messages), m_file(file), m_d(d) {}

  void check() {
    switch (m_d.kind) {
      case declared::integer:
        add(entity_kind::integer, m_out.ints,
            int_declaration{m_d.id.text, m_d.id.where.where, m_file, m_d.predefined, m_d.i});
        return warn_of_value();
      case declared::scalar:
        add(entity_kind::scalar, m_out.scalars,
            scalar_declaration{m_d.id.text, m_d.id.where.where, m_file, m_d.predefined, m_d.d});
        return warn_of_value();
      case declared::array:
        return array();
      case declared::index:
        return index();
      case declared::subindex:
        return subindex();
      case declared::special:
        return special();
      case declared::procedure:
        return;
    }
  }

 private:
  template <class T>
  void add(entity_kind kind, std::vector<T>& table, T what) {
    if (m_names.declare(m_d.id, kind, static_cast<symbol>(table.size()))) table.push_back(std::move(what));
  }

  void warn_of_value() {
    if (m_d.predefined && m_d.has_value)
      m_messages.warning(m_d.id.where,
                         fmt::format("'{}' is predefined: its initial value here has no effect", m_d.id.text));
  }

  void array() {
    array_declaration a;
    a.name = m_d.id.text, a.where = m_d.id.where.where, a.program = m_file, a.kind = kind_of(m_d),
    a.predefined = m_d.predefined;
    if (m_d.predefined && a.kind != array_kind::fixed)
      m_names.fail(m_d.where,
                   fmt::format("'predefined' stands before int, scalar and static, not {}", word_of(a.kind)));
    for (const syntax::name& n : m_d.indices) a.indices.push_back(m_names.find(n, entity_kind::index));
    add(entity_kind::array, m_out.arrays, std::move(a));
  }

  bound check_bound(const syntax::index_bound& b, index_kind kind) {
    bound checked;
    if (b.constant.text.empty()) {
      if (kind != index_kind::simple && b.value < 1)
        m_names.fail(b.where, fmt::format("segment numbers begin at 1, not {}", b.value));
      checked.value = b.value;
      return checked;
    }
    checked.constant = m_names.find(b.constant, entity_kind::integer);
    if (!m_out.ints[checked.constant].predefined)
      m_names.fail(b.where,
                   fmt::format("'{}' is not predefined: a bound is an integer or a predefined int", b.constant.text),
                   fmt::format("declare it 'predefined int {}'", b.constant.text));
    return checked;
  }

  void index() {
    index_declaration i;
    i.name = m_d.id.text, i.where = m_d.id.where.where, i.program = m_file, i.kind = kind_of(m_d.word);
    i.low = check_bound(m_d.low, i.kind), i.high = check_bound(m_d.high, i.kind);
    if (i.low.constant == no_symbol && i.high.constant == no_symbol && i.low.value > i.high.value)
      m_names.fail(m_d.low.where, fmt::format("the range {}:{} is empty", i.low.value, i.high.value),
                   "the lower bound stands first");
    add(entity_kind::index, m_out.indices, std::move(i));
  }

  void subindex() {
    index_declaration i;
    i.name = m_d.id.text, i.where = m_d.id.where.where, i.program = m_file, i.kind = index_kind::sub;
    i.parent = m_names.find(m_d.parent, entity_kind::index);
    const index_kind parent = m_out.indices[i.parent].kind;
    if (parent == index_kind::simple || parent == index_kind::sub)
      m_names.fail(m_d.parent.where, fmt::format("'{}' is a {}: it has no segments to divide", m_d.parent.text,
                                                 parent == index_kind::sub ? "subindex" : "simple index"));
    add(entity_kind::index, m_out.indices, std::move(i));
  }

  void special() {
    for (const char c : m_d.signature.text)
      if (c != 'r' && c != 'w' && c != 'u')
        m_names.fail(m_d.signature.where, fmt::format("'{}' is no letter of a signature", c),
                     "r: read, w: written, u: updated; one letter an argument");
    add(entity_kind::special, m_out.specials,
        special_declaration{m_d.id.text, m_d.id.where.where, m_file, m_d.signature.text});
  }

  program& m_out;
  scope& m_names;
  message_list& m_messages;
  std::uint32_t m_file;
  const syntax::declaration& m_d;
};

}  // namespace

void check_declaration(program& out, scope& names, message_list& messages, std::uint32_t file,
                       const syntax::declaration& d) {
  try {
    declaration_checker(out, names, messages, file, d).check();
  } catch (const check_failed&) {
    names.declare(d.id, entity_kind::unclear, no_symbol);
  }
}

}  // namespace tessera::sial
