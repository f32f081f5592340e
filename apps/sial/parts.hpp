#pragma once
// The commands below `tessera sial`; for this folder.
#include "apps/common/command_options.hpp"

namespace tessera::apps {

/// Throws tessera::error (input) when there is no such folder.
void require_folder(const std::string& path);

void add_sial_run(command_table& to);
void add_sial_check(command_table& to);
void add_sial_list(command_table& to);
void add_sial_init(command_table& to);

}  // namespace tessera::apps
