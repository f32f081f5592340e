#include "core/runtime/user_library.hpp"

#include "core/plugin/library.hpp"
#include "core/plugin/loaded_plugin.hpp"
#include "core/plugin/trust.hpp"

namespace tessera {

void* load_user_library(const std::filesystem::path& path, const std::string& name, const std::string& sha256) {
  const plugin::trusted_file file = plugin::check_before_loading(path);
  if (!sha256.empty()) plugin::check_sha256(file, path.filename().string(), sha256);
  return plugin::load_symbol(file, name);
}

}  // namespace tessera
