#include "languages/directives/text/rewrite.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "languages/directives/text/emit.hpp"
#include "languages/directives/text/shield.hpp"

namespace tessera::directive {
namespace {

/// Writes a source, and counts its lines.
class writer {
 public:
  writer(std::string_view source, std::string_view file) : m_source(source), m_file(literal(file)) {}

  void prologue(std::string_view text) { m_out += fmt::format("{}#line 1 {}\n", text, m_file); }
  void copy_to(std::size_t end) {
    m_out += m_source.substr(m_at, end - m_at);
    move_to(end);
  }
  void replace(const edit& e) {
    copy_to(e.begin);
    if (e.own_lines) {
      if (!m_out.ends_with('\n')) m_out += '\n';
      m_out += fmt::format("#line {} {}\n", m_line, m_file);
      for (const char c : e.text)
        if (c == same_line)
          m_out += fmt::format("#line {} {}\n", m_line, m_file);
        else
          m_out += c;
      m_out += '\n';
      move_to(e.end);
      if (m_at < m_source.size() && m_source[m_at] == '\n') move_to(m_at + 1);
      m_out += fmt::format("#line {} {}\n{}", m_line, m_file, std::string(m_at - m_line_begin, ' '));
    } else {
      m_out += e.text;
      move_to(e.end);
    }
  }
  std::string take() { return std::move(m_out); }

 private:
  void move_to(std::size_t end) {
    for (; m_at < end; ++m_at)
      if (m_source[m_at] == '\n') {
        ++m_line;
        m_line_begin = m_at + 1;
      }
  }
  std::string_view m_source;
  std::string m_file, m_out;
  std::size_t m_at = 0, m_line = 1, m_line_begin = 0;
};

}  // namespace

std::string rewritten(std::string_view source, std::string_view file, std::string_view prologue,
                      std::vector<edit> edits) {
  std::ranges::stable_sort(edits, {}, &edit::begin);
  writer to(source, file);
  to.prologue(prologue);
  for (const edit& e : edits) to.replace(e);
  to.copy_to(source.size());
  return to.take();
}

}  // namespace tessera::directive
