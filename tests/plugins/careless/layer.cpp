// The layer itself: it wraps a plugin, its devices and their tables, and lets the other files plant.
#include <cstring>

#include "tests/plugins/careless/careless.hpp"

#ifndef TSR_BUILD_SANITIZER
#define TSR_BUILD_SANITIZER TSR_SANITIZER_NONE
#endif

namespace careless {

std::string about;
const tsr_host* the_host = nullptr;
tsr_plugin_table inner;
tsr_device_table inner_device;
tsr_blas_table inner_blas;
tsr_sparse_table inner_sparse;
tsr_tensor_table inner_tensor;
std::mutex mutex;
std::vector<tsr_stream*> streams;
std::vector<tsr_device*> open_devices;

void wait_for(tsr_device* device, tsr_stream* stream) {
  tsr_ticket ticket{};
  if (inner_device.stream_signal(device, stream, &ticket) == TSR_OK)
    inner_device.stream_host_wait(device, ticket, UINT64_C(60000000000));
}

namespace {

const tsr_plugin_header* inner_header = nullptr;
tsr_plugin_header outer_header;
tsr_plugin_table outer;
tsr_device_table device_table;
tsr_blas_table blas_table;
tsr_sparse_table sparse_table;
tsr_tensor_table tensor_table;

/// Copies a table of the inner plugin, which may be of an older version.
template <class Table>
void copy_table(Table& to, const void* from) {
  const auto* const given = static_cast<const Table*>(from);
  std::memcpy(&to, given, given->struct_size < sizeof to ? given->struct_size : sizeof to);
}

tsr_status stream_create(tsr_device* device, std::uint32_t flags, tsr_stream** out) {
  const tsr_status status = inner_device.stream_create(device, flags, out);
  const std::lock_guard guard(mutex);
  if (status != TSR_OK) return status;
  streams.push_back(*out);
  forget_timeline(*out), forget_failures(*out), forget_losses(*out);
  return TSR_OK;
}

tsr_status device_open(tsr_plugin* plugin, std::uint32_t index, tsr_device** out_device,
                       const tsr_device_table** out_table) {
  const tsr_device_table* given = nullptr;
  if (const tsr_status status = inner.device_open(plugin, index, out_device, &given)) return status;
  copy_table(inner_device, given);
  device_table = inner_device;
  device_table.struct_size = sizeof device_table;
  device_table.stream_create = stream_create;
  plant_in_stream_ends(device_table);
  plant_in_queued_work(device_table);
  plant_in_timelines(device_table);
  plant_in_failures(device_table);
  plant_in_losses(device_table);
  plant_in_arguments(device_table);
  plant_in_manners(device_table);
  *out_table = &device_table;
  const std::lock_guard guard(mutex);
  open_devices.push_back(*out_device);
  return TSR_OK;
}

tsr_status extension(tsr_plugin* plugin, tsr_device* device, tsr_extension_id id, std::uint32_t version,
                     const void** out_table) {
  if (const tsr_status status = inner.extension(plugin, device, id, version, out_table)) return status;
  switch (id) {
    case TSR_EXTENSION_BLAS:
      copy_table(inner_blas, *out_table);
      blas_table = inner_blas;
      plant_in_queued_work(blas_table);
      plant_in_arguments(blas_table);
      *out_table = &blas_table;
      break;
    case TSR_EXTENSION_TENSOR:
      copy_table(inner_tensor, *out_table);
      tensor_table = inner_tensor;
      plant_in_arguments(tensor_table);
      *out_table = &tensor_table;
      break;
    case TSR_EXTENSION_SPARSE:
      if (about != "products") break;  // the inner plugin's own table
      copy_table(inner_sparse, *out_table);
      sparse_table = inner_sparse;
      plant_in_queued_work(sparse_table);
      *out_table = &sparse_table;
      break;
    default:
      break;
  }
  return TSR_OK;
}

tsr_status open_wrapped(const tsr_host* host, const tsr_option_value* values, std::uint32_t count,
                        tsr_plugin** out_plugin, const void** out_table) {
  const void* table = nullptr;
  if (const tsr_status status = inner_header->open(host, values, count, out_plugin, &table)) return status;
  const auto* given = static_cast<const tsr_plugin_table*>(table);
  {
    const std::lock_guard guard(mutex);
    open_devices.clear();
    streams.clear();  // the devices of the last opening ended those that nobody destroyed
  }
  inner = {};
  std::memcpy(&inner, given, given->struct_size < sizeof inner ? given->struct_size : sizeof inner);
  outer = inner;
  outer.device_open = device_open;
  outer.extension = extension;
  plant_in_stream_ends(outer);
  *out_table = &outer;
  return TSR_OK;
}

const tsr_plugin_header* wrap(const tsr_plugin_header* given) {
  if (given->kind != TSR_PLUGIN_DEVICE) {
    the_host->error(the_host->context, TSR_UNIMPLEMENTED, "this layer wraps devices alone");
    return nullptr;
  }
  inner_header = given;
  outer_header = {};
  std::memcpy(&outer_header, given,
              given->struct_size < sizeof outer_header ? given->struct_size : sizeof outer_header);
  outer_header.open = open_wrapped;
  return &outer_header;
}

constexpr tsr_layer_table table = {sizeof(tsr_layer_table), wrap};

tsr_status open_layer(const tsr_host* host, const tsr_option_value* values, std::uint32_t count,
                      tsr_plugin** out_plugin, const void** out_table) {
  static int token;
  the_host = host;
  about.clear();
  for (std::uint32_t k = 0; k < count; ++k)
    if (std::strcmp(values[k].name, "about") == 0) about = values[k].text;
  *out_plugin = reinterpret_cast<tsr_plugin*>(&token);
  *out_table = &table;
  return TSR_OK;
}

}  // namespace
}  // namespace careless

extern "C" TSR_EXPORT const tsr_plugin_header* tsr_plugin_query(std::uint32_t, std::uint32_t) {
  static const tsr_option options[] = {{sizeof(tsr_option), TSR_OPTION_STRING, "about", "", 0, 0, nullptr,
                                        "The promise that is broken; nothing: none."}};
  static const tsr_plugin_header header = [] {
    tsr_plugin_header made{};
    made.struct_size = sizeof made;
    made.abi_major = TSR_ABI_MAJOR;
    made.abi_minor = TSR_ABI_MINOR;
    made.kind = TSR_PLUGIN_LAYER;
    made.sanitizer = TSR_BUILD_SANITIZER;
    made.name = "careless";
    made.vendor = "Tessera tests";
    made.version = "1.0";
    made.options = options;
    made.option_count = 1;
    made.open = careless::open_layer;
    return made;
  }();
  return &header;
}
