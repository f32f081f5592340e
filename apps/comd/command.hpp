#pragma once
// `tessera comd`.
#include "apps/common/command_options.hpp"

namespace tessera::apps {

/// Adds the command to those of the program.
void add_comd(command_table& to);

}  // namespace tessera::apps
