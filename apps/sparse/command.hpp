#pragma once
// tessera eigs and tessera spmv.
#include "apps/common/command_options.hpp"

namespace tessera::apps {

/// Adds the command to those of the program.
void add_eigs(command_table& to);
/// Likewise.
void add_spmv(command_table& to);

}  // namespace tessera::apps
