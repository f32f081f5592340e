#pragma once
// The public conformance suite: does a plugin keep what tessera/plugin.h asks of it?
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/plugin/option.hpp"

namespace tessera::conformance {

/// What to check.
struct request {
  std::filesystem::path plugin;                  ///< absolute path of the shared library
  std::vector<plugin::raw_option> options = {};  ///< for its open, as the user would configure it
  std::uint64_t seed = 0;                        ///< of random shapes and contents; 0: a new one
  std::string filter = {};                       ///< only checks whose name contains this
  std::string only = {};                         ///< only the check of this name
  std::filesystem::path known_failures = {};     ///< file of known failures; empty: none
  std::filesystem::path layer = {};              ///< absolute path of a layer to put around the plugin; empty: none
  std::vector<plugin::raw_option> layer_options = {};  ///< for the layer's open
  /// Where `plugin` is a layer: absolute path of what it is put around, so that the result is checked as a device is.
  /// Empty: tessera_host.so, if that lies beside it.
  std::filesystem::path inner = {};
  std::vector<plugin::raw_option> inner_options = {};  ///< for the inner plugin's open
  /// More options, of the layer if there is one, else of the plugin, with which a device loses itself in the course of
  /// work. Empty: a host task that answers DEVICE_LOST is tried.
  std::vector<plugin::raw_option> lose_with = {};
  /// Argument bytes that an operation takes, by its name, for plugins whose operations take none of the usual ones.
  std::vector<std::pair<std::string, std::vector<unsigned char>>> arguments = {};
  /// A command line that with one more word calls run_second_process(word), such as {"/path/to/this/program",
  /// "--second"}. Empty: what takes two processes is not checked.
  std::vector<std::string> second_process = {};
  /// Checks that others rely on run first though they were not asked for; told where they fail.
  bool foundations_first = true;
  /// How long a check waits for what must come, such as a callback. Half of the time limit, if that is less.
  std::chrono::milliseconds patience{60'000};
  /// A check may take so long; 0: as long as it likes. A plugin that hangs cannot be ended alone: see
  /// listener::does_not_return.
  std::chrono::seconds time_limit{0};
};

enum class outcome : std::uint8_t {
  passed,
  failed,
  skipped,        ///< the plugin does not offer what the check is about, or the check found nothing to look at
  known_failure,  ///< failed, and a line of the known failures that has not expired says so
  not_run         ///< the message says why, but where the plugin cannot be opened: there the result "open" does
};

/// One check's result.
struct result {
  std::string name;  ///< "copies.every_pair"
  outcome how;
  std::string message;  ///< why it failed or was skipped; one or a few sentences
  double seconds;
};

struct report {
  std::string plugin, version;  ///< from the header; "" when the file was refused
  std::uint64_t seed = 0;
  std::vector<result> results;     ///< in the order of running
  bool foundations_stand = false;  ///< all checks that others rely on have run, and none has failed
  /// No check failed (known failures do not count).
  bool passed() const;
  std::size_t count(outcome how) const;
};

/// The word for an outcome ("known failure").
const char* name_of(outcome how) noexcept;

/// Hears of a run of the suite. What is empty is not called.
struct listener {
  std::function<void(const char* name)> begins = {};  ///< before each check
  std::function<void(const result& of)> ended = {};   ///< after each
  /// A check has taken longer than the limit, or the plugin has ended its thread: its failure is the last result that
  /// is one; behind it are those that did not run.
  /// Called on any thread; does not return (the process ends).
  std::function<void(const report& so_far)> does_not_return = {};
};

/// Runs the checks that are about plugins of this kind; of a layer also those of what it is put around, as it looks
/// through the layer. A file that is refused gives one failed result, "load"; a plugin that cannot be opened one,
/// "open", and its checks are not run. Never throws for what a plugin does; a plugin that crashes takes the process
/// with it, and standard error names the check.
report run(const request& what, const listener& tells = {});

/// Throws tessera::error (input) where a file of known failures cannot be read, or has a line that is none.
void require_known_failures(const std::filesystem::path& file);

/// The part of a second process of the same program, which the suite starts: `order` is the path of a file of its own.
/// 0, or 1 and what went wrong on standard output.
int run_second_process(const std::filesystem::path& order);

/// The names of all checks, in the order of running.
std::vector<std::string> names();
/// Of those that `run` would run; of all, where the file is refused.
std::vector<std::string> names(const request& what);

/// {"plugin", "version", "seed", "passed", "failed", "skipped", "known_failures", "not_run", "results": [{"name",
/// "outcome", "message", "seconds"}]}
std::string to_json(const report& done);

}  // namespace tessera::conformance
