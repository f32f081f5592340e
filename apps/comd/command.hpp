#pragma once
// `tessera comd`.
#include "apps/common/command_options.hpp"

namespace tessera::apps {

/// Adds the command; when it is chosen, sets `selected`.
void add_comd(CLI::App& to, command& selected);

}  // namespace tessera::apps
