#pragma once
// Runtimes that validate, and what they find.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "../runtime/machines.hpp"

namespace tessera::testing {

inline machine validating(machine m) {
  m.settings.validate = true;
  return m;
}

/// The whole text of the error that a fence throws; "" when it throws nothing.
inline std::string fence_text(runtime& rt) {
  try {
    rt.fence();
    return "";
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::validation) << e.what();
    EXPECT_EQ(exit_code_of(e.kind()), 10);
    return e.what();
  }
}

/// "file.cpp:17" for a line of a test.
inline std::string at(const char* file, int line) {
  const std::string path = file;
  return path.substr(path.rfind('/') + 1) + ":" + std::to_string(line);
}

}  // namespace tessera::testing
