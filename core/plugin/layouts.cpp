#include "core/plugin/layouts.hpp"

#include <tessera/plugin.h>

#include <type_traits>

namespace tessera::plugin {

std::vector<struct_layout> struct_layouts() {
  std::vector<struct_layout> all;
#define STRUCT(type, minor) all.push_back({#type, sizeof(type), alignof(type), minor, {}});
#define FIELD(type, field, minor) all.back().fields.push_back({#field, offsetof(type, field), sizeof(type::field), minor});
#define BORN(type, field, minor) FIELD(type, field, minor)
#define CONSTANT(name, minor)
#include "core/plugin/abi/contents.inc"
#undef STRUCT
#undef FIELD
#undef BORN
#undef CONSTANT
  static_assert(std::is_standard_layout_v<tsr_plugin_header> && std::is_standard_layout_v<tsr_device_desc>);
  return all;
}

std::vector<constant_value> constant_values() {
  return {
#define STRUCT(type, minor)
#define FIELD(type, field, minor)
#define BORN(type, field, minor)
#define CONSTANT(name, minor) {#name, static_cast<std::int64_t>(name), minor},
#include "core/plugin/abi/contents.inc"
#undef STRUCT
#undef FIELD
#undef BORN
#undef CONSTANT
  };
}

}  // namespace tessera::plugin
