#pragma once
// The older CSV form of declarations.
#include <string>
#include <string_view>

#include "core/config/declarations.hpp"

namespace tessera::hierarchy {

/// Reads records, one per line: fields separated by ';', each "key,value[,value...]", the first names the record
/// (loctype, location, hierarchy); '#' starts a comment. `source` names the text in places. Throws tessera::error (kind
/// configuration) with line and column for an unknown record or key (hint: the nearest), a key given twice or without
/// its value, and values that are no numbers or sizes.
config::declarations parse_csv(std::string_view text, const std::string& source);

}  // namespace tessera::hierarchy
