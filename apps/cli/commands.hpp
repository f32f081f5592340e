#pragma once
// The commands of `tessera`. Each adds its table to those of the program.
#include "apps/common/command_options.hpp"

namespace tessera::cli {

using apps::between;
using apps::command_table;

/// apps.cpp; lists the commands that are there so far.
void add_apps(command_table& to);
void add_checkpoint(command_table& to);        ///< checkpoint.cpp
void add_topology(command_table& to);          ///< topology.cpp
void add_plugins(command_table& to);           ///< plugins.cpp
void add_plugins_new(command_table& plugins);  ///< plugins_new.cpp; a subcommand of the former
void add_config(command_table& to);            ///< config.cpp
void add_trace(command_table& to);             ///< trace.cpp
void add_history(command_table& to);           ///< history.cpp
void add_shell(command_table& to);             ///< shell.cpp: completion and man

}  // namespace tessera::cli
