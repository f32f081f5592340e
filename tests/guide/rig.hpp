#pragma once
// What the tests made from a document's blocks run on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tessera/front_end.hpp"
#include "tessera/machine.hpp"
#include "tessera/tessera.hpp"

namespace tessera::guide {

/// Runs a program and compares what it prints; null: nothing is compared.
inline void run(const std::function<int()>& program, const char* expected) {
  ::testing::internal::CaptureStdout();
  int result = -1;
  try {
    result = program();
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what();
  }
  std::fflush(stdout);
  const std::string printed = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(result, 0);
  if (expected != nullptr) {
    EXPECT_EQ(printed, expected);
  }
}

/// Runs the body of a function on the host alone, and on the host with two simulated devices, with one and two workers.
inline void run_on_all_machines(void (*body)(runtime&), const char* expected) {
  const char* const machines[] = {
      "[runtime]\nworkers = 1\nplugins = [\"host\"]\n", "[runtime]\nworkers = 2\nplugins = [\"host\"]\n",
      "[runtime]\nworkers = 2\nplugins = [\"host\", \"sim\"]\n[plugin.sim]\nclock = \"real\"\n"
      "[[plugin.sim.device]]\nmemory = \"64 MiB\"\n[[plugin.sim.device]]\nmemory = \"32 MiB\"\n"};
  for (const char* const toml : machines) {
    SCOPED_TRACE(toml);
    run(
        [&] {
          runtime rt(hierarchy::assemble(config::document::parse(toml)));
          body(rt);
          return 0;
        },
        expected);
  }
}

}  // namespace tessera::guide
