#pragma once
// `tessera sial`: run, check, list, init.
#include "apps/common/command_options.hpp"

namespace tessera::apps {

/// Adds the subcommand and its own.
void add_sial(command_table& to);

}  // namespace tessera::apps
