#include "apps/common/value_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>

namespace tessera::apps {

void add_number(CLI::App& to, const char* name, std::int64_t& value, const char* text, std::int64_t low,
                std::int64_t high) {
  to.add_option(name, value, text)->type_name("N")->check(CLI::Range(low, high))->capture_default_str();
}

void add_number(CLI::App& to, const char* name, double& value, const char* letter, const char* text, double low,
                double high) {
  const CLI::Validator is_number(  // CLI::Range takes it: it is neither above nor below
      [](const std::string& word) {
        return std::isnan(std::strtod(word.c_str(), nullptr)) ? fmt::format("'{}' is not a number", word)
                                                              : std::string();
      },
      "");
  to.add_option(name, value, text)
      ->type_name(letter)
      ->check(CLI::Range(low, high))
      ->check(is_number)
      ->capture_default_str();
}

CLI::Option& add_file(CLI::App& to, const char* name, std::string& file, const char* text) {
  return *to.add_option(name, file, text)->type_name("FILE");
}

void add_type(CLI::App& to, std::string& type, const std::vector<std::string>& types) {
  std::string text = "element type: " + types.front();
  for (std::size_t k = 1; k < types.size(); ++k) text += (k + 1 < types.size() ? ", " : " or ") + types[k];
  to.add_option("--type", type, text)->check(CLI::IsMember(types))->capture_default_str();
}

}  // namespace tessera::apps
