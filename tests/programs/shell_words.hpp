#pragma once
// The programs that a shell script calls.
#include <set>
#include <string>
#include <string_view>

namespace tessera::programs {

struct script_words {
  std::set<std::string> commands;   ///< literal names that stand where bash expects a command, but keywords, builtins,
                                    ///< functions, and paths
  std::set<std::string> functions;  ///< that the script defines
};

/// Text in quotes and here documents is no command, but what $(...), `...` and <(...) hold is; so is what follows a
/// program that runs another one (env, xargs, timeout, `bash -c '...'`).
script_words words_of_script(std::string_view text);

}  // namespace tessera::programs
