#pragma once
// The option values given to a plugin's open, by name.
#include <tessera/plugin.h>

#include <cstdint>
#include <optional>
#include <string>

namespace tessera::kit {

/// Reads the checked values that the host gave to open. Holds no copy: use it inside open only. An absent option
/// answers with the fallback, so that a plugin also works under a host that passes no defaults.
class option_reader {
 public:
  option_reader(const tsr_option_value* values, std::uint32_t count) noexcept : m_values(values), m_count(count) {}

  bool flag(const std::string& name, bool fallback) const noexcept;
  std::int64_t integer(const std::string& name, std::int64_t fallback) const noexcept;  ///< INT, BYTES, DURATION
  double number(const std::string& name, double fallback) const noexcept;               ///< FLOAT, RATE
  std::string text(const std::string& name, const std::string& fallback) const;
  bool has(const std::string& name) const noexcept { return find(name) != nullptr; }

  /// How many tables `array` has: one more than the largest index in "array[index].…"; 0 when there is none.
  std::size_t tables(const std::string& array) const;

 private:
  /// Values lie as far apart as the first one says: the host may know more of the struct (rule R1).
  const tsr_option_value& value(std::uint32_t i) const noexcept;
  const tsr_option_value* find(const std::string& name) const noexcept;
  const tsr_option_value* m_values;
  std::uint32_t m_count;
};

}  // namespace tessera::kit
