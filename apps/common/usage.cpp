#include "apps/common/usage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "core/base/suggest.hpp"

namespace tessera::apps {
namespace {

using names = std::vector<std::string>;

bool has(const names& all, const std::string& name) { return std::ranges::find(all, name) != all.end(); }

/// A word up to its '='.
std::string option_of(const char* word) {
  const std::string text = word;
  return text.substr(0, text.find('='));
}

/// The options of a command with those that it has by itself.
names options_of(const command_table& of) {
  names all{"--help"};
  if (of.above == nullptr) all.emplace_back("--version");
  for (const option& one : of.options)
    if (!one.is_argument()) all.push_back(one.name);
  return all;
}

/// The first word in front of "--" that looks like an option and is none of `known`; "": there is none.
std::string unknown_option(const names& known, int argc, const char* const* argv) {
  for (int k = 1; k < argc && std::string_view(argv[k]) != "--"; ++k)
    if (const std::string word = option_of(argv[k]); word.starts_with("--") && !has(known, word)) return word;
  return {};
}

/// Whether the command takes an application's options behind "--", and this is one of those.
bool belongs_behind(const command_table& program, const command_table& in, const std::string& wanted) {
  const auto takes_others = [&](const char* name) {
    const option* const found = in.find(name);
    return found != nullptr && found->help.starts_with("after --");
  };
  return !wanted.empty() && (takes_others("arguments") || takes_others("application")) &&
         std::ranges::any_of(program.commands, [&](const command_table& one) { return one.find(wanted) != nullptr; });
}

}  // namespace

const command_table* innermost(const command_table& program) noexcept {
  const command_table* in = &program;
  for (bool deeper = true; deeper;) {
    const auto next = std::ranges::find(in->commands, true, &command_table::chosen);
    deeper = next != in->commands.end();
    if (deeper) in = &*next;
  }
  return in;
}

error usage_error(const command_table& program, std::string message, int argc, const char* const* argv) {
  const command_table& in = *innermost(program);
  const std::string path = in.above == nullptr ? "" : " " + in.words();
  std::string hint = in.above == nullptr ? "`tessera --help` lists the commands"
                                         : fmt::format("`tessera{} --help` lists its options, with an example", path);
  std::set<std::string> commands;  // the words that led here
  names known;                     // also the options of the commands that led here
  for (const command_table* one = in.above; one != nullptr; one = one->above)
    std::ranges::copy(options_of(*one), std::back_inserter(known));
  for (const command_table* one = &in; one->above != nullptr; one = one->above) commands.insert(one->name);
  names may_stand;
  for (const command_table& below : in.commands) may_stand.push_back(below.name);
  std::ranges::copy(options_of(in), std::back_inserter(may_stand));
  known.insert(known.end(), may_stand.begin(), may_stand.end());
  // Behind an option that it does not know, the library gives a command's own arguments other places, and may name
  // those.
  const std::string unknown = unknown_option(known, argc, argv);
  if (!unknown.empty() && message.find(unknown) == std::string::npos)
    message = fmt::format("The following argument was not expected: {}", unknown);
  if (belongs_behind(program, in, unknown))
    hint = fmt::format("options of the application stand behind --: tessera{} ... -- {} ...; {}", path, unknown, hint);
  for (int k = 1; k < argc; ++k) {
    const std::string given = option_of(argv[k]);
    if (has(may_stand, given) || commands.contains(given)) continue;
    // The library only says that a command is required; the word that is none tells more.
    if (&in == &program && k == 1 && !given.empty() && given.front() != '-')
      message = fmt::format("there is no command '{}'", given);
    // A word without dashes is the value of an option or an argument, unless a command should be there.
    const bool may_be_meant = given.starts_with('-') ? given == unknown : !in.commands.empty();
    if (const std::string near = may_be_meant ? suggest(given, may_stand) : ""; !near.empty()) {
      hint = fmt::format("did you mean '{}'?", near);
      break;
    }
  }
  return error(error_kind::usage, message, "the command line", hint);
}

}  // namespace tessera::apps
