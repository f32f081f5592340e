#pragma once
// Command lines. The one room that knows the library that parses them, in the one source of this header.
#include <string>

#include "apps/common/options.hpp"

namespace tessera::apps {

/// What a command line asks for.
struct parsed_line {
  const command_table* command = nullptr;  ///< what is to run; nullptr: `text` is to be printed
  std::string text = {};                   ///< of --help or --version
};

/// Fills the targets of the chosen command's options, what each is given, and `chosen`; then calls its `check`. Throws
/// tessera::error (usage), with the nearest name for one that there is not. The program and its tables stay where they
/// are. Once for a program.
parsed_line parse(command_table& program, int argc, const char* const* argv);

}  // namespace tessera::apps
