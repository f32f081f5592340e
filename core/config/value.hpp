#pragma once
// A configuration value as it was written, with its place. What the TOML reader produces.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tessera::config {

struct value;
using array = std::vector<value>;
/// Members in the order in which they were written.
using table = std::vector<std::pair<std::string, value>>;

/// One value. `where` is the place of its key (of the value itself inside arrays): "laptop.toml:3:1".
struct value {
  std::variant<bool, std::int64_t, double, std::string, array, table> is;
  std::string where;

  template <typename type>
  const type* get() const noexcept {
    return std::get_if<type>(&is);
  }
  /// "a table", "an integer", for messages.
  std::string_view type_name() const noexcept;
};

}  // namespace tessera::config
