// Where plugins are: one rule serves the build tree, an installed prefix and a moved bundle.
#include <dlfcn.h>

#include <algorithm>

#include "hierarchy/machine/assemble.hpp"

namespace tessera::hierarchy {

std::vector<std::filesystem::path> default_plugin_directories() {
  std::vector<std::filesystem::path> candidates;
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&default_plugin_directories), &self) != 0 && self.dli_fname != nullptr)
    candidates.push_back(std::filesystem::path(self.dli_fname).parent_path() / "tessera" / "plugins");
  candidates.emplace_back(TESSERA_INSTALLED_PLUGIN_DIR);
  std::vector<std::filesystem::path> found;
  for (const auto& candidate : candidates) {
    std::error_code absent;
    auto real = std::filesystem::canonical(candidate, absent);
    if (!absent && std::ranges::count(found, real) == 0) found.push_back(std::move(real));
  }
  return found;
}

}  // namespace tessera::hierarchy
