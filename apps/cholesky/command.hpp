#pragma once
#include "apps/common/command_options.hpp"

namespace tessera::apps {

/// Adds `cholesky` to the command line.
void add_cholesky(command_table& to);

}  // namespace tessera::apps
