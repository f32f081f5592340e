#pragma once
// Results that would go over each other, or over what the command reads. This is the one place that decides it.
#include <string>
#include <string_view>

#include "apps/common/options.hpp"

namespace tessera::apps {

/// Throws tessera::error (usage) when the chosen command would write two results to one file or both to standard
/// output, or one to a file that its command line names for reading, under any of their names.
void require_files_apart(const command_table& program);

/// The same for a file that the command line does not name, such as one that another file names. A command calls it
/// before it writes anything. @param of  the command  @param who  has to do with it: "the
/// configuration" @param does  and how
void require_not_written(const command_table& of, const std::string& path, const std::string& who,
                         std::string_view does = "reads");

/// The same for a file that the command writes, and that its command line does not name. @param writer  what names it:
/// "the key molden"
void require_written_apart(const command_table& of, const std::string& path, const std::string& writer);

}  // namespace tessera::apps
