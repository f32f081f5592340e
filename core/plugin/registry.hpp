#pragma once
// Finds plugin files, loads and opens them, keeps the devices.
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/plugin/device.hpp"
#include "core/plugin/option.hpp"

namespace tessera::plugin {

/// Why a file is or is not in use. One per file looked at, in the order in which they were seen.
struct file_report {
  enum class state : std::uint8_t {
    opened,       ///< loaded, opened, its devices are usable
    unavailable,  ///< a sound plugin that cannot serve this machine (probe said 0, no device): quiet
    not_wanted,   ///< not in the list of wanted plugins; not loaded
    refused,      ///< could not be loaded or trusted: always shown
    available,    ///< survey only: wanted, loads, and says that it can run here; not opened
    hangs,        ///< survey only: its probe did not answer in time; the thread that asked is left alone
    shadowed      ///< another file has a plugin of the same name and is used: `instead`
  };
  std::filesystem::path path;
  state outcome;
  std::string name;                    ///< the plugin's own name; "" when it never got that far
  std::string reason;                  ///< one sentence; for refused: what is wrong and what to do
  std::filesystem::path instead = {};  ///< for shadowed
};

/// What the registry should do. Filled by the configuration.
struct registry_options {
  std::vector<std::filesystem::path> directories = {};  ///< absolute; searched in order, first file of a name wins
  /// Names ("host", "sim") or absolute paths of files, in open order. A '?' at the end ("cuda?") means that the plugin
  /// may be absent, unable to run here, or unfit; without it that is an error.
  std::vector<std::string> wanted = {};
  std::vector<std::pair<std::string, std::string>> layers =
      {};  ///< layer's name -> plugin that it wraps, innermost first
  std::vector<std::pair<std::string, std::string>> sha256 = {};  ///< plugin name -> expected checksum of its file
  std::vector<std::uint64_t> cpu_mask = {};                      ///< given to plugins
  /// Options of a plugin from the user's configuration, not yet checked; called once per opened plugin.
  std::function<std::vector<raw_option>(const std::string& plugin)> options = {};
  std::function<void(int level, const std::string& line)> log = {};  ///< may be empty
  /// Where plugins lie when the user names no directories; a hint looks there for one that was not found.
  std::vector<std::filesystem::path> usual_directories = {};
  /// For one call of a plugin while it is opened: see call_watch; 0: without end
  std::chrono::nanoseconds patience{0};
  std::chrono::milliseconds probe_limit{5000};  ///< for one probe of `survey` and `describe`
};

/// What a program does when a call of a plugin is given up, on a thread of ours, with an error that names plugin and
/// call. A program for the command line ends; without this, or when `act` returns, one goes on waiting. For the whole
/// process; to be set before the first runtime.
void when_given_up(std::function<void(const error& why)> act);

/// Owns the opened plugins and devices; closes devices and shuts plugins down on destruction, never unloads a library.
/// Not copyable. Construction throws tessera::error (kind plugin) when a wanted plugin is refused or not found; options
/// errors are of kind configuration and carry file, line, column.
class registry {
 public:
  explicit registry(registry_options options);
  /// A registry of devices that the program made itself; nothing is looked for or opened. `name`: of their plugin.
  /// Whoever made them closes what is behind their handles, after the registry is gone.
  registry(std::vector<std::unique_ptr<device>> devices, const std::string& name, const std::string& version);
  ~registry();
  registry(const registry&) = delete;
  registry& operator=(const registry&) = delete;

  const std::vector<std::unique_ptr<device>>& devices() const noexcept;
  const std::vector<file_report>& files() const noexcept;

  /// Opened plugins in the order of opening, with what their headers say.
  struct opened_plugin {
    std::string name, vendor, version, build, kind;
    std::filesystem::path path;
    std::uint32_t abi_major, abi_minor;
    std::vector<option_schema> options;
    std::string absent;  ///< why it cannot serve this machine, as its probe says; only what `describe` returns has it
    std::vector<option_value> values = {};  ///< what it was opened with, defaults too; `describe` has none
    /// The text of an option that has one; "": it was not set.
    std::string text_of(std::string_view option) const;
  };
  const std::vector<opened_plugin>& plugins() const noexcept;

  /// Nothing is closed or shut down any more: work that never ends uses the devices. They stay as they are until the
  /// process ends.
  void abandon() noexcept { m_abandoned = true; }

  /// A plugin of operations; valid as long as the registry.
  struct operations_plugin {
    std::string name;
    tsr_plugin* handle;
    const tsr_host* host;                   ///< to be passed to the operations
    std::vector<tsr_operation> operations;  ///< completed copies; the strings are the plugin's
  };
  const std::vector<operations_plugin>& operations_tables() const noexcept;

  /// A plugin that places tasks; valid as long as the registry.
  struct policy_plugin {
    std::string name;
    tsr_plugin* handle;
    tsr_policy_table table;
  };
  const std::vector<policy_plugin>& policy_tables() const noexcept;

  /// Looks at every file of the directories without opening any (for `tessera plugins`); never throws for a bad file.
  /// Loads and probes each; `not_wanted` then means sound but not in the list of wanted plugins.
  static std::vector<file_report> survey(const registry_options& options);

  /// What the header of the plugin `name` (or of the file at an absolute path) says, without opening it (for
  /// `tessera plugins explain`). Throws tessera::error (kind plugin) when there is none or it is refused.
  static opened_plugin describe(const registry_options& options, const std::string& name);

 private:
  struct implementation;
  std::unique_ptr<implementation> m_implementation;
  bool m_abandoned = false;
};

}  // namespace tessera::plugin
