#include "libraries/chemistry/job/read_aces_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "libraries/chemistry/job/aces_keys.hpp"
#include "libraries/chemistry/molecule/element.hpp"
#include "libraries/chemistry/molecule/read_z_matrix.hpp"
#include "libraries/chemistry/molecule/text_reader.hpp"

namespace tessera::chemistry {
namespace {

bool begins_section(std::string_view line, std::string_view name) {
  return line.starts_with('*') && in_small_letters(line.substr(1, name.size())) == name;
}

std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// A line of the file with its ordinal from 1, without what is behind '#'.
struct numbered_line {
  std::size_t number;
  std::string_view text;
  bool blank;  ///< a line with a comment is not
};

std::vector<numbered_line> lines_of(std::string_view text) {
  std::vector<numbered_line> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    lines.push_back({number, line.substr(0, line.find('#')), without_blanks(line).empty()});
  }
  return lines;
}

/// What stands between the title and the first section, and the sections.
class zmat_reader {
 public:
  zmat_reader(std::string_view text, const std::string& name) : m_name(name), m_lines(lines_of(text)) {}

  job read() {
    m_job.name = m_name;
    if (m_lines.empty()) fail(1, 1, "the file is empty", "a ZMAT begins with a title");
    require_title(m_lines.front().text);
    std::size_t at = 1;
    while (at < m_lines.size() && !m_lines[at].text.starts_with('*')) ++at;
    const std::size_t atoms_end = at;
    bool has_aces = false, has_sip = false;
    while (at < m_lines.size()) {
      const std::string_view line = m_lines[at].text;
      if (begins_section(line, "aces2") && !std::exchange(has_aces, true))
        at = read_section(at, 6, [this](const aces_entry& e) { m_keys.take_aces(e, m_job); });
      else if (begins_section(line, "sip") && !std::exchange(has_sip, true))
        at = read_section(at, 4, [this](const aces_entry& e) { m_keys.take_sip(e, m_job); });
      else if (line.starts_with('*'))
        fail(m_lines[at].number, 1, fmt::format("the section {} is not known, or there twice", in_quotes(line)),
             "sections are *ACES2 and *SIP");
      else if (without_blanks(line).empty())
        ++at;
      else
        fail(m_lines[at].number, 1, fmt::format("{} is in no section", in_quotes(without_blanks(line))),
             "keys that go on behind a blank line need brackets: *ACES2( ... )");
    }
    if (!has_aces) fail(m_lines.back().number, 1, "the section *ACES2 is missing", "*ACES2(CALC=CCSD,BASIS=CC-PVDZ)");
    read_atoms(atoms_end);
    m_keys.finish(m_job);
    m_job.geometry.name = m_name;
    return std::move(m_job);
  }

 private:
  [[noreturn]] void fail(std::size_t line, std::size_t column, std::string message, std::string hint = {}) const {
    throw error(error_kind::input, std::move(message), fmt::format("{}:{}:{}", m_name, line, column), std::move(hint));
  }

  /// How far into brackets the text is.
  struct section_state {
    bool bracketed = false;
    int depth = 0;
    bool at_keys() const noexcept { return depth <= (bracketed ? 1 : 0); }
    bool ended() const noexcept { return bracketed && depth == 0; }
  };

  /// Lines of a section behind its title: to the bracket that ends it, or to a blank line or the next section. Returns
  /// the line behind it.
  template <typename taker>
  std::size_t read_section(std::size_t at, std::size_t title, taker take) {
    section_state state;
    const std::string_view first = m_lines[at].text;
    std::size_t column = std::min(first.find_first_not_of(" \t\r", title), first.size());
    if (column < first.size() && first[column] == '(') {
      state = {true, 1};
      ++column;
    }
    for (;; column = 0) {
      take_line(m_lines[at], column, state, take);
      ++at;
      if (state.ended()) return at;
      const bool more = at < m_lines.size() && !m_lines[at].text.starts_with('*');
      if (!more && state.bracketed) fail(m_lines[at - 1].number, 1, "the bracket of the section is not closed");
      if (!more || (!state.bracketed && m_lines[at].blank)) return at;
    }
  }

  /// The keys of a line, from a column on.
  template <typename taker>
  void take_line(const numbered_line& line, std::size_t column, section_state& state, taker take) {
    std::size_t begin = column;
    for (; column <= line.text.size() && !state.ended(); ++column) {
      const char c = column < line.text.size() ? line.text[column] : ' ';
      if (c == '(') ++state.depth;
      if (c == ')') --state.depth;
      if (!state.ended() && !(std::string_view(" \t\r,").find(c) != std::string_view::npos && state.at_keys()))
        continue;
      if (column > begin) take(entry_of(line.text.substr(begin, column - begin), line.number, begin + 1));
      begin = column + 1;
    }
    if (!state.at_keys() || state.depth < 0) fail(line.number, begin + 1, "the brackets of this key do not match");
    if (!state.ended()) return;
    if (const std::string_view rest = without_blanks(line.text.substr(std::min(column, line.text.size())));
        !rest.empty())
      fail(line.number, column + 1, fmt::format("{} is behind the bracket that ends the keys", in_quotes(rest)));
  }

  aces_entry entry_of(std::string_view text, std::size_t line, std::size_t column) const {
    const auto equals = text.find('=');
    const std::string where = fmt::format("{}:{}:{}", m_name, line, column);
    if (equals == text.npos || equals == 0 || equals + 1 == text.size())
      throw error(error_kind::input, fmt::format("{} is no key with a value", in_quotes(text)), where,
                  "KEY=VALUE, without blanks");
    return {in_small_letters(text.substr(0, equals)), std::string(text.substr(equals + 1)), where};
  }

  /// An atom in the title's place would be lost.
  void require_title(std::string_view line) const {
    text_reader words(line, m_name);
    if (line.starts_with('*')) fail(1, 1, "the title is missing", "a ZMAT begins with a line of text");
    if (!words.next_line() || find_element(words.word()) == 0) return;
    try {
      for (int k = 0; k < 3; ++k) (void)words.number("a coordinate");
    } catch (const error&) {
      return;
    }
    fail(1, 1, "the title is missing: the first line is an atom", "a ZMAT begins with a line of text");
  }

  /// The atoms with as many line ends before them as in the file, so that places of errors are the file's.
  void read_atoms(std::size_t end) {
    std::string text(1, '\n');
    bool places = false, some = false;
    for (std::size_t k = 1; k < end; ++k) {
      std::string line(m_lines[k].text);
      const std::string_view words = without_blanks(line);
      if (!some && !words.empty()) places = words.find_first_of(" \t") != words.npos;  // else an element alone
      some = some || !words.empty();
      if (some && !places && words.empty() && !m_lines[k].blank) line = "!";  // a comment does not end a Z-matrix
      if (!places) std::ranges::replace(line, '*', ' ');
      text += line + '\n';
    }
    if (!some) fail(m_lines.front().number, 1, "there are no atoms behind the title");
    if (places)
      m_job.geometry.atoms = parse_atoms(text, m_name, m_keys.in_bohr() ? length_unit::bohr : length_unit::angstrom);
    else if (m_keys.in_bohr())
      throw error(error_kind::input, "a Z-matrix is in angstrom", m_name, "UNITS=BOHR is for x, y, z");
    else
      m_job.geometry = parse_z_matrix(text, m_name);
  }

  const std::string& m_name;
  std::vector<numbered_line> m_lines;
  aces_keys m_keys;
  job m_job;
};

}  // namespace

bool is_aces_job(std::string_view text) {
  return std::ranges::any_of(lines_of(text),
                             [](const numbered_line& one) { return begins_section(one.text, "aces2"); });
}

job read_aces_job(const std::filesystem::path& file) { return parse_aces_job(text_of_file(file), file.string()); }

job parse_aces_job(std::string_view text, const std::string& name) { return zmat_reader(text, name).read(); }

}  // namespace tessera::chemistry
