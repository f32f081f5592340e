// A LAYER plugin that leaves out what a device or storage plugin need not offer: `leave_out` names entries of the
// device table or extensions, separated by commas. "stream_callback?" keeps the entry and refuses every second call,
// "early_stream_callback" calls back at once, before the work is done, and "early_stream_host_wait" waits for nothing.
#include <tessera/plugin.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>

#ifndef TSR_BUILD_SANITIZER
#define TSR_BUILD_SANITIZER TSR_SANITIZER_NONE
#endif

namespace {

struct entry {
  const char* name;
  std::size_t offset;
  std::uint64_t capability;  // which says that it is there
};
#define ENTRY(name, capability) \
  { #name, offsetof(tsr_device_table, name), capability }
constexpr entry entries[] = {
    ENTRY(query, 0),
    ENTRY(health, 0),
    ENTRY(thread_attach, 0),
    ENTRY(thread_detach, 0),
    ENTRY(host_register, 0),
    ENTRY(host_unregister, 0),
    ENTRY(mem_base, 0),
    ENTRY(mem_map, 0),
    ENTRY(mem_unmap, 0),
    ENTRY(stream_wait, TSR_DEVICE_DEVICE_WAIT),
    ENTRY(stream_host_wait, 0),
    ENTRY(stream_callback, TSR_DEVICE_CALLBACK),
    ENTRY(stream_native, 0),
    ENTRY(fill, 0),
    ENTRY(module_load, 0),
    ENTRY(module_unload, 0),
    ENTRY(kernel_get, 0),
    ENTRY(launch, 0),
    ENTRY(host_task, 0),
    ENTRY(mem_native, 0),
    ENTRY(host_work, 0),
};
constexpr const char* extensions[] = {"", "BLAS", "TENSOR", "SPARSE", "GRAPH", "JIT", "IPC", "TELEMETRY"};

std::mutex mutex;
std::string left_out;  // of the layer that was opened last
const tsr_host* the_host = nullptr;
const tsr_plugin_header* inner_header = nullptr;
tsr_plugin_header outer_header;
tsr_plugin_table inner, outer;
std::deque<tsr_device_table> tables;  // of devices: they live as long as the process
tsr_status (*inner_callback)(tsr_device*, tsr_stream*, void (*)(void*), void*) = nullptr;

bool is_left_out(const std::string& name) { return ("," + left_out + ",").find("," + name + ",") != std::string::npos; }

tsr_status sometimes(tsr_device* device, tsr_stream* stream, void (*function)(void*), void* argument) {
  static std::atomic<unsigned> calls{0};
  return calls.fetch_add(1) % 2 == 1 ? TSR_RESOURCE_EXHAUSTED : inner_callback(device, stream, function, argument);
}

tsr_status too_early(tsr_device*, tsr_stream*, void (*function)(void*), void* argument) {
  function(argument);
  return TSR_OK;
}

tsr_status wait_for_nothing(tsr_device*, tsr_ticket, std::uint64_t) { return TSR_OK; }

tsr_status enumerate(tsr_plugin* plugin, std::uint32_t index, tsr_device_desc* out, std::uint32_t* count) {
  const tsr_status status = inner.enumerate(plugin, index, out, count);
  if (status != TSR_OK || out == nullptr) return status;
  for (const entry& e : entries)
    if (is_left_out(e.name)) out->capabilities &= ~e.capability;
  return status;
}

tsr_status device_open(tsr_plugin* plugin, std::uint32_t index, tsr_device** out_device,
                       const tsr_device_table** out_table) {
  const tsr_device_table* given = nullptr;
  if (const tsr_status status = inner.device_open(plugin, index, out_device, &given)) return status;
  const std::lock_guard guard(mutex);
  tsr_device_table& made = tables.emplace_back();
  std::memcpy(&made, given, given->struct_size < sizeof made ? given->struct_size : sizeof made);
  made.struct_size = sizeof made;
  for (const entry& e : entries)
    if (is_left_out(e.name)) std::memset(reinterpret_cast<char*>(&made) + e.offset, 0, sizeof(void*));
  if (is_left_out("early_stream_callback")) made.stream_callback = too_early;
  if (is_left_out("early_stream_host_wait")) made.stream_host_wait = wait_for_nothing;
  if (is_left_out("stream_callback?")) {
    inner_callback = made.stream_callback;
    made.stream_callback = sometimes;
  }
  *out_table = &made;
  return TSR_OK;
}

tsr_status extension(tsr_plugin* plugin, tsr_device* device, tsr_extension_id id, std::uint32_t version,
                     const void** out_table) {
  if (id < sizeof extensions / sizeof *extensions && is_left_out(extensions[id])) return TSR_UNIMPLEMENTED;
  return inner.extension == nullptr ? TSR_UNIMPLEMENTED : inner.extension(plugin, device, id, version, out_table);
}

tsr_status open_wrapped(const tsr_host* host, const tsr_option_value* values, std::uint32_t count,
                        tsr_plugin** out_plugin, const void** out_table) {
  const void* table = nullptr;
  if (const tsr_status status = inner_header->open(host, values, count, out_plugin, &table)) return status;
  const auto* given = static_cast<const tsr_plugin_table*>(table);
  inner = {};
  std::memcpy(&inner, given, given->struct_size < sizeof inner ? given->struct_size : sizeof inner);
  outer = inner;
  outer.enumerate = enumerate;
  outer.device_open = device_open;
  outer.extension = extension;
  *out_table = &outer;
  return TSR_OK;
}

const tsr_plugin_header* wrap(const tsr_plugin_header* given) {
  if (given->kind != TSR_PLUGIN_DEVICE && given->kind != TSR_PLUGIN_STORAGE) {
    the_host->error(the_host->context, TSR_UNIMPLEMENTED, "this layer wraps devices and storage");
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
  left_out.clear();
  for (std::uint32_t k = 0; k < count; ++k)
    if (std::strcmp(values[k].name, "leave_out") == 0) left_out = values[k].text;
  *out_plugin = reinterpret_cast<tsr_plugin*>(&token);
  *out_table = &table;
  return TSR_OK;
}

}  // namespace

extern "C" TSR_EXPORT const tsr_plugin_header* tsr_plugin_query(std::uint32_t, std::uint32_t) {
  static const tsr_option options[] = {{sizeof(tsr_option), TSR_OPTION_STRING, "leave_out", "", 0, 0, nullptr,
                                        "Entries of the device table and extensions, separated by commas."}};
  static const tsr_plugin_header header = [] {
    tsr_plugin_header made{};
    made.struct_size = sizeof made;
    made.abi_major = TSR_ABI_MAJOR;
    made.abi_minor = TSR_ABI_MINOR;
    made.kind = TSR_PLUGIN_LAYER;
    made.sanitizer = TSR_BUILD_SANITIZER;
    made.name = "without";
    made.vendor = "Tessera tests";
    made.version = "1.0";
    made.options = options;
    made.option_count = 1;
    made.open = open_layer;
    return made;
  }();
  return &header;
}
