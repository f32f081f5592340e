#pragma once
// What all options ask of their values, whatever the option is.

namespace CLI {  // NOLINT(readability-identifier-naming): the name of the library
class App;
}

namespace tessera::cli {

/// Lets every option and argument of all commands refuse an empty value (an unset variable of a shell), and those that
/// take numbers whatever is not written in decimal digits, or does not fit. Before the command line is parsed, when all
/// commands are there.
void require_plain_values(CLI::App& app);

/// Throws tessera::error (usage) for a list with nothing between two commas. After the command line was parsed.
void require_whole_lists(const CLI::App& app, int argc, const char* const* argv);

}  // namespace tessera::cli
