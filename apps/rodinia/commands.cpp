#include "apps/rodinia/commands.hpp"

namespace tessera::apps {

void add_rodinia(command_table& to) {
  rodinia::add_bfs(to);
  rodinia::add_cfd(to);
  rodinia::add_gaussian(to);
  rodinia::add_hotspot(to);
  rodinia::add_lavamd(to);
  rodinia::add_lud(to);
  rodinia::add_nn(to);
  rodinia::add_nw(to);
  rodinia::add_particlefilter(to);
  rodinia::add_pathfinder(to);
  rodinia::add_srad(to);
}

}  // namespace tessera::apps
