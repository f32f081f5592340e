#pragma once
// What a call throws, for tests that read messages.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "core/base/error.hpp"

namespace tessera::test_support {

/// The error that a function throws; fails the test when it throws none.
template <class Function>
error error_of(Function&& function) {
  try {
    std::forward<Function>(function)();
  } catch (const error& e) {
    return e;
  }
  ADD_FAILURE() << "no error was thrown";
  return error(error_kind::internal, "none");
}

/// The text of the error of this kind that a function throws; fails the test when it throws none, or another.
template <class Function>
std::string message_of(Function&& run, error_kind kind = error_kind::configuration) {
  const error e = error_of(std::forward<Function>(run));
  EXPECT_EQ(e.kind(), kind) << e.what();
  return e.what();
}

}  // namespace tessera::test_support
