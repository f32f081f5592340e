#pragma once
// A command as a table of its options. parse.hpp fills their targets from a command line.
#include <concepts>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tessera::apps {

/// Where the value of an option goes; what is there before is its default. A bool is a flag, and true once it is given;
/// a vector takes several values.
using option_target =
    std::variant<bool*, int*, unsigned*, std::int64_t*, std::uint64_t*, double*, std::string*, std::optional<int>*,
                 std::optional<unsigned>*, std::optional<std::string>*, std::vector<std::string>*,
                 std::vector<unsigned>*, std::vector<std::int64_t>*, std::vector<std::uint64_t>*>;

/// Both are allowed.
template <class T>
struct bounds {
  T low, high;
};

/// Which numbers an option takes; by default all that its target holds.
using value_range = std::variant<std::monostate, bounds<std::int64_t>, bounds<std::uint64_t>, bounds<double>>;

template <std::signed_integral L, std::signed_integral H>
value_range between(L low, H high) {
  return bounds<std::int64_t>{low, high};
}
inline value_range between(std::uint64_t low, std::uint64_t high) { return bounds<std::uint64_t>{low, high}; }
inline value_range between(double low, double high) { return bounds<double>{low, high}; }

/// What else holds of an option.
struct option_rules {
  value_range range = {};
  std::vector<std::string> choices = {};  ///< the only words that it takes
  bool shows_default = false;             ///< in the help
  bool required = false;
  bool hidden = false;  ///< from the help and all that is made of the table
  bool one_each =
      false;  ///< of several values: one for each time that the option is given; else all words up to the next
  bool by_commas = false;                              ///< of several values: with commas between them
  int count = 0;                                       ///< of several values: exactly so many; 0: any number
  std::vector<std::string> needs = {}, excludes = {};  ///< names of options before or behind it in the table
};

/// A row of the table.
struct option {
  /// @param name  "--size"; without dashes it is an argument  @param value  what the help calls a value: "N", "FILE";
  /// "": by its type  @param help  what it is for
  option(std::string_view name, option_target to, std::string_view value, std::string_view help,
         option_rules rules = {});

  std::string name;
  option_target to;
  std::string value, help;
  option_rules rules;
  std::vector<std::string> given = {};  ///< by the command line, as it is there; of a flag "true"

  bool is_argument() const noexcept { return !name.starts_with('-'); }
  bool is_flag() const noexcept { return std::holds_alternative<bool*>(to); }
  /// Whether its values are numbers.
  bool is_number() const noexcept;
  /// Whether it may have more than one value.
  bool is_list() const noexcept;
  /// What the help calls a value, also where the row does not say it: "TEXT", "INT", "UINT", "FLOAT".
  std::string value_name() const;
  /// What it is without being given, as one would write it; "": nothing. Before the command line is parsed.
  std::string default_text() const;
};

/// A command of the program, or the program itself: its options, what runs, and the commands below it.
struct command_table {
  command_table(std::string_view name, std::string_view line, command_table* above = nullptr);
  command_table(const command_table&) = delete;
  command_table& operator=(const command_table&) = delete;

  std::string name;
  std::string line;  ///< what it does
  std::vector<option> options;
  std::string footer;   ///< what the help says below the options: an example
  std::string version;  ///< of the program: what --version prints
  /// Throws tessera::error (usage) where what was given does not go together; files are not looked at yet. May be
  /// empty.
  std::function<void()> check;
  /// Returns the exit code, or throws tessera::error. Empty: one of the commands below has to be given.
  std::function<int()> run;
  std::list<command_table> commands;  ///< in the order of the help
  command_table* above;               ///< nullptr: the program
  bool chosen = false;                ///< by the command line

  /// Adds rows behind those that there are. No name may be there twice.
  void add(std::vector<option> rows);
  /// Adds a command below this one. The reference stays valid.
  command_table& add_command(std::string_view name, std::string_view line);

  /// The option of this name; nullptr: there is none.
  const option* find(std::string_view name) const noexcept;
  /// Whether the command line has it.
  bool is_given(std::string_view name) const noexcept;
  /// The words of the command behind the program's name: "gemm", "sial run".
  std::string words() const;
};

}  // namespace tessera::apps
