#pragma once
// A configuration value as it was written, with its place. What the TOML reader produces.
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tessera::config {

struct value;
struct named_value;
using array = std::vector<value>;
/// Members in the order in which they were written.
using table = std::vector<named_value>;

/// One value. `where` is the place of its key (of the value itself inside arrays): "laptop.toml:3:1".
struct value {
  std::variant<bool, std::int64_t, double, std::string, array, table> content;
  std::string where;

  template <typename type>
  const type* get() const noexcept {
    return std::get_if<type>(&content);
  }
  /// "a table", "an integer", for messages.
  std::string_view type_name() const noexcept;
};

/// A member of a table. Not a std::pair: Clang would have to know a pair's constructors while `value` is incomplete.
struct named_value {
  std::string name;
  tessera::config::value value;
};

}  // namespace tessera::config
