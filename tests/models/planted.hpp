#pragma once
// For tests that explore a piece of the core: all executions are right, and each planted fault is found.
#include <gtest/gtest.h>

#include <functional>

#include "tests/models/explorer.hpp"

namespace tessera::models {

/// All executions are right.
inline void expect_right(const std::function<void(scenario&)>& make) {
  const report result = explore(make);
  EXPECT_TRUE(result) << result.failure << "\nexecutions: " << result.executions;
  ::testing::Test::RecordProperty("executions", std::to_string(result.executions));
  std::printf("%llu executions\n", static_cast<unsigned long long>(result.executions));
}

/// With this operation weakened, some execution fails, and for this reason.
inline void expect_found(const std::function<void(scenario&)>& make, const weakening& fault, std::string_view why) {
  const report result = explore(make, {.planted = {fault}});
  EXPECT_GT(result.weakened, 0u) << "no such operation in " << fault.function;
  EXPECT_NE(result.failure.find(why), std::string::npos)
      << "weakened in " << fault.function << ": " << (result.failure.empty() ? "not found" : result.failure);
}

}  // namespace tessera::models
