#pragma once
// The one list of keys: names, types, limits, documentation, and the member each one sets.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/config/settings.hpp"
#include "core/config/value.hpp"

namespace tessera::config {

enum class key_type : std::uint8_t {
  boolean,
  integer,
  size,      ///< bytes; "64 MiB" or an integer
  duration,  ///< nanoseconds inside; "50 us" outside
  text,
  text_list
};
/// "a size such as \"64 MiB\" or a number of bytes", for messages and documentation.
std::string_view description_of(key_type type) noexcept;

/// The member that a key sets.
using field = std::variant<bool*, std::uint32_t*, std::uint64_t*, std::string*, std::vector<std::string>*>;

/// One key of the configuration.
struct key {
  std::string_view section, name;
  key_type type;
  std::uint64_t minimum, maximum;  ///< inclusive, for numbers
  std::string_view choices;  ///< "eager|locality|plugin:*"; of a path: the words that may stand for one; "": anything
  bool is_path;              ///< text: relative to the file that says it
  std::string_view doc;      ///< one sentence
  field (*member)(settings&);
  std::string_view short_variable = {};  ///< "TESSERA_REPORT", beside environment_variable(); "": none

  std::vector<std::string> words() const;    ///< the choices one by one
  std::string full_name() const;             ///< "runtime.workers"
  std::string environment_variable() const;  ///< "TESSERA_RUNTIME_WORKERS"
};

/// Every key, in the order of the documentation.
std::span<const key> schema() noexcept;

/// Sections that are tables of keys of the schema: runtime, memory, topology, region.
std::vector<std::string> sections();

const key* find_key(std::string_view section, std::string_view name) noexcept;

/// Sets a key from a value of a file. Throws tessera::error (kind configuration) for a wrong type, a number out of
/// range or a word that is not among the choices; the place is the value's.
void assign(settings& to, const key& k, const value& from);

/// Sets a key from text (environment, command line): "4", "64 MiB", "true", "host,sim" or ["host", "sim"].
void assign_text(settings& to, const key& k, std::string_view text, const std::string& where);

/// The key's present value, as one would write it in a file: 4, "64 MiB", ["host", "sim"].
std::string show(const settings& from, const key& k);

}  // namespace tessera::config
