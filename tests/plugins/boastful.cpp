// A LAYER plugin that states limits which its device does not have, named by the option `about`:
//   allocations  max_allocation is twice what can be had
//   copies       max_copy is half of what is copied at once
//   streams      max_streams is twice what can live
//   lengths      host_work looks at no lengths
#include <tessera/plugin.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#ifndef TSR_BUILD_SANITIZER
#define TSR_BUILD_SANITIZER TSR_SANITIZER_NONE
#endif

namespace {

const tsr_plugin_header* inner_header = nullptr;
tsr_plugin_header outer_header;
tsr_plugin_table inner, outer;
tsr_device_table device_table;
tsr_status (*inner_host_work)(tsr_device*, tsr_stream*, const tsr_host_work*) = nullptr;
std::string about;

template <class Table>
Table copy_of(const Table* given) {
  Table made{};
  std::memcpy(&made, given, given->struct_size < sizeof made ? given->struct_size : sizeof made);
  made.struct_size = sizeof made;
  return made;
}

tsr_status enumerate(tsr_plugin* plugin, std::uint32_t index, tsr_device_desc* out, std::uint32_t* count) {
  const tsr_status status = inner.enumerate(plugin, index, out, count);
  if (status != TSR_OK || !TSR_HAS(tsr_device_desc, out, max_copy)) return status;
  if (about == "allocations") out->max_allocation *= 2;
  if (about == "copies") out->max_copy /= 2;
  if (about == "streams") out->max_streams *= 2;
  return status;
}

tsr_status host_work(tsr_device* device, tsr_stream* stream, const tsr_host_work* given) {
  tsr_host_work work = *given;
  const std::vector<std::uint64_t> nothing(work.range_count, 0);
  if (work.range_bytes != nullptr) work.range_bytes = nothing.data();
  return inner_host_work(device, stream, &work);
}

tsr_status device_open(tsr_plugin* plugin, std::uint32_t index, tsr_device** out_device,
                       const tsr_device_table** out_table) {
  const tsr_device_table* given = nullptr;
  if (const tsr_status status = inner.device_open(plugin, index, out_device, &given)) return status;
  device_table = copy_of(given);
  inner_host_work = device_table.host_work;
  if (about == "lengths") device_table.host_work = host_work;
  *out_table = &device_table;
  return TSR_OK;
}

tsr_status open_wrapped(const tsr_host* host, const tsr_option_value* values, std::uint32_t count,
                        tsr_plugin** out_plugin, const void** out_table) {
  const void* table = nullptr;
  if (const tsr_status status = inner_header->open(host, values, count, out_plugin, &table)) return status;
  inner = outer = copy_of(static_cast<const tsr_plugin_table*>(table));
  outer.enumerate = enumerate;
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

tsr_status open_layer(const tsr_host*, const tsr_option_value* values, std::uint32_t count, tsr_plugin** out_plugin,
                      const void** out_table) {
  static int token;
  about.clear();
  for (std::uint32_t k = 0; k < count; ++k)
    if (std::strcmp(values[k].name, "about") == 0) about = values[k].text;
  *out_plugin = reinterpret_cast<tsr_plugin*>(&token);
  *out_table = &table;
  return TSR_OK;
}

}  // namespace

extern "C" TSR_EXPORT const tsr_plugin_header* tsr_plugin_query(std::uint32_t, std::uint32_t) {
  static const tsr_option options[] = {
      {sizeof(tsr_option), TSR_OPTION_STRING, "about", "", 0, 0, nullptr, "What is not true; nothing: all is."}};
  static const tsr_plugin_header header = [] {
    tsr_plugin_header made{};
    made.struct_size = sizeof made;
    made.abi_major = TSR_ABI_MAJOR;
    made.abi_minor = TSR_ABI_MINOR;
    made.kind = TSR_PLUGIN_LAYER;
    made.sanitizer = TSR_BUILD_SANITIZER;
    made.name = "boastful";
    made.options = options;
    made.option_count = 1;
    made.open = open_layer;
    return made;
  }();
  return &header;
}
