#pragma once
// Wrong command lines, explained.
#include <string>

#include "apps/common/options.hpp"
#include "core/base/error.hpp"

namespace tessera::apps {

/// The last of the commands that the command line names, as far as it was understood; the program where it names none.
const command_table* innermost(const command_table& program) noexcept;

/// The error (usage) for a command line, with what would be right: the nearest name, or where the options are listed.
/// @param message  what is wrong with it, in plain words
error usage_error(const command_table& program, std::string message, int argc, const char* const* argv);

}  // namespace tessera::apps
