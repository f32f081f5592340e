#pragma once
// A program's files to a checked program: the whole front end of the language.
#include "languages/sial/language/imports.hpp"
#include "languages/sial/language/program.hpp"

namespace tessera::sial {

struct compiled {
  std::optional<program> result;  ///< nothing when there are errors
  source_set sources;             ///< what messages point into
  std::vector<message> messages;  ///< errors and warnings by file, line and column
};

/// Lexes, parses and checks the program in `main_path` and what it imports. A pure function of the texts that `read`
/// gives; throws nothing of its own. Sources are copied into the program too.
compiled compile(const std::string& main_path, const reader& read, const std::vector<std::string>& folders = {});

/// Reads files of the file system; nothing for folders and what cannot be read.
reader file_reader();

/// All messages as text.
std::string to_text(const std::vector<message>& messages, const source_set& sources);

}  // namespace tessera::sial
