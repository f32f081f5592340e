#pragma once
#include "apps/common/command_options.hpp"

namespace tessera::apps {

/// Adds `stream` to the command line.
void add_stream(CLI::App& to, command& selected);

}  // namespace tessera::apps
