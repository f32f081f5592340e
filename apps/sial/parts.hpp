#pragma once
// The commands below `tessera sial`; for this folder.
#include <CLI/CLI.hpp>

#include "apps/common/command_options.hpp"

namespace tessera::apps {

/// Throws tessera::error (input) when there is no such folder.
void require_folder(const std::string& path);

void add_sial_run(CLI::App& to, command& selected);
void add_sial_check(CLI::App& to, command& selected);
void add_sial_list(CLI::App& to, command& selected);
void add_sial_init(CLI::App& to, command& selected);

}  // namespace tessera::apps
