#include "languages/sial/language/source.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::sial {
namespace {

constexpr std::size_t shown_width = 120;  // of a long line

char printable(char c) { return c == '\t' || (c >= ' ' && c <= '~') ? c : '?'; }

}  // namespace

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of("\r\n");
    lines.emplace_back(text.substr(0, end));
    if (end == text.npos) break;
    const bool pair = text[end] == '\r' && end + 1 < text.size() && text[end + 1] == '\n';
    text.remove_prefix(end + (pair ? 2 : 1));
  }
  return lines;
}

std::string to_text(const message& m, const source_set& sources) {
  std::string text;
  const bool in_file = m.where.file < sources.files.size();
  if (in_file && m.where.line != 0)
    text = fmt::format("{}:{}:{}: ", sources.files[m.where.file].path, m.where.line, m.where.column);
  else if (in_file && m.length != 0)
    text = sources.files[m.where.file].path + ": ";
  text += fmt::format("{}: {}\n", m.level == severity::error ? "error" : "warning", m.text);
  if (in_file && m.where.line != 0 && m.where.line <= sources.files[m.where.file].lines.size()) {
    const std::string& line = sources.files[m.where.file].lines[m.where.line - 1];
    const std::size_t column = std::min<std::size_t>(std::max(m.where.column, 1u) - 1, line.size());
    const std::size_t first = column > shown_width / 2 && line.size() > shown_width ? column - shown_width / 2 : 0;
    std::string shown = line.substr(first, shown_width), under;
    std::ranges::transform(shown, shown.begin(), printable);
    for (std::size_t k = first; k < column; ++k) under += line[k] == '\t' ? '\t' : ' ';
    const std::size_t room = shown.size() > column - first ? shown.size() - (column - first) : 1;
    under.append("^").append(std::min<std::size_t>(std::max(m.length, 1u), room) - 1, '~');
    text += fmt::format("  {}\n  {}\n", shown, under);
  }
  if (!m.hint.empty()) text += fmt::format("  hint: {}\n", m.hint);
  return text;
}

}  // namespace tessera::sial
