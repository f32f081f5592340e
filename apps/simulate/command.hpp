#pragma once
#include "apps/common/command_options.hpp"

namespace tessera::apps {

/// Adds `simulate` to the command line.
void add_simulate(command_table& to);

}  // namespace tessera::apps
