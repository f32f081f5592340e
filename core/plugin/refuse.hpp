#pragma once
#include <filesystem>
#include <string>
#include <utility>

#include "core/base/error.hpp"

namespace tessera::plugin {

/// Throws tessera::error (plugin): the file cannot be used as a plugin.
[[noreturn]] inline void refuse(const std::filesystem::path& file, std::string message, std::string hint) {
  throw error(error_kind::plugin, std::move(message), file.string(), std::move(hint));
}

}  // namespace tessera::plugin
