#include "core/plugin/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/plugin/tables.hpp"

namespace tessera::plugin {
namespace {

bool is_device_kind(tsr_plugin_kind kind) { return kind == TSR_PLUGIN_DEVICE || kind == TSR_PLUGIN_STORAGE; }

/// Checked values in the form of the ABI. The texts belong to `values`.
std::vector<tsr_option_value> to_abi(const std::vector<option_value>& values) {
  std::vector<tsr_option_value> result;
  for (const option_value& value : values)
    result.push_back(
        {sizeof(tsr_option_value), value.type, value.name.c_str(), value.integer, value.number, value.text.c_str()});
  return result;
}

/// `wish`, or wish_2, wish_3 ... until no other has it.
template <class Taken>
std::string unique_name(const std::string& wish, Taken&& taken) {
  std::string name = wish;
  for (unsigned i = 2; taken(name); ++i) name = fmt::format("{}_{}", wish, i);
  return name;
}

}  // namespace

session::session(loaded_plugin plugin, const host& host, const std::vector<option_value>& options)
    : m_plugin(std::move(plugin)), m_host(host) {
  const std::vector<tsr_option_value> values = to_abi(options);
  const void* table = nullptr;
  take_error_details();
  const tsr_status status = call_plugin(m_plugin.path, "open", [&] {
    return m_plugin.header.open(m_host.table(), values.data(), static_cast<std::uint32_t>(values.size()), &m_handle,
                                &table);
  });
  if (status != TSR_OK) fail(status, "open");
  try {
    const auto& path = m_plugin.path;
    switch (m_plugin.header.kind) {
      case TSR_PLUGIN_OPERATIONS:
        m_operations = checked_operations(static_cast<const tsr_operations_table*>(table), path);
        break;
      case TSR_PLUGIN_POLICY:
        m_policy = checked_table(static_cast<const tsr_policy_table*>(table), path);
        break;
      case TSR_PLUGIN_LAYER:
        m_layer = checked_table(static_cast<const tsr_layer_table*>(table), path);
        break;
      default:
        m_table = checked_table(static_cast<const tsr_plugin_table*>(table), path);
        break;
    }
  } catch (...) {
    if (!is_device_kind(m_plugin.header.kind) && m_plugin.header.close != nullptr) m_plugin.header.close(m_handle);
    throw;  // a device plugin whose table is not to be trusted stays open
  }
}

session::~session() {
  try {
    if (!is_device_kind(m_plugin.header.kind)) {
      if (m_plugin.header.close != nullptr) m_plugin.header.close(m_handle);
      return;
    }
    for (const auto& attached : m_attachments) attached->end();
    for (; !m_devices.empty(); m_devices.pop_back())
      warn(m_table.device_close(m_handle, m_devices.back()), "device_close");
    warn(m_table.shutdown(m_handle), "shutdown");
  } catch (...) {
    warn(TSR_INTERNAL, "shutdown (a C++ exception came out of it)");
  }
}

void session::fail(tsr_status status, const std::string& what) const {
  const std::string details = take_error_details();
  throw error(error_kind::plugin,
              fmt::format("{} of plugin \"{}\" failed: {}{}{}", what, m_plugin.name, name_of(status),
                          details.empty() ? "" : ": ", details),
              m_plugin.path.string(),
              fmt::format("check the options under [plugin.{0}] (\"tessera plugins explain {0}\" lists them), or take "
                          "\"{0}\" out of runtime.plugins",
                          m_plugin.name));
}

void session::warn(tsr_status status, const std::string& what) const noexcept {
  if (status == TSR_OK) return;
  try {
    const std::string line =
        fmt::format("{} of plugin \"{}\" failed: {}: {}", what, m_plugin.name, name_of(status), take_error_details());
    m_host.table()->log(m_host.table()->context, 2, line.c_str());
  } catch (...) {
    return;  // out of memory while ending: nothing is left to tell
  }
}

std::uint32_t session::open_devices(std::vector<std::unique_ptr<device>>& devices) {
  const auto& path = m_plugin.path;
  std::uint32_t count = 0;
  take_error_details();
  const tsr_status status =
      call_plugin(path, "enumerate", [&] { return m_table.enumerate(m_handle, 0, nullptr, &count); });
  if (status != TSR_OK) fail(status, "enumerate");
  for (std::uint32_t i = 0; i < count; ++i) devices.push_back(open_device(i, count, devices));
  return count;
}

std::unique_ptr<device> session::open_device(std::uint32_t index, std::uint32_t count,
                                             const std::vector<std::unique_ptr<device>>& others) {
  const auto& path = m_plugin.path;
  roomy<tsr_device_desc> given;
  std::uint32_t ignored = 0;
  tsr_status status =
      call_plugin(path, "enumerate", [&] { return m_table.enumerate(m_handle, index, &given.value, &ignored); });
  if (status != TSR_OK) fail(status, fmt::format("enumerate({})", index));
  tsr_device_desc description = completed(&given.value);
  description.name[sizeof description.name - 1] = '\0';
  description.pci_address[sizeof description.pci_address - 1] = '\0';

  tsr_device* handle = nullptr;
  const tsr_device_table* raw_table = nullptr;
  status = call_plugin(path, "device_open", [&] { return m_table.device_open(m_handle, index, &handle, &raw_table); });
  if (status != TSR_OK) fail(status, fmt::format("device_open({}), device \"{}\",", index, description.name));
  const auto refuse = [&](const std::string& what, const char* hint) {
    throw error(error_kind::plugin,
                fmt::format("device \"{}\" of plugin \"{}\" {}", description.name, m_plugin.name, what), path.string(),
                hint);
  };
  if (handle == nullptr)
    refuse("is opened with OK and there is no device (a null pointer)", "set *out_device, or answer what went wrong");
  m_devices.push_back(handle);
  const tsr_device_table table = checked_table(raw_table, path);
  if (description.space_count == 0)
    refuse("has no memory (space_count is 0)",
           "describe at least one space: where a task's blocks are, and set space_count before device_open");

  // The one processor of a plugin has the plugin's name; all else is numbered, so that a second one renames nothing.
  const bool alone = count == 1 && description.device_class == TSR_DEVICE_CPU;
  const std::string name =
      unique_name(alone ? m_plugin.name : fmt::format("{}{}", m_plugin.name, index), [&](const auto& n) {
        return std::any_of(others.begin(), others.end(), [&](const auto& other) { return other->name() == n; });
      });

  const auto attached = std::make_shared<attachments>(
      handle, table, name,
      [host = m_host.table()](int level, const std::string& line) { host->log(host->context, level, line.c_str()); });
  m_attachments.push_back(attached);
  attached->attach_this_thread();

  std::vector<space> spaces;
  for (std::uint32_t i = 0; i < description.space_count; ++i) {
    roomy<tsr_space_desc> given_space;
    status = call_plugin(path, "spaces", [&] { return table.spaces(handle, i, &given_space.value); });
    if (status != TSR_OK) fail(status, fmt::format("spaces({}) of device \"{}\"", i, name));
    space one;
    one.description = completed(&given_space.value);
    one.description.alignment = std::max<std::uint64_t>(one.description.alignment, 1);
    one.description.granularity = std::max<std::uint64_t>(one.description.granularity, 1);
    if ((one.description.capabilities & TSR_SPACE_HOST_VISIBLE) != 0 && table.mem_base == nullptr)
      refuse(fmt::format("says that space {} is HOST_VISIBLE and has no mem_base", i),
             "set mem_base in the device table, or leave the flag out");
    const std::string own = one.description.name != nullptr ? one.description.name : fmt::format("space{}", i);
    one.name = unique_name(fmt::format("{}:{}", name, own), [&](const auto& n) {
      return std::any_of(spaces.begin(), spaces.end(), [&](const space& other) { return other.name == n; });
    });
    spaces.push_back(std::move(one));
  }

  const auto* blas = static_cast<const tsr_blas_table*>(extension(handle, TSR_EXTENSION_BLAS));
  const auto* tensor = static_cast<const tsr_tensor_table*>(extension(handle, TSR_EXTENSION_TENSOR));
  const tsr_blas_table blas_copy = completed(blas);
  const tsr_tensor_table tensor_copy = completed(tensor);
  const auto* graph = static_cast<const tsr_graph_table*>(extension(handle, TSR_EXTENSION_GRAPH));
  const tsr_graph_table graph_copy = completed(graph);
  const auto* sparse = static_cast<const tsr_sparse_table*>(extension(handle, TSR_EXTENSION_SPARSE));
  const tsr_sparse_table sparse_copy = completed(sparse);
  if ((blas != nullptr && blas_copy.supports == nullptr) || (tensor != nullptr && tensor_copy.supports == nullptr))
    throw error(error_kind::plugin,
                fmt::format("the mandatory entry \"supports\" of a {} table of plugin \"{}\" is missing",
                            tensor_copy.supports == nullptr && tensor != nullptr ? "TENSOR" : "BLAS", m_plugin.name),
                path.string(), "set it; it answers whether an operation exists for a type");
  if (graph != nullptr && (graph_copy.capture_begin == nullptr || graph_copy.capture_end == nullptr ||
                           graph_copy.launch == nullptr || graph_copy.destroy == nullptr))
    throw error(error_kind::plugin,
                fmt::format("an entry of the GRAPH table of plugin \"{}\" is missing", m_plugin.name), path.string(),
                "capture_begin, capture_end, launch and destroy are mandatory");
  if (sparse != nullptr && (sparse_copy.supports == nullptr || sparse_copy.create_csr == nullptr ||
                            sparse_copy.destroy == nullptr || sparse_copy.spmm == nullptr))
    throw error(error_kind::plugin,
                fmt::format("an entry of the SPARSE table of plugin \"{}\" is missing", m_plugin.name), path.string(),
                "supports, create_csr, destroy and spmm are mandatory");
  const auto* jit = static_cast<const tsr_jit_table*>(extension(handle, TSR_EXTENSION_JIT));
  const tsr_jit_table jit_copy = completed(jit);
  if (jit != nullptr && (jit_copy.languages == nullptr || jit_copy.compile == nullptr || jit_copy.release == nullptr))
    throw error(error_kind::plugin, fmt::format("an entry of the JIT table of plugin \"{}\" is missing", m_plugin.name),
                path.string(), "languages, compile and release are mandatory");
  return std::make_unique<device>(name, m_plugin.name, static_cast<std::uint32_t>(others.size()), handle, description,
                                  table, std::move(spaces), blas != nullptr ? &blas_copy : nullptr,
                                  tensor != nullptr ? &tensor_copy : nullptr, graph != nullptr ? &graph_copy : nullptr,
                                  sparse != nullptr ? &sparse_copy : nullptr, jit != nullptr ? &jit_copy : nullptr,
                                  attached);
}

const void* session::extension(tsr_device* device, tsr_extension_id id) const {
  if (m_table.extension == nullptr) return nullptr;
  const void* table = nullptr;
  take_error_details();
  const tsr_status status =
      call_plugin(m_plugin.path, "extension", [&] { return m_table.extension(m_handle, device, id, 1, &table); });
  if (status == TSR_UNIMPLEMENTED) return nullptr;
  if (status != TSR_OK) fail(status, fmt::format("extension({})", id));
  if (table == nullptr)
    throw error(error_kind::plugin,
                fmt::format("plugin \"{}\" answers OK for extension {} but gives no table", m_plugin.name, id),
                m_plugin.path.string(), "return TSR_UNIMPLEMENTED for what the plugin does not offer");
  return table;
}

void session::devices_ready() {
  if (m_table.devices_ready == nullptr) return;
  take_error_details();
  const tsr_status status =
      call_plugin(m_plugin.path, "devices_ready", [&] { return m_table.devices_ready(m_handle); });
  if (status != TSR_OK) fail(status, "devices_ready");
}

loaded_plugin session::wrap(const loaded_plugin& inner) const {
  take_error_details();
  const tsr_plugin_header* const outer = call_plugin(m_plugin.path, "wrap", [&] { return m_layer.wrap(inner.raw); });
  if (outer == nullptr) {
    const std::string details = take_error_details();
    throw error(error_kind::plugin,
                fmt::format("layer \"{}\" cannot wrap plugin \"{}\"{}{}", m_plugin.name, inner.name,
                            details.empty() ? "" : ": ", details),
                m_plugin.path.string(),
                "take it out of runtime.layers, or wrap a plugin of a kind that the layer knows");
  }
  loaded_plugin wrapped = accept_header(m_plugin.path, outer);
  if (wrapped.name != inner.name || wrapped.header.kind != inner.header.kind)
    throw error(
        error_kind::plugin,
        fmt::format("layer \"{}\" turned {} plugin \"{}\" into {} plugin \"{}\"", m_plugin.name,
                    name_of_kind(inner.header.kind), inner.name, name_of_kind(wrapped.header.kind), wrapped.name),
        m_plugin.path.string(), "a layer keeps the name and the kind of what it wraps");
  return wrapped;
}

}  // namespace tessera::plugin
