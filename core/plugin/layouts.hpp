#pragma once
// How the structs of tessera/plugin.h lie in memory here, for languages that do not read C.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::plugin {

struct field_layout {
  std::string_view name;
  std::size_t offset, bytes;
  std::uint32_t since;  ///< minor version of ABI 1
  std::string
      type;  ///< as C spells it, with integers for the header's names of enumerations: "uint32_t", "const tsr_address*"
};

struct struct_layout {
  std::string_view name;
  std::size_t bytes, alignment;
  std::uint32_t since;
  std::vector<field_layout> fields;  ///< in the header's order
};

struct constant_value {
  std::string_view name;
  std::int64_t value;
  std::uint32_t since;
};

/// Of the header that this program was built with, in its order; compiled from it. Constants are the enumerators and
/// the macros that are numbers.
std::vector<struct_layout> struct_layouts();
std::vector<constant_value> constant_values();

}  // namespace tessera::plugin
