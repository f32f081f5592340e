#pragma once
// Where what comes with Tessera lies.
#include <filesystem>
#include <vector>

namespace tessera::hierarchy {

/// Folders of ready configurations: share/tessera/configs of the prefix that the library is below (in a build tree: the
/// checkout's configs/), and of the install prefix; those that exist. See config::find_file.
std::vector<std::filesystem::path> default_config_directories();

}  // namespace tessera::hierarchy
