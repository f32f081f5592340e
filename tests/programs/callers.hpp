#pragma once
// Which file calls which program.
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace tessera::programs {

/// Of CMake: what find_program looks for, the interpreters that find_package asks for, and what stands behind COMMAND
/// by its literal name, unless it is in `built`.
std::set<std::string> programs_of_cmake(std::string_view text, const std::set<std::string>& built);
/// Names that CMake's files give to things that are built: the first word of a call, and that behind NAME.
std::set<std::string> built_by_cmake(std::string_view text);
/// Of C and C++: what system, popen, exec and posix_spawn are given as literal text.
std::set<std::string> programs_of_source(std::string_view text);

/// Program to the files that call it, as paths from `root`: every *.sh, the scripts without an ending, every CMake
/// file, and the C++ sources. Folders called build* at the top, and hidden ones but .ci, are left out.
std::map<std::string, std::set<std::string>> programs_of_tree(const std::filesystem::path& root);

}  // namespace tessera::programs
