#pragma once
#include "apps/common/command_options.hpp"

namespace tessera::apps {

/// Adds `study` to the command line.
void add_study(CLI::App& to, command& selected);

}  // namespace tessera::apps
