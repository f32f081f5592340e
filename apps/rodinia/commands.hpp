#pragma once
// The applications. Each function adds a command to the command line and, when it is chosen, sets `selected`.
#include "apps/common/command_options.hpp"

namespace tessera::apps {

/// Adds all applications of this folder, in the order of their names.
void add_rodinia(CLI::App& to, command& selected);

}  // namespace tessera::apps

namespace tessera::apps::rodinia {

void add_bfs(CLI::App& to, command& selected);
void add_cfd(CLI::App& to, command& selected);
void add_gaussian(CLI::App& to, command& selected);
void add_hotspot(CLI::App& to, command& selected);
void add_lavamd(CLI::App& to, command& selected);
void add_lud(CLI::App& to, command& selected);
void add_nn(CLI::App& to, command& selected);
void add_nw(CLI::App& to, command& selected);
void add_particlefilter(CLI::App& to, command& selected);
void add_pathfinder(CLI::App& to, command& selected);
void add_srad(CLI::App& to, command& selected);

}  // namespace tessera::apps::rodinia
