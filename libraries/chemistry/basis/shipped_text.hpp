#pragma once
// The files of data/, as they are embedded by embed.cmake.
#include <string_view>

namespace tessera::chemistry {

/// The text of a file, by its name without ".gbs"; "" for another name.
std::string_view shipped_text(std::string_view file);

}  // namespace tessera::chemistry
