#include "core/base/cache_folder.hpp"

#include "core/base/environment.hpp"

namespace tessera {

std::filesystem::path cache_folder() {
  if (const char* cache = environment_variable("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    return std::filesystem::path(cache) / "tessera";
  if (const char* home = environment_variable("HOME"); home != nullptr && *home == '/')
    return std::filesystem::path(home) / ".cache" / "tessera";
  return {};
}

}  // namespace tessera
