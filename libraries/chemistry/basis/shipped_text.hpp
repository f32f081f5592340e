#pragma once
// The files of data/, which the build embeds.
#include <string_view>

namespace tessera::chemistry {

/// The text of a file, by its name without ".gbs"; "" for another name.
std::string_view shipped_text(std::string_view file) noexcept;

}  // namespace tessera::chemistry
