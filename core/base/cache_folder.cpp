#include "core/base/cache_folder.hpp"

#include <cstdlib>

namespace tessera {

std::filesystem::path cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') return std::filesystem::path(cache) / "tessera";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') return std::filesystem::path(home) / ".cache" / "tessera";
  return {};
}

}  // namespace tessera
