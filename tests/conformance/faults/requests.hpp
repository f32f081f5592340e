#pragma once
// What the tests ask of the suite.
#include <filesystem>
#include <string>

#include "tests/conformance/suite/conformance.hpp"

namespace tessera::conformance {

/// The file of a plugin of tests/plugins.
std::string built(const std::string& name);
/// The file of the plugin `sim`.
inline constexpr const char* sim = TESSERA_PLUGIN_DIR "/tessera_sim.so";

/// What to check for a plugin of tests/plugins.
request asked_of(const std::string& plugin);
/// `devices`: how many there are behind the layer.
request asked_behind(const std::string& careless_about, int devices = 1);

/// The result of one check; of what failed instead of it where it did not run.
result outcome_of(request asked, const std::string& check);
/// The result of one check on one plugin of tests/plugins.
result outcome_of(const std::string& plugin, const std::string& check, const std::filesystem::path& known = {});

}  // namespace tessera::conformance
