#pragma once
#include "apps/common/command_options.hpp"

namespace tessera::apps {

/// Adds `stream` to the command line.
void add_stream(command_table& to);

}  // namespace tessera::apps
