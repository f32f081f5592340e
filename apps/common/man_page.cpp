#include "apps/common/man_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <variant>
#include <vector>

namespace tessera::apps {
namespace {

/// Text in which nothing is taken for a request or a character of another name.
std::string plain(std::string_view text) {
  std::string made;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) made += "\\&";
    switch (c) {
      case '\\':
        made += "\\e";
        break;
      case '-':
        made += "\\-";
        break;
      case '\'':
        made += "\\(aq";
        break;
      case '`':
        made += "\\(ga";
        break;
      case '^':
        made += "\\(ha";
        break;
      case '~':
        made += "\\(ti";
        break;
      default:
        made += c;
    }
    begins_line = c == '\n';
  }
  return made;
}

std::string bold(std::string_view text) { return "\\fB" + plain(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + plain(text) + "\\fR"; }

std::string text_of(std::monostate) { return ""; }
template <class T>
std::string text_of(const bounds<T>& range) {
  return fmt::format("{} to {}", range.low, range.high);
}

/// Names of the options that may not stand beside one, whichever of the two says so.
std::vector<std::string> excluded_by(const command_table& in, const option& one) {
  std::vector<std::string> names = one.rules.excludes;
  for (const option& other : in.options)
    if (std::ranges::find(other.rules.excludes, one.name) != other.rules.excludes.end()) names.push_back(other.name);
  return names;
}

/// "(1 to 20; default 3; not beside --quick)"; "" where there is nothing to say.
std::string facts_of(const command_table& in, const option& one) {
  std::vector<std::string> facts;
  const auto add = [&](const std::string& before, const std::string& what) {
    if (!what.empty()) facts.push_back(before + what);
  };
  if (one.rules.required) facts.emplace_back("required");
  add("", std::visit([](const auto& range) { return text_of(range); }, one.rules.range));
  add("one of ", fmt::format("{}", fmt::join(one.rules.choices, ", ")));
  if (one.rules.count > 0) facts.push_back(fmt::format("{} values", one.rules.count));
  if (one.rules.by_commas) facts.emplace_back("several with commas");
  if (one.rules.shows_default) add("default ", one.default_text());
  add("with ", fmt::format("{}", fmt::join(one.rules.needs, ", ")));
  add("not beside ", fmt::format("{}", fmt::join(excluded_by(in, one), ", ")));
  return facts.empty() ? "" : fmt::format(" ({})", fmt::join(facts, "; "));
}

/// A paragraph of an option: what is written, and what it is for.
std::string paragraph_of(const command_table& in, const option& one) {
  std::string head = one.is_argument() ? italic(one.name) : bold(one.name);
  if (!one.is_argument() && !one.is_flag()) head += " " + italic(one.value_name());
  return fmt::format(".TP\n{}\n{}{}\n", head, plain(one.help), plain(facts_of(in, one)));
}

std::string synopsis_of(const command_table& command, const std::string& name) {
  std::string text = bold(name) + " [" + italic("OPTIONS") + "]";
  for (const option& one : command.options)
    if (one.is_argument() && !one.rules.hidden)
      text += (one.rules.required ? " " : " [") + italic(one.name) + (one.is_list() ? "..." : "") +
              (one.rules.required ? "" : "]");
  return text;
}

/// Paragraphs as they are laid out in the help.
std::string laid_out(const std::string& text) { return text.empty() ? "" : ".PP\n.nf\n" + plain(text) + "\n.fi\n"; }

/// The sections of a command and of those below it; that of the program is made in man_page.
void add_sections(const command_table& command, const std::string& name, std::string& page) {
  if (command.run) {
    const char* const end = command.line.ends_with('?') ? "" : ".";
    page +=
        fmt::format(".SH \"{}\"\n{}{}\n.PP\n{}\n", plain(name), plain(command.line), end, synopsis_of(command, name));
    for (const option& one : command.options)
      if (!one.rules.hidden) page += paragraph_of(command, one);
    page += laid_out(command.footer);
  }
  for (const command_table& below : command.commands) add_sections(below, name + " " + below.name, page);
}

}  // namespace

std::string man_page(const command_table& program) {
  const std::string line = program.line.substr(program.line.find(' ') + 1);  // behind "Tessera:"
  std::string title = program.name;
  std::ranges::transform(title, title.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  std::string page = fmt::format(".\\\" Made by `{} man`.\n.TH {} 1 \"\" \"{}\" \"User Commands\"\n", program.name,
                                 title, program.version);
  page += fmt::format(".SH NAME\n{} \\- {}\n", program.name, plain(line));
  page += fmt::format(".SH SYNOPSIS\n{} {} [{}]\n.PP\n{} {}\n", bold(program.name), italic("COMMAND"),
                      italic("OPTIONS"), bold(program.name), bold("--version"));
  page += ".SH DESCRIPTION\nEvery command has " + bold("--help") + " with its options and an example.\n" +
          laid_out(program.footer);
  for (const command_table& below : program.commands) add_sections(below, program.name + " " + below.name, page);
  return page;
}

}  // namespace tessera::apps
