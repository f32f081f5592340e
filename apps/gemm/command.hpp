#pragma once
#include "apps/common/command_options.hpp"

namespace tessera::apps {

/// Adds `gemm` to the command line.
void add_gemm(CLI::App& to, command& selected);

}  // namespace tessera::apps
