#pragma once
// Opens a plugin straight through its C ABI, as a program without Tessera's core would.
#include <dlfcn.h>
#include <tessera/plugin.h>

#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tessera::test {

/// One option as open takes it.
struct given_option {
  std::string name;
  tsr_option_type type;
  std::int64_t integer = 0;
  double number = 0;
  std::string text;
};
inline given_option text(std::string name, std::string value) {
  return {std::move(name), TSR_OPTION_STRING, 0, 0, std::move(value)};
}
inline given_option bytes(std::string name, std::int64_t value) {
  return {std::move(name), TSR_OPTION_BYTES, value, 0, {}};
}
inline given_option integer(std::string name, std::int64_t value) {
  return {std::move(name), TSR_OPTION_INT, value, 0, {}};
}
inline given_option flag(std::string name, bool value = true) {
  return {std::move(name), TSR_OPTION_BOOL, value, 0, {}};
}

/// The process's own memory.
inline constexpr tsr_space_ref plain{nullptr, 0};

/// A loaded and opened plugin with all of its devices open. Closes and shuts down at the end (never unloads).
class opened_plugin {
 public:
  struct device {
    tsr_device* handle = nullptr;
    const tsr_device_table* table = nullptr;
    tsr_device_desc description{};
    const tsr_blas_table* blas = nullptr;
    const tsr_tensor_table* tensor = nullptr;
    const tsr_graph_table* graph = nullptr;
    const tsr_sparse_table* sparse = nullptr;
  };

  explicit opened_plugin(const std::string& name, std::vector<given_option> given = {},
                         std::vector<std::uint64_t> cpu_mask = {})
      : m_given(std::move(given)), m_cpu_mask(std::move(cpu_mask)) {
    header = load(name);
    m_host.struct_size = sizeof m_host;
    m_host.abi_major = TSR_ABI_MAJOR;
    m_host.abi_minor = TSR_ABI_MINOR;
    m_host.context = this;
    m_host.error = [](void*, tsr_status, const char* message) { last_error() = message; };
    m_host.log = [](void* self, std::int32_t, const char* message) {
      auto& all = *static_cast<opened_plugin*>(self);
      const std::lock_guard lock(all.m_log_mutex);
      all.m_log += std::string(message) + "\n";
    };
    m_host.cpu_mask = m_cpu_mask.empty() ? nullptr : m_cpu_mask.data();
    m_host.cpu_words = static_cast<std::uint32_t>(m_cpu_mask.size());
    for (const auto& one : m_given)
      m_values.push_back({sizeof(tsr_option_value), one.type, one.name.c_str(), one.integer, one.number,
                          one.text.empty() ? nullptr : one.text.c_str()});
    const void* opened = nullptr;
    status = header->open(&m_host, m_values.data(), static_cast<std::uint32_t>(m_values.size()), &plugin, &opened);
    if (status != TSR_OK) return;
    table = static_cast<const tsr_plugin_table*>(opened);
    std::uint32_t count = 0;
    check(table->enumerate(plugin, 0, nullptr, &count));
    for (std::uint32_t i = 0; i < count; ++i) devices.push_back(open_device(i));
  }
  ~opened_plugin() {
    if (plugin != nullptr) table->shutdown(plugin);
  }
  opened_plugin(const opened_plugin&) = delete;
  opened_plugin& operator=(const opened_plugin&) = delete;

  device open_device(std::uint32_t index) {
    device d;
    check(table->enumerate(plugin, index, &d.description, nullptr));
    check(table->device_open(plugin, index, &d.handle, &d.table));
    const void* extension = nullptr;
    if (table->extension != nullptr) {
      if (table->extension(plugin, d.handle, TSR_EXTENSION_BLAS, 1, &extension) == TSR_OK)
        d.blas = static_cast<const tsr_blas_table*>(extension);
      if (table->extension(plugin, d.handle, TSR_EXTENSION_TENSOR, 1, &extension) == TSR_OK)
        d.tensor = static_cast<const tsr_tensor_table*>(extension);
      if (table->extension(plugin, d.handle, TSR_EXTENSION_GRAPH, 1, &extension) == TSR_OK)
        d.graph = static_cast<const tsr_graph_table*>(extension);
      if (table->extension(plugin, d.handle, TSR_EXTENSION_SPARSE, 1, &extension) == TSR_OK)
        d.sparse = static_cast<const tsr_sparse_table*>(extension);
    }
    return d;
  }

  static const tsr_plugin_header* load(const std::string& name) {
    const std::string path = std::string(TESSERA_PLUGIN_DIR) + "/tessera_" + name + ".so";
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(::dlerror());
    const auto query = reinterpret_cast<tsr_plugin_query_function>(::dlsym(library, "tsr_plugin_query"));
    if (query == nullptr) throw std::runtime_error("no tsr_plugin_query");
    return query(TSR_ABI_MAJOR, TSR_ABI_MINOR);
  }

  /// The record of the last failure on this thread.
  static std::string& last_error() {
    thread_local std::string text;
    return text;
  }

  /// What the plugin wrote to the log, a line each.
  std::string logged() const {
    const std::lock_guard lock(m_log_mutex);
    return m_log;
  }

  static void check(tsr_status result) {
    if (result != TSR_OK) throw std::runtime_error("status " + std::to_string(result) + ": " + last_error());
  }

  const tsr_plugin_header* header = nullptr;
  tsr_plugin* plugin = nullptr;
  const tsr_plugin_table* table = nullptr;
  tsr_status status = TSR_OK;
  std::vector<device> devices;

 private:
  tsr_host m_host{};
  std::vector<given_option> m_given;
  std::vector<std::uint64_t> m_cpu_mask;
  std::vector<tsr_option_value> m_values;
  mutable std::mutex m_log_mutex;
  std::string m_log;
};

inline tsr_address at(const void* pointer) { return {nullptr, reinterpret_cast<std::uintptr_t>(pointer)}; }
inline tsr_address at(tsr_memory* memory, std::uint64_t offset = 0) { return {memory, offset}; }

/// A one-dimensional copy.
inline tsr_copy flat_copy(tsr_space_ref to_space, tsr_address to, tsr_space_ref from_space, tsr_address from,
                          std::uint64_t bytes) {
  tsr_copy c{};
  c.struct_size = sizeof c;
  c.destination_space = to_space;
  c.source_space = from_space;
  c.destination = to;
  c.source = from;
  c.bytes = bytes;
  c.rows[0] = c.rows[1] = 1;
  return c;
}

/// A stream that destroys itself.
class owned_stream {
 public:
  explicit owned_stream(const opened_plugin::device& device, std::uint32_t flags = TSR_STREAM_COMPUTE)
      : m_device(device) {
    opened_plugin::check(device.table->stream_create(device.handle, flags, &handle));
  }
  ~owned_stream() { m_device.table->stream_destroy(m_device.handle, handle); }
  owned_stream(const owned_stream&) = delete;
  owned_stream& operator=(const owned_stream&) = delete;
  tsr_ticket signal() const {
    tsr_ticket ticket{};
    opened_plugin::check(m_device.table->stream_signal(m_device.handle, handle, &ticket));
    return ticket;
  }
  /// Waits for everything enqueued so far.
  void finish() const { opened_plugin::check(m_device.table->stream_host_wait(m_device.handle, signal(), ~0ull)); }
  tsr_stream* handle = nullptr;

 private:
  const opened_plugin::device m_device;
};

}  // namespace tessera::test
