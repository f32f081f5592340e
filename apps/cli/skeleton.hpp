#pragma once
// The small plugins that `tessera plugins new` writes.
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::cli {

/// One file of a new plugin.
struct skeleton_file {
  std::string name;  ///< without a folder
  std::string text;
};

/// The languages that there are skeletons in: "c", "c++", "rust".
std::span<const std::string> skeleton_languages();

/// All files of a device plugin in one of these languages, with its name put in.
std::vector<skeleton_file> skeleton_of(std::string_view language, std::string_view name);

/// A text of plugins/template, which the build embeds, by its path there; "" for another path.
std::string_view skeleton_text(std::string_view path) noexcept;

}  // namespace tessera::cli
