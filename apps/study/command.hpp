#pragma once
#include "apps/common/command_options.hpp"

namespace tessera::apps {

/// Adds `study` to the command line.
void add_study(command_table& to);

}  // namespace tessera::apps
