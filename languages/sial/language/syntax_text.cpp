#include <fmt/format.h>

#include "languages/sial/language/syntax.hpp"

namespace tessera::sial::syntax {
namespace {

std::string joined(const std::vector<name>& names) {
  std::string all;
  for (const name& n : names) all += (all.empty() ? "" : ", ") + n.text;
  return all;
}

std::string to_text(const relation& r) { return fmt::format("({} {} {})", r.op, to_text(r.left), to_text(r.right)); }

std::string to_text(const index_bound& b) {
  return b.constant.text.empty() ? fmt::format("{}", b.value) : b.constant.text;
}

void add(std::string& text, const std::vector<statement>& all, std::size_t level);

void add(std::string& text, const statement& s, std::size_t level) {
  text.append(2 * level, ' ').append(s.word);
  if (s.incomplete) text += " ?";
  if (!s.names.empty()) text += " " + joined(s.names);
  if (!s.within.text.empty()) text += " in " + s.within.text;
  if (s.has_text || !s.text.empty()) text += " \"" + s.text + "\"";
  if (!s.op.empty()) text += " " + s.op;
  for (const relation& r : s.conditions) text += " " + to_text(r);
  for (const expression& e : s.operands) text += " " + to_text(e);
  text += "\n";
  add(text, s.inside, level + 1);
  if (s.has_otherwise) text.append(2 * level, ' ').append("else\n");
  add(text, s.otherwise, level + 1);
}

void add(std::string& text, const std::vector<statement>& all, std::size_t level) {
  for (const statement& s : all) add(text, s, level);
}

void add(std::string& text, const declaration& d) {
  text += fmt::format("{}{}{}{} {}", d.predefined ? "predefined " : "", d.contiguous ? "contiguous " : "",
                      d.sparse ? "sparse " : "", d.word, d.id.text);
  switch (d.kind) {
    case declared::integer:
      if (d.has_value) text += fmt::format(" = {}", d.i);
      break;
    case declared::scalar:
      if (d.has_value) text += fmt::format(" = {}", d.d);
      break;
    case declared::array:
      text += "[" + joined(d.indices) + "]";
      break;
    case declared::index:
      text += fmt::format(" = {}:{}", to_text(d.low), to_text(d.high));
      break;
    case declared::subindex:
      text += " of " + d.parent.text;
      break;
    case declared::special:
      if (!d.signature.text.empty()) text += " " + d.signature.text;
      break;
    case declared::procedure:
      break;
  }
  text += "\n";
  add(text, d.inside, 1);
}

}  // namespace

std::string to_text(const expression& e) {
  std::string text;
  const auto operands = [&](const std::string& head) {
    text = "(" + head;
    for (const expression& o : e.operands) text += " " + to_text(o);
    text += ")";
  };
  switch (e.kind) {
    case form::int_literal:
      return fmt::format("{}", e.i);
    case form::scalar_literal: {
      const std::string digits = fmt::format("{}", e.d);
      return digits.find_first_of(".en") == digits.npos ? digits + ".0" : digits;
    }
    case form::variable:
      return e.id.text;
    case form::star:
      return "*";
    case form::block:
      operands("block " + e.id.text);
      break;
    case form::region:
      operands("region " + e.id.text);
      break;
    case form::cast_int:
      operands("int");
      break;
    case form::cast_scalar:
      operands("scalar");
      break;
    case form::cast_index:
      operands("index");
      break;
    case form::negate:
      operands("negate");
      break;
    case form::square_root:
      operands("sqrt");
      break;
    case form::binary:
      operands(e.op);
      break;
  }
  return text;
}

std::string to_text(const file& f) {
  std::string text;
  for (const import& i : f.imports) text += "import \"" + i.path + "\"\n";
  text += "sial " + f.id.text + "\n";
  for (const declaration& d : f.declarations) add(text, d);
  text += "begin\n";
  add(text, f.statements, 1);
  return text;
}

}  // namespace tessera::sial::syntax
