#include "programs/shell_words.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <vector>

namespace tessera::programs {
namespace {

const std::set<std::string, std::less<>> keywords_before_commands{"if",    "then", "elif", "else", "while",
                                                                  "until", "do",   "!",    "{",    "time"};
const std::set<std::string, std::less<>> keywords_after_commands{"fi", "done", "}", "esac"};
const std::set<std::string, std::less<>> builtins{
    ".",      ":",    "[",      "break",    "builtin", "cd",    "continue", "declare", "echo",
    "eval",   "exit", "export", "false",    "hash",    "kill",  "let",      "local",   "mapfile",
    "printf", "pwd",  "read",   "readonly", "return",  "set",   "shift",    "shopt",   "source",
    "test",   "true", "type",   "ulimit",   "umask",   "unset", "wait"};
/// What runs the command that follows it, and how many of its own words stand before that (options, numbers and
/// assignments aside).
const std::map<std::string, int, std::less<>> runners{
    {"env", 0},   {"exec", 0},    {"command", 0},         {"have", 0},    {"sudo", 0},   {"xargs", 0},  {"nice", 0},
    {"nohup", 0}, {"unshare", 0}, {"fixed_addresses", 0}, {"timeout", 1}, {"chroot", 1}, {"expect", 1}, {"check", 1}};

struct word {
  std::string text;
  bool literal = true;  ///< no variable and no substitution in it
  bool quoted = false;  ///< some of it stands in quotes
};

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '+' || c == '.' || c == '[';
  });
}

bool is_assignment(std::string_view text) {
  const auto name = text.substr(0, text.find_first_of("=+["));
  return name.size() < text.size() && !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         text.find('=') != text.npos &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

/// Reads commands from `at` on, into `found`; functions that are defined on the way into `functions`.
class script {
 public:
  script(std::string_view text, std::set<std::string>& found, std::set<std::string>& functions)
      : m_text(text), m_found(found), m_functions(functions) {}

  /// Until the end, or until the `)` that closes what the caller has opened.
  void commands(bool in_parentheses) {
    begin_command();
    while (m_at < m_text.size()) {
      const char c = m_text[m_at];
      if (c == '\n') {
        ++m_at;
        skip_here_documents();
        begin_command();
      } else if (c == ')') {
        ++m_at;
        if (in_parentheses) return;
        begin_command();
      } else if (c == '(' && m_at > 0 && m_text[m_at - 1] == '=') {  // local files=(a b)
        list_in_parentheses();
      } else if (c == '(') {
        ++m_at;
        commands(true);
        m_expected = false;
      } else if (std::string_view(";&|").find(c) != std::string_view::npos) {
        const bool next_case = m_text.substr(m_at, 2) == ";;";
        m_at += next_case ? 2 : 1;
        begin_command();
        if (next_case) pattern();
      } else if (c == '#') {
        while (m_at < m_text.size() && m_text[m_at] != '\n') ++m_at;
      } else if (!skip_blank() && !redirection()) {
        take(next_word());
      }
    }
  }

 private:
  std::string_view m_text;
  std::size_t m_at = 0;
  std::set<std::string>&m_found, &m_functions;
  bool m_expected = true;           ///< a command may come
  int m_skip = 0;                   ///< of a runner: its own words that are still to come
  bool m_of_runner = false;         ///< the command will be one that another one runs
  std::string m_command;            ///< of which the words that follow are arguments
  int m_cases = 0;                  ///< open ones
  std::vector<std::string> m_here;  ///< ends of here documents that begin after this line

  void begin_command() {
    m_expected = true;
    m_of_runner = false;
    m_skip = 0;
    m_command.clear();
  }

  bool skip_blank() {
    if (m_text.substr(m_at, 2) == "\\\n") {
      m_at += 2;
      return true;
    }
    if (m_text[m_at] != ' ' && m_text[m_at] != '\t') return false;
    ++m_at;
    return true;
  }

  void skip_here_documents() {
    for (const std::string& end : m_here)
      while (m_at < m_text.size()) {
        const std::size_t stop = std::min(m_text.find('\n', m_at), m_text.size());
        const std::string_view line = m_text.substr(m_at, stop - m_at);
        m_at = std::min(stop + 1, m_text.size());
        if (line.substr(std::min(line.find_first_not_of('\t'), line.size())) == end) break;
      }
    m_here.clear();
  }

  /// > < >> << <<< >& and the word they take; the command that is expected comes behind it.
  bool redirection() {
    if (m_text[m_at] != '<' && m_text[m_at] != '>') return false;
    if (const auto two = m_text.substr(m_at, 2); two == "<(" || two == ">(") {
      m_at += 2;
      inner_commands();
      m_expected = false;
      return true;
    }
    const bool here = m_text.substr(m_at, 2) == "<<" && m_text.substr(m_at, 3) != "<<<";
    while (m_at < m_text.size() && std::string_view("<>&-").find(m_text[m_at]) != std::string_view::npos) ++m_at;
    while (m_at < m_text.size() && skip_blank()) {
    }
    if (m_at < m_text.size() && std::string_view("\n;|)").find(m_text[m_at]) == std::string_view::npos) {
      const word target = next_word();
      if (here) m_here.push_back(target.text);
    }
    return true;
  }

  void inner_commands() {
    script inner(m_text.substr(m_at), m_found, m_functions);
    inner.commands(true);
    m_at += inner.m_at;
  }

  void text_of_commands(const std::string& text) { script(text, m_found, m_functions).commands(false); }

  /// "..." from its opening sign on.
  void quotes(word& into) {
    for (++m_at; m_at < m_text.size() && m_text[m_at] != '"';) {
      if (m_text[m_at] == '\\') {
        into.text += m_text.substr(std::min(m_at + 1, m_text.size() - 1), 1);
        m_at += 2;
      } else if (!substitution(into)) {
        into.text += m_text[m_at++];
      }
    }
    ++m_at;
  }

  /// $name, ${...}, $(...), $((...)), `...`.
  bool substitution(word& into) {
    if (m_text[m_at] == '`') {
      const std::size_t end = std::min(m_text.find('`', m_at + 1), m_text.size());
      text_of_commands(std::string(m_text.substr(m_at + 1, end - m_at - 1)));
      m_at = std::min(end + 1, m_text.size());
    } else if (m_text.substr(m_at, 3) == "$((") {
      int depth = 0;
      do {
        if (m_text[m_at] == '(') ++depth;
        if (m_text[m_at] == ')') --depth;
        ++m_at;
      } while (m_at < m_text.size() && (depth > 0 || m_text[m_at - 1] == '$'));
    } else if (m_text.substr(m_at, 2) == "$(") {
      m_at += 2;
      inner_commands();
    } else if (m_text.substr(m_at, 2) == "${") {
      m_at += 2;
      word ignored;
      while (m_at < m_text.size() && m_text[m_at] != '}') {
        if (m_text[m_at] == '"')
          quotes(ignored);
        else if (!substitution(ignored))
          ++m_at;
      }
      ++m_at;
    } else if (m_text[m_at] == '$') {
      ++m_at;
      while (m_at < m_text.size() &&
             (std::isalnum(static_cast<unsigned char>(m_text[m_at])) != 0 || m_text[m_at] == '_'))
        ++m_at;
      if (m_at < m_text.size() && std::string_view("@*#?$!-").find(m_text[m_at]) != std::string_view::npos &&
          m_text[m_at - 1] == '$')
        ++m_at;
    } else {
      return false;
    }
    into.literal = false;
    return true;
  }

  word next_word() {
    word read;
    while (m_at < m_text.size() && std::string_view(" \t\n;&|()<>").find(m_text[m_at]) == std::string_view::npos) {
      const char c = m_text[m_at];
      if (c == '\'') {
        const std::size_t end = std::min(m_text.find('\'', m_at + 1), m_text.size());
        read.text += m_text.substr(m_at + 1, end - m_at - 1);
        read.quoted = true;
        m_at = std::min(end + 1, m_text.size());
      } else if (c == '"') {
        read.quoted = true;
        quotes(read);
      } else if (c == '\\') {
        read.text += m_text.substr(std::min(m_at + 1, m_text.size() - 1), 1);
        m_at = std::min(m_at + 2, m_text.size());
      } else if (!substitution(read)) {
        read.text += c;
        ++m_at;
      }
    }
    return read;
  }

  /// The words of a case up to its `)`, where another pattern comes.
  void pattern() {
    if (m_cases == 0) return;
    while (m_at < m_text.size() && (skip_blank() || m_text[m_at] == '\n')) m_at += m_text[m_at] == '\n' ? 1 : 0;
    if (m_at < m_text.size() && m_text[m_at] == '#') {
      while (m_at < m_text.size() && m_text[m_at] != '\n') ++m_at;
      return pattern();
    }
    if (m_text.substr(m_at, 4) == "esac") return;
    word ignored;
    while (m_at < m_text.size() && m_text[m_at] != ')') {
      if (m_text[m_at] == '"')
        quotes(ignored);
      else
        ++m_at;
    }
    ++m_at;
  }

  void begin_case() {
    ++m_cases;
    while (m_at < m_text.size() && skip_blank()) {
    }
    next_word();
    while (m_at < m_text.size() && (skip_blank() || m_text[m_at] == '\n')) m_at += m_text[m_at] == '\n' ? 1 : 0;
    next_word();  // "in"
    pattern();
  }

  void list_in_parentheses() {  // of an array
    for (++m_at; m_at < m_text.size() && m_text[m_at] != ')';) {
      if (m_text[m_at] == '\n' || m_text[m_at] == '#') {
        if (m_text[m_at] == '#') m_at = std::min(m_text.find('\n', m_at), m_text.size() - 1);
        ++m_at;
      } else if (!skip_blank()) {
        const std::size_t before = m_at;
        next_word();
        if (m_at == before) ++m_at;
      }
    }
    ++m_at;
  }

  void argument(const word& w) {
    if ((m_command == "trap" || m_command == "eval" || m_command == "-c") && w.quoted) {
      text_of_commands(w.text);
      m_command.clear();
    } else if ((m_command == "bash" || m_command == "sh") && w.text == "-c") {
      m_command = "-c";
    }
  }

  /// A word where a command may stand.
  void take(const word& w) {
    if (!m_expected) return argument(w);
    if (w.literal && !w.quoted && !m_of_runner) {
      if (keywords_before_commands.contains(w.text)) return;
      if (keywords_after_commands.contains(w.text)) {
        if (w.text == "esac") m_cases = std::max(0, m_cases - 1);
        m_expected = false;
        return;
      }
      if (w.text == "case") return begin_case();
      if (w.text == "for" || w.text == "select") {
        m_expected = false;
        return;
      }
      if (w.text == "[[") {
        m_at = std::min(m_text.find("]]", m_at), m_text.size() - 2) + 2;
        m_expected = false;
        return;
      }
    }
    if (is_assignment(w.text) && (!w.quoted || w.text.front() != '=')) {
      if (w.text.ends_with('=') && m_at < m_text.size() && m_text[m_at] == '(') list_in_parentheses();
      return;
    }
    if (m_of_runner && !accepts(w)) return;
    if (!w.quoted && m_text.substr(m_at, 2) == "()") {
      m_functions.insert(w.text);
      m_at += 2;
      return;
    }
    command(w);
  }

  /// Whether a word behind a runner is the command, and not one of the runner's own.
  bool accepts(const word& w) {
    if (w.text.starts_with('-')) return false;
    if (m_skip > 0) {
      --m_skip;
      return false;
    }
    return w.text.empty() ||
           !std::all_of(w.text.begin(), w.text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  }

  void command(const word& w) {
    const bool through_variable = !w.literal && !w.quoted;  // $become apt-get
    m_expected = false;
    m_command = w.literal ? w.text : "";
    if (w.literal && is_name(w.text)) m_found.insert(w.text);
    if (w.literal && w.text.find("/bin/") != w.text.npos)
      m_found.insert(m_command = w.text.substr(w.text.rfind('/') + 1));
    const auto runner = w.literal ? runners.find(m_command) : runners.end();
    if (runner == runners.end() && !through_variable) return;
    m_expected = m_of_runner = true;
    m_skip = runner == runners.end() ? 0 : runner->second;
  }
};

}  // namespace

script_words words_of_script(std::string_view text) {
  script_words words;
  script(text, words.commands, words.functions).commands(false);
  std::erase_if(words.commands, [&](const std::string& name) {
    return words.functions.contains(name) || builtins.contains(name) || name == "exec" || name == "command" ||
           name == "trap";
  });
  return words;
}

}  // namespace tessera::programs
