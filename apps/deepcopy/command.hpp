#pragma once
#include "apps/common/command_options.hpp"

namespace tessera::apps {

/// Adds `deepcopy` to the command line.
void add_deepcopy(command_table& to);

}  // namespace tessera::apps
