#include "core/plugin/layouts.hpp"

#include <tessera/plugin.h>

#include <type_traits>

namespace tessera::plugin {
namespace {

/// How C spells a type of the ABI. The names of enumerations and of tsr_status are aliases of integers, which stand
/// here instead.
template <class T>
struct spelled;

#define SPELLED(type)                           \
  template <>                                   \
  struct spelled<type> {                        \
    static std::string text() { return #type; } \
  };
SPELLED(void)
SPELLED(bool)
SPELLED(char)
SPELLED(double)
SPELLED(uint8_t)
SPELLED(int32_t)
SPELLED(uint32_t)
SPELLED(int64_t)
SPELLED(uint64_t)
SPELLED(tsr_plugin)
SPELLED(tsr_device)
SPELLED(tsr_memory)
SPELLED(tsr_stream)
SPELLED(tsr_module)
SPELLED(tsr_kernel)
SPELLED(tsr_graph)
SPELLED(tsr_sparse)
#define STRUCT(type, minor) SPELLED(type)
#define FIELD(type, field, minor)
#define BORN(type, field, minor)
#define CONSTANT(name, minor)
#include "core/plugin/abi/contents.inc"
#undef STRUCT
#undef FIELD
#undef BORN
#undef CONSTANT
#undef SPELLED

template <class T>
struct spelled<const T> {
  static std::string text() {
    return std::is_pointer_v<T> ? spelled<T>::text() + " const" : "const " + spelled<T>::text();
  }
};
template <class T>
struct spelled<T*> {
  static std::string text() { return spelled<T>::text() + "*"; }
};
template <class T, std::size_t Count>
struct spelled<T[Count]> {
  static std::string text() { return spelled<T>::text() + "[" + std::to_string(Count) + "]"; }
};
template <class T, std::size_t Count>
struct spelled<const T[Count]> {
  static std::string text() { return spelled<const T>::text() + "[" + std::to_string(Count) + "]"; }
};
template <class Result, class... Arguments>
struct spelled<Result (*)(Arguments...)> {
  static std::string text() {
    std::string list;
    ((list += (list.empty() ? "" : ", ") + spelled<Arguments>::text()), ...);
    return spelled<Result>::text() + " (*)(" + (list.empty() ? "void" : list) + ")";
  }
};

}  // namespace

std::vector<struct_layout> struct_layouts() {
  std::vector<struct_layout> all;
#define STRUCT(type, minor) all.push_back({#type, sizeof(type), alignof(type), minor, {}});
#define FIELD(type, field, minor) \
  all.back().fields.push_back(    \
      {#field, offsetof(type, field), sizeof(type::field), minor, spelled<decltype(type::field)>::text()});
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
