#include "apps/common/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace tessera::apps {
namespace {

/// What of the file system stands for a value.
enum class places {
  none,
  files,
  folders
};

places places_of(const option& one) {
  static const std::vector<std::string> files{"FILE", "PATH", "LAYER", "PLUGIN"};
  if (one.value == "DIR") return places::folders;
  return std::ranges::find(files, one.value) != files.end() ? places::files : places::none;
}

/// The line of a case that says what values there are; "" for free text.
std::string values_of(const option& one) {
  if (!one.rules.choices.empty()) return fmt::format("words='{}'", fmt::join(one.rules.choices, " "));
  switch (places_of(one)) {
    case places::files:
      return "places=-f";
    case places::folders:
      return "places=-d";
    case places::none:
      break;
  }
  return ":";
}

/// The branch of a command: values where an option stands before the word, else its commands and options.
std::string branch_of(const command_table& command) {
  std::vector<std::string> words;
  std::string values, places;
  for (const command_table& below : command.commands) words.push_back(below.name);
  for (const option& one : command.options) {
    if (one.rules.hidden) continue;
    if (one.is_argument()) {
      if (values_of(one) != ":") places = "; " + values_of(one);
      continue;
    }
    words.push_back(one.name);
    if (!one.is_flag()) values += fmt::format("        {}) {} ;;\n", one.name, values_of(one));
  }
  words.emplace_back("--help");
  if (command.above == nullptr) words.emplace_back("--version");
  return fmt::format("    '{}')\n      case $before in\n{}        *) words='{}'{} ;;\n      esac ;;\n", command.words(),
                     values, fmt::join(words, " "), places);
}

/// The branches of a command and of all below it; the words that lead to them.
void add_branches(const command_table& command, std::string& branches, std::string& steps) {
  branches += branch_of(command);
  for (const command_table& below : command.commands) {
    steps += fmt::format("      '{}:{}') command='{}' ;;\n", command.words(), below.name, below.words());
    add_branches(below, branches, steps);
  }
}

constexpr const char* script = R"(# Completion for bash and zsh, made by `{0} completion`:
#   source <({0} completion)
_{0}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command='' words='' places='' k IFS
  if [[ $current == '=' ]]; then  # --option=, which bash takes apart
    current=''
  elif [[ $before == '=' ]]; then
    before=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  for ((k = 1; k < COMP_CWORD; ++k)); do
    [[ ${{COMP_WORDS[k]}} == '--' ]] && return
    case "$command:${{COMP_WORDS[k]}}" in
{1}    esac
  done
  case $command in
{2}  esac
  IFS=$' \n'
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  IFS=$'\n'
  [[ -z $places || $current == -* ]] || COMPREPLY+=($(compgen $places -- "$current"))
}}
if [[ -n ${{ZSH_VERSION:-}} ]]; then
  autoload -Uz compinit bashcompinit && compinit && bashcompinit
fi
complete -o filenames -F _{0} {0}
)";

}  // namespace

std::string completion_script(const command_table& program) {
  std::string branches, steps;
  add_branches(program, branches, steps);
  return fmt::format(script, program.name, steps, branches);
}

}  // namespace tessera::apps
