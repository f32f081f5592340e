#pragma once
// Which file is the plugin that the user named.
#include <chrono>
#include <string>
#include <vector>

#include "core/plugin/loaded_plugin.hpp"
#include "core/plugin/registry.hpp"

namespace tessera::plugin {

/// One search over the configured directories. Loads as few files as the rules in README.md allow, and keeps a report
/// on every file. Refers to the options, which must outlive it. Not thread-safe.
class search {
 public:
  explicit search(const registry_options& options, purpose why = purpose::use);

  /// Loads the plugin called `wanted` (a name or an absolute path). Throws tessera::error (kind plugin) when its file
  /// is refused, no_such_plugin when there is none.
  loaded_plugin find(const std::string& wanted);

  /// Loads every file and reports what became of it (see registry::survey).
  void survey();

  /// What became of the file of a plugin found before.
  void report(const std::filesystem::path& path, file_report::state outcome, std::string name, std::string reason);

  file_report::state outcome_of(const std::filesystem::path& path) { return at(path).report.outcome; }

  /// One report per file, with a reason for those that were never needed.
  std::vector<file_report> reports() const;

 private:
  struct candidate {
    file_report report;
    std::string promised;  // by the file's name
    bool looked = false;
    std::vector<loaded_plugin> loaded;  // one or none
  };
  void add_directory(const std::filesystem::path& directory);
  candidate& at(const std::filesystem::path& path);
  bool look(candidate& file);
  std::string left_out_hint(const std::string& wanted) const;

  const registry_options& m_options;
  purpose m_why;
  std::vector<candidate> m_files;
};

/// There is no plugin of that name, and no file that might have been it was refused.
struct no_such_plugin : error {
  using error::error;
};

/// "cuda?" means that the plugin may be absent: its plain name, and whether it had the mark.
struct wish {
  std::string name;
  bool optional;
};
wish wish_of(const std::string& wanted);

/// What is said of a plugin whose probe takes longer than `limit`.
std::string no_answer(std::chrono::milliseconds limit);

}  // namespace tessera::plugin
