#pragma once
#include "apps/common/command_options.hpp"

namespace tessera::apps {

/// Adds `chem` to the command line.
void add_chem(CLI::App& to, command& selected);

}  // namespace tessera::apps
