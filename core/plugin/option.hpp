#pragma once
// Options of plugins: what a plugin publishes, what the user wrote, and the check of one against the other.
#include <tessera/plugin.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tessera::plugin {

/// A plugin's option, copied out of its header.
struct option_schema {
  std::string name;  ///< dotted path; "[]" marks an array of tables
  tsr_option_type type;
  std::optional<std::string> default_text;
  double min_value, max_value;
  std::vector<std::string> choices;
  std::string doc;
};

/// What the user wrote, flattened: "device[1].memory" = "64 MiB".
struct raw_option {
  /// Concrete indices. The bare name of a table ("device[1]", any value) says that the table exists, for those without
  /// keys.
  std::string name;
  std::variant<bool, std::int64_t, double, std::string> value;
  std::string where;  ///< "laptop.toml:12:3", "environment TESSERA_…", "command line"
};

/// A checked value, ready for tsr_option_value.
struct option_value {
  std::string name;
  tsr_option_type type;
  std::int64_t integer = 0;
  double number = 0;
  std::string text;
};

/// The options that exist with these values, by their whole names: those outside arrays, and inside an array of tables
/// those of each table that exists. Pointers into `schema`; in its order.
std::vector<std::pair<std::string, const option_schema*>> existing_options(const std::vector<option_schema>& schema,
                                                                           const std::vector<raw_option>& values);

/// Checks the user's values against a schema and fills in defaults (outside arrays always; inside an array of tables
/// for each table that exists). Throws tessera::error (kind configuration) for an unknown name (with the nearest one),
/// a wrong type, a value out of range or not among the choices; `where` is the value's place. A text is read for every
/// type ("64 MiB", "true"), because the environment has nothing else.
std::vector<option_value> check_options(const std::string& plugin, const std::vector<option_schema>& schema,
                                        const std::vector<raw_option>& values);

}  // namespace tessera::plugin
