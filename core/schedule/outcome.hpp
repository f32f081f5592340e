#pragma once
// What a call of the program's or of a plugin's code came to.
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/exception_text.hpp"

namespace tessera::schedule {

/// What a call has thrown, in its own words.
struct thrown {
  std::string text;
  std::string where = {};  ///< as tessera::error says it; else empty
  error_kind kind = error_kind::task;
  bool is_error = false;  ///< a tessera::error
  std::string hint = {};  ///< as tessera::error says it
};

/// Calls `function()`: nothing when it returns, else what it threw, of whatever type. The one place where exceptions of
/// tasks are caught.
template <class Function>
std::optional<thrown> thrown_by(Function&& function) {
  try {
    std::forward<Function>(function)();
    return std::nullopt;
  } catch (const error& e) {
    return thrown{e.message(), e.where(), e.kind(), true, e.hint()};
  } catch (const std::exception& e) {
    return thrown{text_of(e)};
  } catch (...) {
    return thrown{"unknown exception"};
  }
}

}  // namespace tessera::schedule
