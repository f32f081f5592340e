#pragma once
// The manual page of the program, made from its tables.
#include <string>

#include "apps/common/options.hpp"

namespace tessera::apps {

/// A page of section 1 in the language of man (groff_man(7)): every command with every option that the help shows, its
/// range, its choices and its default. Before a command line changed the targets that hold those.
std::string man_page(const command_table& program);

}  // namespace tessera::apps
