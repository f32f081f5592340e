#include "tests/documents/checks.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>
#include <sstream>
#include <string_view>

#include "tests/documents/files.hpp"
#include "tests/documents/markdown.hpp"

namespace documents {
namespace {

std::string on_line(std::size_t number, const std::string& what) {
  return "line " + std::to_string(number) + ": " + what;
}

// Signs, not bytes: every byte but the continuations of UTF-8.
std::size_t columns(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

bool is_rule(const std::string& row) {
  return row.find('-') != row.npos && row.find_first_not_of("|:- \t") == row.npos;
}

struct idiom {
  const char* words;
  const char* instead;
};
const idiom forbidden[] = {
    {"anew", "again"},
    {"as ever", "as usual"},
    {"as far as was learnt", "as learnt"},
    {"became of", "happened to"},
    {"become of", "happen to"},
    {"becomes of", "happens to"},
    {"by means of its own", "itself, outside the runtime"},
    {"by means of their own", "themselves, outside the runtime"},
    {"done without", "not used"},
    {"for ever", "for good, without end, permanently"},
    {"held against", "compared with"},
    {"himself", "itself"},
    {"in vain", "without result"},
    {"is no wait", "does not wait"},
    {"nothing is to be done", "this happens automatically"},
    {"of one's own", "of your own"},
    {"one's own", "your own"},
    {"stands in the way", "conflicts, prevents"},
    {"that what is", "what is"},
    {"to and fro", "back and forth"},
    {"whoever", "the thread, task or reader that is meant"},
};

// Whether a sentence ends between two words.
bool ends_sentence(const std::string& word, const std::string& next) {
  const std::size_t last = word.find_last_not_of(")]*_\"'");
  if (last == word.npos || std::string_view(".!?").find(word[last]) == std::string_view::npos) return false;
  return !word.ends_with("e.g.") && !word.ends_with("i.e.") && (next[0] < 'a' || next[0] > 'z');
}

// Enough of a sentence to find it by.
std::string first_words(const std::vector<word>& paragraph, std::size_t begin) {
  std::string text;
  for (std::size_t at = begin; at < std::min(begin + 6, paragraph.size()); ++at)
    text += (text.empty() ? "" : " ") + paragraph[at].text;
  return text;
}

bool is_letter(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

}  // namespace

faults placeholders(const std::string& page) {
  static const std::regex form("@[A-Z][A-Z0-9_]*@|\\b(TODO|TBD|FIXME|XXX)\\b");
  return {std::sregex_token_iterator(page.begin(), page.end(), form), {}};
}

faults broken_tables(const std::string& page) {
  faults found;
  const std::vector<line> lines = lines_of(page);
  for (std::size_t head = 0; head < lines.size(); ++head) {
    if (lines[head].kind != line_kind::table) continue;
    std::size_t end = head;
    while (end < lines.size() && lines[end].kind == line_kind::table) ++end;
    if (end - head < 2 || !is_rule(lines[head + 1].text)) {
      found.push_back(on_line(lines[head].number, "a row without a head and a line of dashes above it"));
    } else {
      const std::size_t wanted = cells(lines[head].text).size();
      for (std::size_t row = head + 1; row < end; ++row)
        if (const std::size_t has = cells(lines[row].text).size(); has != wanted)
          found.push_back(
              on_line(lines[row].number, std::to_string(has) + " cells below a head of " + std::to_string(wanted)));
    }
    head = end;
  }
  return found;
}

faults broken_links(const fs::path& document) {
  faults broken;
  for (const std::string& link : links(read(document))) {
    if (link.find("://") != link.npos || link.starts_with("mailto:")) continue;
    const std::size_t hash = link.find('#');
    const std::string file = link.substr(0, hash);
    const fs::path target = file.empty() ? document : document.parent_path() / file;
    if (!fs::exists(target)) {
      broken.push_back(link);
    } else if (hash != link.npos) {
      const auto known = anchors(read(target));
      if (std::find(known.begin(), known.end(), link.substr(hash + 1)) == known.end())
        broken.push_back(link + " (no such heading)");
    }
  }
  return broken;
}

faults long_lines(const std::string& page, std::size_t most) {
  faults found;
  for (const line& l : lines_of(page))
    if (l.kind != line_kind::table && l.kind != line_kind::code && l.text.find("://") == l.text.npos &&
        columns(l.text) > most)
      found.push_back(on_line(l.number, std::to_string(columns(l.text)) + " columns"));
  return found;
}

faults idioms(const std::string& page) {
  // All text in one line of lower case, so that an idiom is found across the end of a line too.
  std::string text;
  std::vector<std::size_t> number;  // of the line that each sign is from
  for (const line& l : lines_of(page)) {
    if (l.kind == line_kind::code) continue;
    for (const char c : without_code_spans(l.text) + "\n") {
      const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
      if (blank && !text.empty() && text.back() == ' ') continue;
      text += blank ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      number.push_back(l.number);
    }
  }
  faults found;
  for (const idiom& one : forbidden) {
    const std::string words = one.words;
    for (std::size_t begin = text.find(words); begin != text.npos; begin = text.find(words, begin + 1)) {
      const std::size_t end = begin + words.size();
      if ((begin == 0 || !is_letter(text[begin - 1])) && (end == text.size() || !is_letter(text[end])))
        found.push_back(on_line(number[begin], "'" + words + "': write " + one.instead));
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

faults long_sentences(const std::string& page, std::size_t max_words) {
  faults found;
  for (const std::vector<word>& paragraph : paragraphs(page)) {
    for (std::size_t begin = 0; begin < paragraph.size();) {
      std::size_t end = begin + 1;
      while (end < paragraph.size() && !ends_sentence(paragraph[end - 1].text, paragraph[end].text)) ++end;
      if (end - begin > max_words)
        found.push_back(on_line(paragraph[begin].line, std::to_string(end - begin) + " words in the sentence '" +
                                                           first_words(paragraph, begin) + " ...', " +
                                                           std::to_string(max_words) + " at most"));
      begin = end;
    }
  }
  return found;
}

faults long_paragraphs(const std::string& page, std::size_t max_words) {
  faults found;
  for (const std::vector<word>& paragraph : paragraphs(page))
    if (paragraph.size() > max_words)
      found.push_back(on_line(paragraph.front().line, std::to_string(paragraph.size()) + " words in the paragraph '" +
                                                          first_words(paragraph, 0) + " ...', " +
                                                          std::to_string(max_words) + " at most"));
  return found;
}

faults doubled_entries(const std::string& page) {
  faults found;
  std::map<std::string, std::size_t> first;  // the line of each entry
  for (const line& l : lines_of(page)) {
    if (!l.text.starts_with("- ")) continue;
    const auto [entry, fresh] = first.emplace(l.text, l.number);
    if (!fresh) found.push_back(on_line(l.number, "the entry of line " + std::to_string(entry->second) + " again"));
  }
  return found;
}

faults entries_without_a_theme(const std::string& page) {
  faults found;
  bool has_theme = false;
  for (const line& l : lines_of(page)) {
    if (l.kind == line_kind::heading) has_theme = l.text.starts_with("### ");
    if (!has_theme && l.text.starts_with("- ")) found.push_back(on_line(l.number, "an entry without a theme"));
  }
  return found;
}

faults doubled_words(const std::string& page) {
  faults found;
  std::map<std::string, std::size_t> first;  // the line of each word
  bool inside = false;
  for (const line& l : lines_of(page)) {
    const std::string cell = l.kind == line_kind::table ? cells(l.text).front() : "";
    if (cell == "word" || cell.empty()) inside = !cell.empty();
    if (!inside || cell == "word" || cell.find_first_not_of("-:") == std::string::npos) continue;
    std::istringstream words(cell);
    for (std::string word; std::getline(words >> std::ws, word, ',');) {
      std::erase(word, '`');
      const auto [known, fresh] = first.emplace(word, l.number);
      if (!fresh)
        found.push_back(on_line(l.number, "'" + word + "' is a word of line " + std::to_string(known->second)));
    }
  }
  return found;
}

}  // namespace documents
