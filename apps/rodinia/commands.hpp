#pragma once
// The applications. Each function adds a command to those of the program.
#include "apps/common/command_options.hpp"

namespace tessera::apps {

/// Adds all applications of this folder, in the order of their names.
void add_rodinia(command_table& to);

}  // namespace tessera::apps

namespace tessera::apps::rodinia {

void add_bfs(command_table& to);
void add_cfd(command_table& to);
void add_gaussian(command_table& to);
void add_hotspot(command_table& to);
void add_lavamd(command_table& to);
void add_lud(command_table& to);
void add_nn(command_table& to);
void add_nw(command_table& to);
void add_particlefilter(command_table& to);
void add_pathfinder(command_table& to);
void add_srad(command_table& to);

}  // namespace tessera::apps::rodinia
