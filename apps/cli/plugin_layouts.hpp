#pragma once
// tessera plugins layouts: the structs of tessera/plugin.h for languages that do not read C.
#include <string>

namespace tessera::cli {

/// Every struct with its size and alignment, every field with its offset, size and type, every constant with its value.
std::string layouts_text();
std::string layouts_json();

}  // namespace tessera::cli
