#pragma once
// Where the program called: places in errors.
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace tessera {

/// "main.cpp:12".
std::string file_and_line(std::source_location site);

/// What is wrong with a call that would wait for views of its own thread: "fence while this thread holds host views of
/// 1 block". @param blocks  those of the views; a view of an array may have several
std::string while_holding_views(std::string_view call, std::uint64_t blocks);

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
