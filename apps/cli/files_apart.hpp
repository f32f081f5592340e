#pragma once
// Files that a command line names twice.
namespace CLI {  // NOLINT(readability-identifier-naming): the name of the library
class App;
}

namespace tessera::cli {

/// Throws tessera::error (usage) when the chosen command would write two results to one file, or one to a file that it
/// reads, under any of their names.
void require_files_apart(const CLI::App& app);

}  // namespace tessera::cli
