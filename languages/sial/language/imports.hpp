#pragma once
// Finds and parses a program's files.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "languages/sial/language/syntax.hpp"

namespace tessera::sial {

/// The text of a file; nothing when there is none. Tests give texts in memory.
using reader = std::function<std::optional<std::string>(const std::string& path)>;

inline constexpr std::size_t max_files = 1000, max_import_depth = 100;

/// All files of a program, parsed.
struct loaded_files {
  source_set sources;
  std::vector<syntax::file> files;                   ///< by number, as in `sources`
  std::vector<std::vector<std::uint32_t>> imported;  ///< what each file imports itself, each once
  std::vector<std::uint32_t> order;                  ///< a file behind what it imports; the main one last
};

/// Imported files are sought beside the importing one, then in `folders`. Each is loaded once.
loaded_files load(const std::string& main_path, const reader& read, const std::vector<std::string>& folders,
                  message_list& messages);

}  // namespace tessera::sial
