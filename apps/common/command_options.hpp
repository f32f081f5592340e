#pragma once
// Options that every command understands.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/options.hpp"
#include "core/config/document.hpp"

namespace tessera::apps {

/// Filled by the command line.
struct command_options {
  std::vector<std::string> config;       ///< --config FILE, in order
  std::vector<std::string> set;          ///< --set section.key=value
  std::optional<std::uint32_t> workers;  ///< --workers N
  std::uint64_t seed = 1;                ///< --seed N
  std::string json;                      ///< --json FILE; "-": standard output; "": none
  std::string trace;                     ///< --trace FILE; "": none
  std::string report;                    ///< --report FILE; "": none
  bool stats = false, quiet = false, validate = false;
  std::string command;                ///< its words: "gemm", "sial run"; set by add_run_options
  const command_table* of = nullptr;  ///< the command; set by add_machine_options
  /// What was read of configurations that can be read once, such as pipes; all copies share it.
  std::shared_ptr<std::map<std::string, std::string>> pipes = std::make_shared<std::map<std::string, std::string>>();

  /// Adds --config and --set: what every command that looks at a machine has.
  void add_machine_options(command_table& to);
  /// Adds the above, --workers, --seed, --json, --trace, --report, --validate, --stats and --quiet.
  void add_run_options(command_table& to);

  /// Reads and checks the configuration. Throws tessera::error (configuration), and (usage) when the command would
  /// write over a file that the configuration consists of or names.
  config::document load() const;
  /// Whether the configuration names plugins other than those of host memory and disks.
  bool has_devices() const;
  /// What runtime.report, trace_file and stats ask for becomes the command's own, which tells more, unless an option
  /// asks for the same. Turns recording on where there is a file. Throws tessera::error (configuration) for one that
  /// cannot be written.
  void take_files(config::runtime_settings& settings);
  /// The same options, where tasks go to the place that is done first unless the user says how they are placed.
  command_options placed_by_cost() const;
};

/// Throws tessera::error (usage) with the system's reason when a file cannot be written. Changes nothing.
void require_writable(const std::string& path);

/// Writes text to a file, whole or not at all (core/base/whole_file.hpp), or to standard output for "-". Throws
/// tessera::error with the system's reason: usage where require_writable does, else output.
void write_text(const std::string& path, const std::string& text);

/// A result that a command writes.
struct result_file {
  std::string path;                   ///< "-": standard output; "": nowhere
  std::function<std::string()> text;  ///< makes it, when it is written
};

/// Writes results, the files before what goes to standard output. Those behind one that cannot be written are written
/// nevertheless; then the first failure is thrown.
void write_results(const std::vector<result_file>& results);

/// Where a text goes that --json - replaces: standard output, or nowhere.
inline std::string unless_json(const std::string& json) { return json == "-" ? "" : "-"; }

/// Throws tessera::error (output) when what was printed on standard output did not get there.
void flush_output();

}  // namespace tessera::apps
