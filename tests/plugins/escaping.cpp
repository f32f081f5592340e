// A LAYER plugin that throws a C++ exception out of one entry of the device table, or of `supports` and `workspace` of
// BLAS and TENSOR or GRAPH's `destroy` (`graph_destroy`), against rule R4: `out_of` names it, `at` says at which call,
// counted from 1 over all devices.
#include <tessera/plugin.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>

#ifndef TSR_BUILD_SANITIZER
#define TSR_BUILD_SANITIZER TSR_SANITIZER_NONE
#endif

namespace {

const tsr_plugin_header* inner_header = nullptr;
tsr_plugin_header outer_header;
tsr_plugin_table inner, outer;
tsr_device_table inner_device, outer_device;  // all devices of a plugin that this is tested with have the same
tsr_blas_table inner_blas, outer_blas;
tsr_tensor_table inner_tensor, outer_tensor;
tsr_graph_table inner_graph, outer_graph;
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

/// One entry of a table that lies in `From`. What the plugin does not offer succeeds when it does not throw.
template <auto& From, auto Member, class Entry>
struct throwing;
template <auto& From, auto Member, class Answer, class... Arguments>
struct throwing<From, Member, Answer (*)(tsr_device*, Arguments...)> {
  static Answer run(tsr_device* device, Arguments... arguments) {
    if (calls.fetch_add(1) + 1 == at) throw std::runtime_error("forty-two is not a prime");
    return From.*Member != nullptr ? (From.*Member)(device, arguments...) : Answer{};
  }
};

template <auto& From, auto& To, auto Member>
void throw_out_of(const char* name) {
  if (out_of == name) To.*Member = throwing<From, Member, std::remove_reference_t<decltype(From.*Member)>>::run;
}
template <auto Member>
void throw_out_of(const char* name) {
  throw_out_of<inner_device, outer_device, Member>(name);
}

tsr_status device_open(tsr_plugin* plugin, std::uint32_t index, tsr_device** out_device,
                       const tsr_device_table** out_table) {
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
  throw_out_of<&t::thread_attach>("thread_attach");
  throw_out_of<&t::health>("health");
  *out_table = &outer_device;
  return TSR_OK;
}

tsr_status extension(tsr_plugin* plugin, tsr_device* device, tsr_extension_id id, std::uint32_t version,
                     const void** out_table) {
  if (const tsr_status status = inner.extension(plugin, device, id, version, out_table)) return status;
  if (id == TSR_EXTENSION_BLAS) {
    inner_blas = outer_blas = copy_of(static_cast<const tsr_blas_table*>(*out_table));
    throw_out_of<inner_blas, outer_blas, &tsr_blas_table::supports>("supports");
    throw_out_of<inner_blas, outer_blas, &tsr_blas_table::workspace>("workspace");
    *out_table = &outer_blas;
  } else if (id == TSR_EXTENSION_TENSOR) {
    inner_tensor = outer_tensor = copy_of(static_cast<const tsr_tensor_table*>(*out_table));
    throw_out_of<inner_tensor, outer_tensor, &tsr_tensor_table::supports>("supports");
    throw_out_of<inner_tensor, outer_tensor, &tsr_tensor_table::workspace>("workspace");
    *out_table = &outer_tensor;
  } else if (id == TSR_EXTENSION_GRAPH) {
    inner_graph = outer_graph = copy_of(static_cast<const tsr_graph_table*>(*out_table));
    throw_out_of<inner_graph, outer_graph, &tsr_graph_table::destroy>("graph_destroy");
    *out_table = &outer_graph;
  }
  return TSR_OK;
}

tsr_status open_wrapped(const tsr_host* host, const tsr_option_value* values, std::uint32_t count,
                        tsr_plugin** out_plugin, const void** out_table) {
  const void* table = nullptr;
  if (const tsr_status status = inner_header->open(host, values, count, out_plugin, &table)) return status;
  inner = outer = copy_of(static_cast<const tsr_plugin_table*>(table));
  outer.device_open = device_open;
  if (inner.extension != nullptr) outer.extension = extension;
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
  static const tsr_option options[] = {
      {sizeof(tsr_option), TSR_OPTION_STRING, "out_of", "", 0, 0, nullptr, "The entry that throws."},
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
