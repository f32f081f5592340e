// A LAYER plugin that throws a C++ exception out of one entry of the device table, against rule R4: `out_of` names it, `at` says at which
// call, counted from 1 over all devices.
#include <tessera/plugin.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>

#ifndef TSR_BUILD_SANITIZER
#define TSR_BUILD_SANITIZER TSR_SANITIZER_NONE
#endif

namespace {

const tsr_plugin_header* inner_header = nullptr;
tsr_plugin_header outer_header;
tsr_plugin_table inner, outer;
tsr_device_table inner_device, outer_device;  // all devices of a plugin that this is tested with have the same
std::string out_of;
std::int64_t at = 1;
std::atomic<std::int64_t> calls{0};

template <class Table>
Table copy_of(const Table* given) {
  Table made{};
  std::memcpy(&made, given, given->struct_size < sizeof made ? given->struct_size : sizeof made);
  made.struct_size = sizeof made;
  return made;
}

template <auto Member, class Entry>
struct throwing;
template <auto Member, class... Arguments>
struct throwing<Member, tsr_status (*)(tsr_device*, Arguments...)> {
  static tsr_status run(tsr_device* device, Arguments... arguments) {
    if (calls.fetch_add(1) + 1 == at) throw std::runtime_error("forty-two is not a prime");
    return (inner_device.*Member)(device, arguments...);
  }
};

template <auto Member>
void throw_out_of(const char* name) {
  if (out_of == name) outer_device.*Member = throwing<Member, std::remove_reference_t<decltype(inner_device.*Member)>>::run;
}

tsr_status device_open(tsr_plugin* plugin, std::uint32_t index, tsr_device** out_device, const tsr_device_table** out_table) {
  using t = tsr_device_table;
  const tsr_device_table* given = nullptr;
  if (const tsr_status status = inner.device_open(plugin, index, out_device, &given)) return status;
  inner_device = outer_device = copy_of(given);
  throw_out_of<&t::link>("link");
  throw_out_of<&t::mem_alloc>("mem_alloc");
  throw_out_of<&t::mem_free>("mem_free");
  throw_out_of<&t::stream_create>("stream_create");
  throw_out_of<&t::stream_destroy>("stream_destroy");
  throw_out_of<&t::stream_signal>("stream_signal");
  throw_out_of<&t::stream_progress>("stream_progress");
  throw_out_of<&t::stream_wait>("stream_wait");
  throw_out_of<&t::stream_callback>("stream_callback");
  throw_out_of<&t::copy>("copy");
  throw_out_of<&t::fill>("fill");
  throw_out_of<&t::host_register>("host_register");
  *out_table = &outer_device;
  return TSR_OK;
}

tsr_status open_wrapped(const tsr_host* host, const tsr_option_value* values, std::uint32_t count, tsr_plugin** out_plugin,
                        const void** out_table) {
  const void* table = nullptr;
  if (const tsr_status status = inner_header->open(host, values, count, out_plugin, &table)) return status;
  inner = outer = copy_of(static_cast<const tsr_plugin_table*>(table));
  outer.device_open = device_open;
  *out_table = &outer;
  return TSR_OK;
}

const tsr_plugin_header* wrap(const tsr_plugin_header* given) {
  if (given->kind != TSR_PLUGIN_DEVICE) return nullptr;
  inner_header = given;
  outer_header = copy_of(given);
  outer_header.open = open_wrapped;
  return &outer_header;
}

constexpr tsr_layer_table table = {sizeof(tsr_layer_table), wrap};

tsr_status open_layer(const tsr_host*, const tsr_option_value* values, std::uint32_t count, tsr_plugin** out_plugin, const void** out_table) {
  static int token;
  calls = 0;
  for (std::uint32_t k = 0; k < count; ++k) {
    if (std::strcmp(values[k].name, "out_of") == 0) out_of = values[k].text;
    if (std::strcmp(values[k].name, "at") == 0) at = values[k].integer;
  }
  *out_plugin = reinterpret_cast<tsr_plugin*>(&token);
  *out_table = &table;
  return TSR_OK;
}

}  // namespace

extern "C" TSR_EXPORT const tsr_plugin_header* tsr_plugin_query(std::uint32_t, std::uint32_t) {
  static const tsr_option options[] = {{sizeof(tsr_option), TSR_OPTION_STRING, "out_of", "", 0, 0, nullptr, "The entry that throws."},
                                       {sizeof(tsr_option), TSR_OPTION_INT, "at", "1", 1, 1e9, nullptr, "The call that throws."}};
  static const tsr_plugin_header header = [] {
    tsr_plugin_header made{};
    made.struct_size = sizeof made;
    made.abi_major = TSR_ABI_MAJOR;
    made.abi_minor = TSR_ABI_MINOR;
    made.kind = TSR_PLUGIN_LAYER;
    made.sanitizer = TSR_BUILD_SANITIZER;
    made.name = "escaping";
    made.options = options;
    made.option_count = 2;
    made.open = open_layer;
    return made;
  }();
  return &header;
}
