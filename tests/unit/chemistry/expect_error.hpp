#pragma once
// What an error of a wrong input says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <regex>
#include <string>

#include "core/base/error.hpp"

namespace tessera::chemistry {

/// A place in a JSON text, of which the line and the column are left out: "a.json: molecule.real".
inline testing::Matcher<std::string> json_place(const std::string& path) {
  return testing::ResultOf(
      [](const std::string& where) { return std::regex_replace(where, std::regex(":[0-9]+:[0-9]+"), ""); },
      testing::Eq(path));
}

/// Expects an error of kind input whose place is `where` and whose message and hint hold these parts.
inline void expect_refused(const std::function<void()>& action, const std::string& message,
                           const testing::Matcher<std::string>& where, const std::string& hint = {}) {
  try {
    action();
    ADD_FAILURE() << "it was taken";
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::input);
    EXPECT_THAT(e.message(), testing::HasSubstr(message));
    EXPECT_THAT(e.where(), where);
    EXPECT_THAT(e.hint(), testing::HasSubstr(hint));
  }
}

/// A text that is refused.
struct wrong_text {
  const char* name;
  std::string text;
  const char* message;  ///< a part of what is said
  const char* where;    ///< line and column
  const char* hint = "";
};
inline void PrintTo(const wrong_text& one, std::ostream* out) { *out << one.name; }

}  // namespace tessera::chemistry
