#include "apps/common/parse.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <regex>
#include <sstream>
#include <type_traits>
#include <utility>

#include "apps/common/plain_values.hpp"
#include "apps/common/usage.hpp"

namespace tessera::apps {
namespace {

/// A row as the library has it.
struct added_option {
  option* row;
  CLI::Option* made;
};

/// A command as the library has it.
struct added_command {
  command_table* table;
  CLI::App* made;
  std::vector<added_option> options;
};

/// The library's range takes it: it is neither above nor below.
std::string why_not_a_number(const std::string& word) {
  return std::isnan(std::strtod(word.c_str(), nullptr)) ? fmt::format("'{}' is not a number", word) : std::string();
}

void add_range(CLI::Option&, std::monostate) {}
template <class T>
void add_range(CLI::Option& to, bounds<T> range) {
  to.check(CLI::Range(range.low, range.high));
}
/// In the words of the library's range, which writes small limits as 0.
void add_range(CLI::Option& to, bounds<double> range) {
  const auto why_not_between = [range](const std::string& word) {
    double value = 0;
    const bool is_number = CLI::detail::lexical_cast(word, value);
    return is_number && !(value < range.low || value > range.high)
               ? std::string()
               : fmt::format("Value {} not in range {} to {}", word, range.low, range.high);
  };
  to.check(CLI::Validator(why_not_between, fmt::format("FLOAT in [{} - {}]", range.low, range.high)));
  to.check(CLI::Validator(why_not_a_number, ""));
}

CLI::Option& add_row(CLI::App& to, const option& row) {
  return *std::visit(
      [&](auto* target) {
        if constexpr (std::is_same_v<decltype(target), bool*>)
          return to.add_flag(row.name, *target, row.help);
        else
          return to.add_option(row.name, *target, row.help);
      },
      row.to);
}

CLI::Option* add_option(CLI::App& to, const option& row) {
  const option_rules& rules = row.rules;
  CLI::Option& made = add_row(to, row);
  if (!row.value.empty()) made.type_name(row.value);
  if (rules.one_each) made.allow_extra_args(false);
  if (rules.by_commas) made.delimiter(',');
  if (rules.count > 0) made.expected(rules.count);
  if (rules.required) made.required();
  if (rules.hidden) made.group("");
  std::visit([&](const auto& range) { add_range(made, range); }, rules.range);
  if (!rules.choices.empty()) made.check(CLI::IsMember(rules.choices));
  if (!row.is_flag())
    made.check(CLI::Validator([row = &row](const std::string& word) { return why_not_plain(*row, word); }, ""));
  if (rules.shows_default) made.capture_default_str();
  return &made;
}

/// Adds a command with all below it to `all`.
void add_command(CLI::App& made, command_table& table, std::vector<added_command>& all) {
  added_command added{&table, &made, {}};
  for (option& row : table.options) added.options.push_back({&row, add_option(made, row)});
  for (const added_option& one : added.options) {
    for (const std::string& other : one.row->rules.needs) one.made->needs(made.get_option(other));
    for (const std::string& other : one.row->rules.excludes) one.made->excludes(made.get_option(other));
  }
  if (!table.footer.empty()) made.footer(table.footer);
  if (!table.commands.empty()) made.require_subcommand(table.run ? 0 : 1, 1);
  all.push_back(std::move(added));
  for (command_table& below : table.commands) add_command(*made.add_subcommand(below.name, below.line), below, all);
}

/// What the library says of an option's value, in plain words; "abc" is to it a value out of range.
std::string in_words(const std::string& said) {
  static const std::regex range(R"((--\S+): Value (.*) not in range (\S+) to (\S+))"),
      missing(R"((--\S+): 1 required .*)"), no_value(R"(Could not convert: (\S+) = (.*))"),
      again(R"((--\S+): At Most 1 required but received (\d+))"), empty(R"((\S+): wants a value)");
  std::smatch found;
  const bool out_of_range = std::regex_match(said, found, range);
  if (out_of_range && found.length(2) != 0)
    return fmt::format("{}: '{}' is no number in the range {} to {}", found.str(1), found.str(2), found.str(3),
                       found.str(4));
  if (out_of_range || std::regex_match(said, found, missing) || std::regex_match(said, found, empty))
    return fmt::format("{} wants a value", found.str(1));
  if (std::regex_match(said, found, no_value))
    return fmt::format("{}: '{}' is not a number", found.str(1), found.str(2));
  if (std::regex_match(said, found, again))
    return fmt::format("{} is given {} times, and may be given once", found.str(1), found.str(2));
  return said;
}

}  // namespace

parsed_line parse(command_table& program, int argc, const char* const* argv) {
  CLI::App app(program.line, program.name);
  app.set_version_flag("--version", program.version);
  std::vector<added_command> all;
  add_command(app, program, all);
  const auto note_chosen = [&] {
    for (const added_command& one : all) one.table->chosen = one.made == &app || one.made->parsed();
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help and --version
    std::ostringstream text;
    app.exit(asked, text, text);
    return {.text = std::move(text).str()};
  } catch (const CLI::ParseError& wrong) {
    note_chosen();
    throw usage_error(program, in_words(wrong.what()), argc, argv);
  }
  note_chosen();
  for (const added_command& one : all)
    for (const added_option& row : one.options) row.row->given = row.made->results();
  const command_table* const command = innermost(program);
  if (command->check) command->check();
  require_whole_lists(program, argc, argv);
  return {.command = command};
}

}  // namespace tessera::apps
