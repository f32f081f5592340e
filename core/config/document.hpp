#pragma once
// The configuration: all layers read, checked and merged.
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/config/declarations.hpp"
#include "core/config/settings.hpp"

namespace tessera::config {

/// What a configuration is made of. Later layers win: defaults < files (in order) < environment < set < overrides.
struct sources {
  std::vector<std::filesystem::path> files;  ///< TOML; empty: the file named by TESSERA_CONFIG, if any
  std::vector<std::string> set;              ///< "section.key=value", as given to --set
  std::optional<std::uint32_t> workers;      ///< --workers
  /// Names and values to be used instead of the process's environment (tests).
  std::optional<std::vector<std::pair<std::string, std::string>>> environment;
  std::string text = {};  ///< TOML, read after the files and instead of what TESSERA_CONFIG names; "": none
  /// Reads a file; empty: from the file system.
  std::function<std::string(const std::filesystem::path&)> read = {};
};

/// One option of a plugin, flattened and not yet checked (the plugin publishes its own schema):
/// "device[1].memory" = "64 MiB".
struct plugin_value {
  std::string name;                                             ///< "device[1].memory"
  std::variant<bool, std::int64_t, double, std::string> value;  ///< as written
  std::string where;                                            ///< "laptop.toml:3:1", as in explained
};

/// [checksums]: a plugin's name and the SHA-256 its file must have (64 hexadecimal digits, lower case).
struct checksum {
  std::string plugin;  ///< its name, "sim"
  std::string sha256;  ///< 64 hexadecimal digits, lower case
  std::string where;   ///< file, line and column of the entry
};

/// One line of `explain`.
struct explained {
  std::string key;         ///< "runtime.workers", "plugin.sim.clock"
  std::string value;       ///< as one would write it in a file
  bool is_default = true;  ///< nothing set it
  std::string where;       ///< "laptop.toml:3:1", "environment TESSERA_RUNTIME_WORKERS", "command line", "default"
};

/// An immutable, checked configuration. Copyable; reading is thread-safe.
class document {
 public:
  /// The defaults.
  document() = default;

  /// Reads all layers. Throws tessera::error (kind configuration), with file, line and column where there are any, for
  /// a file that cannot be read or is not TOML, an unknown key or table (hint: the nearest name), a wrong type, a
  /// number out of range, and an unknown environment variable that looks like a key.
  static document load(const sources& from);
  /// The same with one layer of text instead of files and no environment; `name` stands for the file in messages.
  static document parse(std::string_view toml, const std::string& name = "text");

  const runtime_settings& runtime() const noexcept { return m_settings.runtime; }     ///< [runtime] and [memory]
  const topology_settings& topology() const noexcept { return m_settings.topology; }  ///< [topology]
  const region_settings& region() const noexcept { return m_settings.region; }        ///< [region]
  /// Of the TOML files, in order. Those of a CSV file are read by hierarchy/declaration; see topology().declarations.
  const declarations& declared() const noexcept { return m_declared; }
  const std::vector<checksum>& checksums() const noexcept { return m_checksums; }  ///< [checksums], in order
  /// Options for a plugin, in the order of writing; empty when there are none.
  const std::vector<plugin_value>& plugin_values(const std::string& plugin) const;
  /// Plugins that have a [plugin.NAME] table, with the table's place.
  std::vector<std::pair<std::string, std::string>> plugins_with_values() const;

  /// Where a key's value came from: "laptop.toml:3:1", "environment ...", "command line", "default".
  std::string origin(const std::string& key) const;
  /// Each key, its value and where it came from: schema keys first, then plugins, checksums and declarations.
  std::vector<explained> explain() const;

 private:
  settings m_settings;
  std::map<std::string, std::string> m_origins;  // "runtime.workers" -> place; absent: default
  struct plugin_table {
    std::string name, where;
    std::vector<plugin_value> values;
  };
  std::vector<plugin_table> m_plugins;
  std::vector<checksum> m_checksums;
  declarations m_declared;

  friend class layers;
};

/// `explain` as an aligned table, one line per key.
std::string to_text(const std::vector<explained>& lines);
/// The same as a JSON array of objects with the keys key, value, default, where.
std::string to_json(const std::vector<explained>& lines);

}  // namespace tessera::config
