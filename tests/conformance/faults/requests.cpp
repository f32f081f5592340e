#include "tests/conformance/faults/requests.hpp"

#include <cstdint>

namespace tessera::conformance {

std::string built(const std::string& name) { return TESSERA_BINARY_DIR "/tests/plugins/tessera_" + name + ".so"; }

request asked_of(const std::string& plugin) {
  request asked{.plugin = built(plugin)};
  if (plugin == "mini" || plugin.starts_with("fault_") || plugin == "drifting" || plugin == "inline")
    asked.options = {{"count", std::int64_t{2}, "test"}, {"device[0].memory", std::string("1 MiB"), "test"}};
  if (plugin.starts_with("layer")) asked.inner = built("mini");
  return asked;
}

request asked_behind(const std::string& careless_about, int devices) {
  request asked{.plugin = sim, .layer = built("careless"), .layer_options = {{"about", careless_about, "test"}}};
  for (int i = 0; i < devices; ++i)
    asked.options.push_back({"device[" + std::to_string(i) + "].memory", std::string("64 MiB"), "test"});
  return asked;
}

result outcome_of(request asked, const std::string& check) {
  asked.only = check;
  const report done = run(asked);
  for (const result& one : done.results)
    if (one.name == check) return one;
  return done.results.empty() ? result{check, outcome::skipped, "did not run", 0} : done.results.front();
}

result outcome_of(const std::string& plugin, const std::string& check, const std::filesystem::path& known) {
  request asked = asked_of(plugin);
  asked.known_failures = known;
  return outcome_of(asked, check);
}

}  // namespace tessera::conformance
