#pragma once
// Programs in memory, and what becomes of them.
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "languages/sial/language/compile.hpp"

namespace tessera::sial::test {

using files = std::map<std::string, std::string>;

inline reader in_memory(const files& all) {
  return [&all](const std::string& path) -> std::optional<std::string> {
    const auto found = all.find(path);
    if (found == all.end()) return {};
    return found->second;
  };
}

inline compiled compile_files(const files& all, const std::vector<std::string>& folders = {}) {
  return compile("main.sialx", in_memory(all), folders);
}

inline compiled compile_text(const std::string& text) { return compile_files({{"main.sialx", text}}); }

/// The dump of a program, or its messages.
inline std::string outcome(const compiled& c) { return c.result ? to_text(*c.result) : to_text(c.messages, c.sources); }

/// What most tests declare. Statements and "endsial t" follow.
inline const std::string declarations = R"(sial t
predefined int norb
predefined int nocc
aoindex i = 1:norb
aoindex j = 1:norb
aoindex k = 2:norb
aoindex l = 1:2
moindex a = 1:nocc
index s = 1:4
index r = -1:4
subindex ii of i
int n
int m = 3
scalar x
scalar y = 2.5
predefined scalar ps
static st[i,j]
static e[i]
static f1[s]
predefined static ps2[i,j]
temp t1[i,j]
temp t2[i,j]
temp tr[j,i]
temp ta[i,a]
temp ik[i,k]
temp kj[k,j]
temp t4[i,j,k,l]
temp ijs[i,j,s]
temp is[i,s]
temp q[s]
temp q2[s]
temp z[s,r]
temp sl[ii,j]
local lo[i,j]
contiguous local cl[i,j]
contiguous local cs[s,r]
distributed d[i,j]
distributed dq[s]
served sv[i,j]
special f3 rwu
special f0
proc p
  x = 1.0
endproc p
)";

/// A program of statements within loops over i j k l a s r.
inline std::string in_loops(const std::string& statements) {
  return declarations + "do i\ndo j\ndo k\ndo l\ndo a\ndo s\ndo r\n" + statements +
         "\nenddo r\nenddo s\nenddo a\nenddo l\nenddo k\nenddo j\nenddo i\nendsial t\n";
}

/// The dump of statements within loops, without the loops and their indentation.
inline std::string dump_in_loops(const std::string& statements) {
  const compiled c = compile_text(in_loops(statements));
  if (!c.result) return to_text(c.messages, c.sources);
  const std::string all = to_text(*c.result), head = "              do r\n", margin(16, ' ');
  std::string text = all.substr(all.find(head) + head.size()), dump;
  for (const std::string& line : split_lines(text)) dump += line.substr(margin.size()) + "\n";
  return dump;
}

/// The dump of the statements of a program that begins with the declarations.
inline std::string dump_of(const std::string& statements) {
  const compiled c = compile_text(declarations + statements + "\nendsial t\n");
  if (!c.result) return to_text(c.messages, c.sources);
  const std::string all = to_text(*c.result);
  return all.substr(all.find("sial t\n") + 7);
}

/// The one error of a text in which '@' marks its place; "" when there is none, or it is elsewhere.
inline std::string error_at_mark(std::string text) {
  const auto mark = text.find('@');
  if (mark == text.npos) return "no mark in the test";
  text.erase(mark, 1);
  const auto before = split_lines(text.substr(0, mark) + "|");
  const compiled c = compile_text(text);
  std::string errors;
  std::size_t count = 0;
  bool there = false;
  for (const message& m : c.messages) {
    if (m.level != severity::error) continue;
    ++count;
    errors += to_text(m, c.sources);
    there = there || (m.where.line == before.size() && m.where.column == before.back().size());
  }
  if (c.result || count == 0) return "accepted:\n" + outcome(c);
  if (count == 1 && there)
    for (const message& m : c.messages)
      if (m.level == severity::error) return m.text + (m.hint.empty() ? "" : " (" + m.hint + ")");
  return "expected one error at the mark, found:\n" + errors;
}

/// A text with a mark, and what error_at_mark says of it.
struct rejected {
  const char *text, *expected;
};
inline void PrintTo(const rejected& r, std::ostream* out) { *out << r.text; }

}  // namespace tessera::sial::test
