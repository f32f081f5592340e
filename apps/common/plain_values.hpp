#pragma once
// What all options ask of their values, whatever the option is.
#include <string>

#include "apps/common/options.hpp"

namespace tessera::apps {

/// Why an option refuses a word: it is empty (an unset variable of a shell), or for a number not written in decimal
/// digits, or too large for any; "": nothing is wrong.
std::string why_not_plain(const option& of, const std::string& word);

/// Throws tessera::error (usage) for a list with nothing between two commas. After the command line was parsed.
void require_whole_lists(const command_table& program, int argc, const char* const* argv);

}  // namespace tessera::apps
