#pragma once
// What a shell completes behind the program's name, made from its tables.
#include <string>

#include "apps/common/options.hpp"

namespace tessera::apps {

/// A script for bash that completes commands, options, their choices and files. zsh reads it, too, once its own
/// `bashcompinit` has run, which the script does there.
std::string completion_script(const command_table& program);

}  // namespace tessera::apps
