#include "apps/common/value_options.hpp"

namespace tessera::apps {

option number_option(const char* name, std::int64_t& value, const char* help, std::int64_t low, std::int64_t high) {
  return {name, &value, "N", help, {.range = between(low, high), .shows_default = true}};
}

option number_option(const char* name, double& value, const char* letter, const char* help, double low, double high) {
  return {name, &value, letter, help, {.range = between(low, high), .shows_default = true}};
}

option type_option(std::string& type, const std::vector<std::string>& types) {
  std::string help = "element type: " + types.front();
  for (std::size_t k = 1; k < types.size(); ++k) help += (k + 1 < types.size() ? ", " : " or ") + types[k];
  return {"--type", &type, "", help, {.choices = types, .shows_default = true}};
}

}  // namespace tessera::apps
