// One rule each serves the build tree, an installed prefix and a moved bundle.
#include "hierarchy/machine/installed_places.hpp"

#include <dlfcn.h>

#include <algorithm>

#include "hierarchy/machine/assemble.hpp"

namespace tessera::hierarchy {
namespace {

/// Those of the places that are there, each once: `beside` are relative to the folder of this library.
std::vector<std::filesystem::path> existing(std::initializer_list<const char*> beside, const char* installed) {
  std::vector<std::filesystem::path> candidates;
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&default_plugin_directories), &self) != 0 && self.dli_fname != nullptr)
    for (const char* place : beside) candidates.push_back(std::filesystem::path(self.dli_fname).parent_path() / place);
  candidates.emplace_back(installed);
  std::vector<std::filesystem::path> found;
  for (const auto& candidate : candidates) {
    std::error_code absent;
    auto real = std::filesystem::canonical(candidate, absent);
    if (!absent && std::ranges::count(found, real) == 0) found.push_back(std::move(real));
  }
  return found;
}

}  // namespace

std::vector<std::filesystem::path> default_plugin_directories() {
  return existing({"tessera/plugins"}, TESSERA_INSTALLED_PLUGIN_DIR);
}

std::vector<std::filesystem::path> default_config_directories() {
  return existing({TESSERA_CONFIGS_FROM_LIBRARY, "../share/tessera/configs"}, TESSERA_INSTALLED_CONFIG_DIR);
}

}  // namespace tessera::hierarchy
