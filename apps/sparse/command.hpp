#pragma once
// tessera eigs and tessera spmv.
#include "apps/common/command_options.hpp"

namespace tessera::apps {

/// Adds the command; `selected` becomes it when it is chosen.
void add_eigs(CLI::App& to, command& selected);
/// Likewise.
void add_spmv(CLI::App& to, command& selected);

}  // namespace tessera::apps
