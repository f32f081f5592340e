#pragma once
// Super instructions of users' libraries (tessera/sial.h).
#include <filesystem>
#include <string>
#include <vector>

#include "languages/sial/instructions/instruction.hpp"

namespace tessera::sial {

/// Loads a library under the rules of plugins (core/runtime/user_library.hpp) and takes its table. Throws
/// tessera::error (kind plugin) with the file as the place when it cannot be loaded or trusted, exports no
/// tessera_sial_instructions, is of another version of the interface, or has a table that is not sound.
std::vector<instruction> load_instructions(const std::filesystem::path& library, const std::string& sha256 = {});

/// The same from a table: what a program brings itself. `library` is for messages.
std::vector<instruction> instructions_of(const sial_table* table, const std::string& library);

/// "rw|ru" -> {"rw", "ru"}. Throws std::invalid_argument for other letters than r, w, u (either case) or more than 6.
std::vector<std::string> signatures_of(const std::string& text);

}  // namespace tessera::sial
