#pragma once
// The commands of `tessera`. Each adds itself to the command line and, when it is chosen, sets `selected`.
#include "apps/common/command_options.hpp"

namespace tessera::cli {

using apps::command;

/// apps.cpp; lists the commands that are there so far.
void add_apps(CLI::App& to, command& selected);
void add_checkpoint(CLI::App& to, command& selected);        ///< checkpoint.cpp
void add_topology(CLI::App& to, command& selected);          ///< topology.cpp
void add_plugins(CLI::App& to, command& selected);           ///< plugins.cpp
void add_plugins_new(CLI::App& plugins, command& selected);  ///< plugins_new.cpp; a subcommand of the former
void add_config(CLI::App& to, command& selected);            ///< config.cpp
void add_trace(CLI::App& to, command& selected);             ///< trace.cpp
void add_history(CLI::App& to, command& selected);           ///< history.cpp

}  // namespace tessera::cli
