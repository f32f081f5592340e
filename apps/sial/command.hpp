#pragma once
// `tessera sial`: run, check, list, init.
#include "apps/common/command_options.hpp"

namespace tessera::apps {

/// Adds the subcommand and its own.
void add_sial(CLI::App& to, command& selected);

}  // namespace tessera::apps
