#include "apps/rodinia/commands.hpp"

namespace tessera::apps {

void add_rodinia(CLI::App& to, command& selected) {
  rodinia::add_bfs(to, selected);
  rodinia::add_cfd(to, selected);
  rodinia::add_gaussian(to, selected);
  rodinia::add_hotspot(to, selected);
  rodinia::add_lavamd(to, selected);
  rodinia::add_lud(to, selected);
  rodinia::add_nn(to, selected);
  rodinia::add_nw(to, selected);
  rodinia::add_particlefilter(to, selected);
  rodinia::add_pathfinder(to, selected);
  rodinia::add_srad(to, selected);
}

}  // namespace tessera::apps
