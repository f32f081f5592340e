#include "core/base/environment.hpp"

#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace tessera {

const char* environment_variable(const char* name) noexcept { return ::secure_getenv(name); }

std::vector<std::pair<std::string, std::string>> environment_variables(
    std::initializer_list<std::string_view> beginnings) {
  std::vector<std::pair<std::string, std::string>> variables;
  if (::getauxval(AT_SECURE) != 0) return variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals == text.npos) continue;
    if (std::ranges::any_of(beginnings, [&](std::string_view beginning) { return text.starts_with(beginning); }))
      variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  std::ranges::sort(variables);  // messages do not depend on the order of the environment
  return variables;
}

}  // namespace tessera
