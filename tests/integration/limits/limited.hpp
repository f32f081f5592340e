#pragma once
// The built `tessera` under a limit that a shell sets before it becomes the program.
#include <string>

namespace limits_test {

/// How it ended and what it wrote.
struct outcome {
  int code = -1;  ///< exit code; 1000 + signal number; 1009 (SIGKILL) also when it had to be ended after two minutes
  std::string text;
};

/// Runs `tessera arguments` behind the shell's commands `before`, for example "ulimit -v 300000".
outcome run_behind(const std::string& before, const std::string& arguments);

}  // namespace limits_test
