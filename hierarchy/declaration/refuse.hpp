#pragma once
#include <string>
#include <utility>

#include "core/base/error.hpp"

namespace tessera::hierarchy {

/// Throws tessera::error (configuration): what stands at `where` declares nothing that can be made.
[[noreturn]] inline void refuse(std::string message, const std::string& where, std::string hint = {}) {
  throw error(error_kind::configuration, std::move(message), where, std::move(hint));
}

}  // namespace tessera::hierarchy
