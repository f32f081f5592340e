#pragma once
// Where the program called: places in errors.
#include <source_location>
#include <string>

#include "core/base/error.hpp"

namespace tessera {

/// "main.cpp:12".
std::string file_and_line(std::source_location site);

/// The same error at a place.
[[noreturn]] void throw_at(const error& what, std::source_location site);

/// Calls a function. An error of it that names no place gets that of the call.
template <class Function>
decltype(auto) with_place(std::source_location site, Function&& function) {
  try {
    return function();
  } catch (const error& e) {
    if (!e.where().empty()) throw;
    throw_at(e, site);
  }
}

}  // namespace tessera
