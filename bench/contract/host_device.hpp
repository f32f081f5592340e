#pragma once
// The host plugin, called through the plugin ABI by one thread.
#include <dlfcn.h>
#include <tessera/plugin.h>

#include <cstdint>
#include <string>

#include "bench/common/measure.hpp"

namespace bench {

inline std::string& last_error() {
  static std::string text;
  return text;
}

inline void check(tsr_status status, const char* what) {
  if (status != TSR_OK) fail(std::string(what) + ": status " + std::to_string(status) + ": " + last_error());
}

/// The host plugin with an inline stream.
struct host_device {
  explicit host_device(const std::string& file) {
    void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) fail(::dlerror());
    const auto query = reinterpret_cast<tsr_plugin_query_function>(::dlsym(library, "tsr_plugin_query"));
    const tsr_plugin_header* const header = query != nullptr ? query(TSR_ABI_MAJOR, TSR_ABI_MINOR) : nullptr;
    if (header == nullptr) fail(file + " is no plugin of this ABI");
    host.struct_size = sizeof host;
    host.abi_major = TSR_ABI_MAJOR, host.abi_minor = TSR_ABI_MINOR;
    host.error = [](void*, tsr_status, const char* message) { last_error() = message; };
    const void* opened = nullptr;
    check(header->open(&host, nullptr, 0, &plugin, &opened), "open");
    calls = static_cast<const tsr_plugin_table*>(opened);
    check(calls->device_open(plugin, 0, &handle, &table), "device_open");
    check(table->stream_create(handle, TSR_STREAM_INLINE, &stream), "stream_create");
    const void* found = nullptr;
    check(calls->extension(plugin, handle, TSR_EXTENSION_TENSOR, 1, &found), "the TENSOR table");
    tensor = static_cast<const tsr_tensor_table*>(found);
  }
  ~host_device() { calls->shutdown(plugin); }
  host_device(const host_device&) = delete;
  host_device& operator=(const host_device&) = delete;

  tsr_host host{};
  tsr_plugin* plugin = nullptr;
  const tsr_plugin_table* calls = nullptr;
  tsr_device* handle = nullptr;
  const tsr_device_table* table = nullptr;
  tsr_stream* stream = nullptr;
  const tsr_tensor_table* tensor = nullptr;
};

inline tsr_address at(const void* pointer) {
  return {nullptr, static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer))};
}

}  // namespace bench
