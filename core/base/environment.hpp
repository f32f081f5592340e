#pragma once
// The variables of the environment that Tessera listens to. Everything here reads them through these functions; a test
// sees to it.
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera {

/// The value of a variable, or null. In a program that has more rights than the user who started it (setuid, setgid,
/// capabilities of its file) all are absent: that user would choose its plugins and its files.
const char* environment_variable(const char* name) noexcept;

/// The variables whose names have one of these beginnings, sorted, under the same rule.
std::vector<std::pair<std::string, std::string>> environment_variables(
    std::initializer_list<std::string_view> beginnings);

}  // namespace tessera
