#pragma once
// The flags that a build gives its compiler, for Clang to read a source as that compiler does.
#include <string>
#include <vector>

namespace tessera::directive {

/// Those that Clang gets, and those that are another compiler's own.
struct build_flags {
  std::vector<std::string> known, unknown;
};

/// Reads a file with one flag a line; `SHELL:-a b`, as CMake writes it, is two. Without those for warnings: the
/// compiler of the translation tells them. OpenMP stays off, so that its pragmas are what they are to the translation:
/// none; its macro is there. Throws tessera::error where the file cannot be read.
build_flags read_build_flags(const std::string& file);

}  // namespace tessera::directive
