#include "core/plugin/published_options.hpp"

#include "core/plugin/call_watch.hpp"
#include "core/plugin/search.hpp"

namespace tessera::plugin {

std::vector<option_schema> published_options(const registry_options& options, const std::string& name) {
  const call_watch watched(options.patience, options.log);
  return search(options, purpose::header).find(name).options;
}

}  // namespace tessera::plugin
