#include "tests/documents/markdown.hpp"

#include <algorithm>
#include <cctype>

namespace documents {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool is_fence(const std::string& text) { return trimmed(text).starts_with("```"); }

// "- ", "* ", "3. ": what is indented below it is text, not code.
bool is_item(const std::string& text) {
  const std::string t = trimmed(text);
  if (t.starts_with("- ") || t.starts_with("* ")) return true;
  const std::size_t digits = t.find_first_not_of("0123456789");
  return digits != t.npos && digits > 0 && t.substr(digits).starts_with(". ");
}

// "- " and the like, in front of the text of an item.
std::string without_bullet(const std::string& text) {
  const std::string t = trimmed(text);
  return is_item(text) ? trimmed(t.substr(t.find(' '))) : t;
}

// A letter or digit: ASCII, Latin or Greek. Not the signs of formulas, such as a minus or a root.
bool is_read_aloud(const std::string& token) {
  for (std::size_t at = 0; at < token.size(); ++at) {
    const auto byte = static_cast<unsigned char>(token[at]);
    if (std::isalnum(byte) != 0) return true;
    if (byte >= 0xc3 && byte <= 0xcf && token.compare(at, 2, "\u00d7") != 0 && token.compare(at, 2, "\u00f7") != 0)
      return true;
  }
  return false;
}

// The words of lines that belong together. Code spans, which may go over the end of a line, become one word.
std::vector<word> words_of(const std::vector<line>& lines) {
  std::string text;
  std::vector<std::size_t> number;  // of the line that each sign is from
  for (const line& l : lines) {
    text += l.text + ' ';
    number.resize(text.size(), l.number);
  }
  std::vector<word> words;
  std::string token;
  std::size_t line_of_token = 0;
  const auto end_token = [&] {
    if (is_read_aloud(token))
      words.push_back({token, line_of_token});
    else if (!words.empty())
      words.back().text += token;
    token.clear();
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == ' ' || text[at] == '\t') {
      end_token();
      continue;
    }
    if (token.empty()) line_of_token = number[at];
    std::size_t end = text.npos;
    if (text[at] == '`' && (end = text.find('`', at + 1)) != text.npos) {
      token += "CODE";
      at = end;
    } else if (text.compare(at, 2, "](") == 0 && (end = text.find(')', at)) != text.npos) {
      token += ']';
      at = end;
    } else {
      token += text[at];
    }
  }
  end_token();
  return words;
}

std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : trimmed(heading)) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '_' || c == '-') anchor += static_cast<char>(std::tolower(byte));
    if (c == ' ') anchor += '-';
  }
  return anchor;
}

}  // namespace

std::vector<line> lines_of(const std::string& page) {
  std::vector<line> lines;
  bool fenced = false, in_list = false, blank_before = true;
  for (std::size_t at = 0, number = 1; at < page.size(); ++number) {
    const std::size_t end = std::min(page.find('\n', at), page.size());
    line l{number, line_kind::text, page.substr(at, end - at)};
    at = end + 1;
    const bool indented = l.text.starts_with("    ");
    if (is_fence(l.text)) {
      fenced = !fenced;
      l.kind = line_kind::code;
    } else if (fenced) {
      l.kind = line_kind::code;
    } else if (indented && !in_list && (blank_before || (!lines.empty() && lines.back().kind == line_kind::code))) {
      l.kind = line_kind::code;
    } else if (l.text.starts_with('#') && l.text.find_first_not_of('#') != l.text.npos &&
               l.text[l.text.find_first_not_of('#')] == ' ') {
      l.kind = line_kind::heading;
    } else if (trimmed(l.text).starts_with('|')) {
      l.kind = line_kind::table;
    }
    if (l.kind == line_kind::text && !l.text.empty()) in_list = is_item(l.text) || (in_list && l.text.starts_with(' '));
    blank_before = trimmed(l.text).empty();
    lines.push_back(std::move(l));
  }
  return lines;
}

std::vector<std::vector<word>> paragraphs(const std::string& page) {
  std::vector<std::vector<word>> found;
  std::vector<line> together;
  const auto end_paragraph = [&] {
    std::vector<word> words = words_of(together);
    if (!words.empty()) found.push_back(std::move(words));
    together.clear();
  };
  for (const line& l : lines_of(page)) {
    if (l.kind != line_kind::text || trimmed(l.text).empty() || is_item(l.text)) end_paragraph();
    if (l.kind == line_kind::text) together.push_back({l.number, l.kind, without_bullet(l.text)});
    if (l.kind != line_kind::table) continue;
    for (const std::string& cell : cells(l.text)) {
      together.push_back({l.number, l.kind, cell});
      end_paragraph();
    }
  }
  end_paragraph();
  return found;
}

std::vector<std::string> code_blocks(const std::string& page, const std::string& language) {
  std::vector<std::string> blocks;
  bool inside = false, wanted = false;
  for (const line& l : lines_of(page)) {
    if (is_fence(l.text)) {
      wanted = !inside && trimmed(l.text) == "```" + language;
      inside = !inside;
      if (wanted) blocks.emplace_back();
    } else if (inside && wanted) {
      blocks.back() += l.text + "\n";
    }
  }
  return blocks;
}

std::string without_code_spans(const std::string& text) {
  std::string rest = text;
  for (std::size_t open = rest.find('`'); open != rest.npos; open = rest.find('`', open)) {
    const std::size_t close = rest.find('`', open + 1);
    if (close == rest.npos) break;
    std::fill(rest.begin() + static_cast<std::ptrdiff_t>(open), rest.begin() + static_cast<std::ptrdiff_t>(close) + 1,
              ' ');
  }
  return rest;
}

std::vector<std::string> code_spans(const std::string& page) {
  std::vector<std::string> found;
  for (const line& l : lines_of(page)) {
    if (l.kind == line_kind::code) continue;
    for (std::size_t open = l.text.find('`'); open != l.text.npos;) {
      const std::size_t close = l.text.find('`', open + 1);
      if (close == l.text.npos) break;
      found.push_back(l.text.substr(open + 1, close - open - 1));
      open = l.text.find('`', close + 1);
    }
  }
  return found;
}

std::vector<std::string> links(const std::string& page) {
  std::vector<std::string> found;
  for (const line& l : lines_of(page)) {
    if (l.kind == line_kind::code) continue;
    const std::string text = without_code_spans(l.text);
    for (std::size_t open = text.find("]("); open != text.npos; open = text.find("](", open + 1)) {
      const std::size_t close = text.find(')', open);
      if (close != text.npos) found.push_back(text.substr(open + 2, close - open - 2));
    }
  }
  return found;
}

std::vector<std::string> anchors(const std::string& page) {
  std::vector<std::string> found, plain;
  for (const line& l : lines_of(page)) {
    if (l.kind != line_kind::heading) continue;
    const std::string anchor = anchor_of(l.text.substr(l.text.find_first_not_of('#')));
    const auto before = std::count(plain.begin(), plain.end(), anchor);
    plain.push_back(anchor);
    found.push_back(before == 0 ? anchor : anchor + "-" + std::to_string(before));
  }
  return found;
}

std::vector<std::string> cells(const std::string& row) {
  std::vector<std::string> found;
  std::string cell;
  const std::string text = trimmed(row);
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 1 < text.size() && text[at + 1] == '|') {
      cell += "\\|";
      ++at;
    } else if (text[at] == '|') {
      found.push_back(trimmed(cell));
      cell.clear();
    } else {
      cell += text[at];
    }
  }
  if (!trimmed(cell).empty()) found.push_back(trimmed(cell));  // a row without its last bar
  return found;
}

}  // namespace documents
