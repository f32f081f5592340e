#pragma once
// [plugin.NAME] and [checksums] of plugins that are not opened: nothing uses them, and a mistake in them is one all the
// same.
#include <string>
#include <vector>

#include "core/config/document.hpp"
#include "core/plugin/registry.hpp"

namespace tessera::hierarchy {

/// A table [plugin.NAME] of a plugin that is not opened is an error when there is no such plugin at all, when the name
/// is near an opened one, or when the plugin's file says that it has no such option or value; else worth a note, which
/// also says when the file could not be asked. One that is used only where it can run, "NAME?", gets no note.
/// @param with  how plugins are found, and what is set for them. Throws tessera::error (configuration).
void check_plugin_tables(const config::document& configuration, const plugin::registry_options& with,
                         const std::vector<std::string>& opened, const std::vector<std::string>& installed,
                         std::vector<std::string>& notes);

/// A checksum for a plugin that there is not is an error: a misspelt name would leave the meant one unchecked. Throws
/// tessera::error (configuration).
void check_checksums(const config::document& configuration, const std::vector<std::string>& opened,
                     const std::vector<std::string>& installed);

}  // namespace tessera::hierarchy
