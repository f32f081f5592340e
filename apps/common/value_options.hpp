#pragma once
// Rows of options that commands have alike: numbers, element types.
#include <cstdint>
#include <string>
#include <vector>

#include "apps/common/options.hpp"

namespace tessera::apps {

/// A number from `low` to `high`, with its default in the help.
option number_option(const char* name, std::int64_t& value, const char* help, std::int64_t low, std::int64_t high);
/// The same for a real number. @param letter  stands for it in the help
option number_option(const char* name, double& value, const char* letter, const char* help, double low, double high);
/// --type. @param types  that there are; the first one is named first, `type` is what it is without the option
option type_option(std::string& type, const std::vector<std::string>& types);

}  // namespace tessera::apps
