#pragma once
#include "apps/common/command_options.hpp"

namespace tessera::apps {

/// Adds `simulate` to the command line.
void add_simulate(CLI::App& to, command& selected);

}  // namespace tessera::apps
