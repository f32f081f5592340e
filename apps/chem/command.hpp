#pragma once
#include "apps/common/command_options.hpp"

namespace tessera::apps {

/// Adds `chem` to the command line.
void add_chem(command_table& to);

}  // namespace tessera::apps
