#pragma once
#include "apps/common/command_options.hpp"

namespace tessera::apps {

/// Adds `gemm` to the command line.
void add_gemm(command_table& to);

}  // namespace tessera::apps
