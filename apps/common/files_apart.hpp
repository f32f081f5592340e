#pragma once
// Results that would go over each other, or over what the command reads. This is the one place that decides it.
#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): the name of the library
class App;
}

namespace tessera::apps {

/// Throws tessera::error (usage) when the chosen command would write two results to one file or both to standard
/// output, or one to a file that its command line names for reading, under any of their names.
void require_files_apart(const CLI::App& app);

/// The same for a file that the command line does not name, such as one that another file names. A command calls it
/// before it writes anything. @param of  the command  @param reader  what reads it: "the configuration"
void require_not_written(const CLI::App& of, const std::string& path, const std::string& reader);

}  // namespace tessera::apps
