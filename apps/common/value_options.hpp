#pragma once
// Options of one value, the same in all commands.
#include <cstdint>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the name of the library
class App;
class Option;
}  // namespace CLI

namespace tessera::apps {

/// Adds an option for a number from `low` to `high`.
void add_number(CLI::App& to, const char* name, std::int64_t& value, const char* text, std::int64_t low,
                std::int64_t high);
/// The same for a real number; "nan" is none. @param letter  stands for it in the help
void add_number(CLI::App& to, const char* name, double& value, const char* letter, const char* text, double low,
                double high);
/// Adds an option for a file.
CLI::Option& add_file(CLI::App& to, const char* name, std::string& file, const char* text);
/// Adds --type. @param types  that there are; the first one is named first, `type` is what it is without the option
void add_type(CLI::App& to, std::string& type, const std::vector<std::string>& types);

}  // namespace tessera::apps
